/** How measured values become medians, slopes, ratios and tables, and how flags are read. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Exit, Fiber, Option } from "effect"
import { CliOutput, Command } from "effect/cli"
import { TestClock, TestConsole } from "effect/testing"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { quantile } from "@data-import/testbed/Quantile"
import { inRounds, inTurn, type Metrics, summary } from "../Comparison.ts"
import * as Flags from "../Flags.ts"
import { newScans } from "../Space.ts"
import { centre, median, mostWithin, slope } from "../Statistics.ts"
import { asRatio, short, table } from "../Table.ts"
import { judge, missedBy, targetTable } from "../Targets.ts"
import { cpuSeconds, othersCpuSeconds, othersIn, residentBytes } from "../Usage.ts"

describe("statistics", () => {
  it.each([
    [[], 0.5, 0],
    [[3], 0.99, 3],
    [[5, 1, 4, 2, 3], 0.5, 3],
    [[5, 1, 4, 2, 3], 0, 1],
    [[5, 1, 4, 2, 3], 1, 5]
  ])("the quantile of %j at %d is %d", (values, share, expected) => {
    expect(quantile(values, share)).toBe(expected)
  })

  it.each([
    [[], 0],
    [[7], 7],
    [[3, 1], 2],
    [[9, 1, 5], 5],
    [[4, 1, 2, 3], 2.5]
  ])("the median of %j is %d", (values, expected) => {
    expect(median(values)).toBe(expected)
  })

  it.each([
    [[], 0, [0, 0]],
    [[4], 4, [4, 4]],
    [[1, 2, 3, 4, 100], 3, [1, 100]],
    [[1, 2, 3, 4, 5, 6], 3.5, [1, 6]],
    [[2, 4, 8, 16, 32, 64], 17, [2, 64]]
  ])("the centre of %j is %d, with the interval %j", (values, value, interval) => {
    expect(centre(values.toReversed())).toEqual({ value, interval })
  })

  // Tables of Wilcoxon's signed-rank test, two-sided, 5 %.
  it.each([
    [6, 0],
    [8, 3],
    [10, 8],
    [20, 52],
    [30, 137]
  ])("of %d values the interval leaves out %d means at each end", (count, critical) => {
    const values = Array.from({ length: count }, (_, index) => 2 ** index)
    const means = values.flatMap((one, index) =>
      values.slice(index).map((other) => (one + other) / 2)
    )
    const { interval } = centre(values)
    expect(means.filter((mean) => mean < interval[0])).toHaveLength(critical)
    expect(means.filter((mean) => mean > interval[1])).toHaveLength(critical)
  })

  it("finds the slope of any straight line", () => {
    const line = fc.tuple(fc.integer({ min: -50, max: 50 }), fc.integer({ min: -50, max: 50 }))
    const xs = fc.uniqueArray(fc.integer({ min: -99, max: 99 }), { minLength: 2 })
    fc.assert(
      fc.property(line, xs, ([rise, start], places) => {
        const points = places.map((x) => [x, start + rise * x] as const)
        expect(slope(points)).toBeCloseTo(rise, 6)
      })
    )
  })

  it.each([
    [[], 0],
    [[5], 1],
    [[0, 60, 119], 2],
    [[0, 10, 59, 61, 62], 4]
  ])("of %j at most %d lie within 60", (times, most) => {
    expect(mostWithin(times, 60)).toBe(most)
  })

  it("has no slope for a single point", () => {
    expect(slope([[3, 4]])).toBe(0)
  })
})

describe("a comparison", () => {
  const metrics = (rate: number, others = 0): Metrics => ({
    rate,
    p50: rate / 10,
    p99: rate,
    serviceCpu: 1,
    postgresCpu: 2,
    others
  })

  it("takes the centre of the ratios of pairs", () => {
    const pairs = [
      [metrics(100), metrics(50)],
      [metrics(10), metrics(20)],
      [metrics(30), metrics(30)]
    ] as const
    const { other, ours, ratioOf, ...counted } = summary([pairs])
    expect(counted).toEqual({ pairs: 3, isDisturbed: false })
    expect([ours.rate, ours.p50, other.rate]).toEqual([30, 3, 30])
    const fromHalfToTwice = { value: 1, interval: [expect.closeTo(0.5), expect.closeTo(2)] }
    const equal = { value: 1, interval: [1, 1] }
    expect(ratioOf).toEqual({
      ...{ rate: fromHalfToTwice, p50: fromHalfToTwice, p99: fromHalfToTwice },
      ...{ serviceCpu: equal, postgresCpu: equal, perCpu: equal }
    })
  })

  it("takes the interval of the centres of rounds, since a start affects a whole round", () => {
    const round = (rate: number) =>
      Array.from({ length: 8 }, () => [metrics(rate), metrics(1)] as const)
    const { pairs, ratioOf } = summary([round(2), round(4), round(8)])
    expect(pairs).toBe(24)
    expect(ratioOf.rate).toEqual({ value: 4, interval: [2, expect.closeTo(8)] })
  })

  const onTestClock = <A>(effect: Effect.Effect<A>) =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(effect)
      yield* TestClock.adjust("10 minutes")
      return yield* Fiber.join(fiber)
    }).pipe(Effect.provide([TestClock.layer(), TestConsole.layer]), Effect.runPromise)

  /** Runs with rising rates, disturbed by these shares, and then by none. */
  const rising = (...others: ReadonlyArray<number>) => {
    let runs = 0
    return Effect.sync(() => metrics(++runs, others[runs - 1] ?? 0))
  }

  it("takes a disturbed pair again, and leaves it out", async () => {
    const pairs = await onTestClock(inTurn(3, rising(0, 0.5), Effect.succeed(metrics(1))))
    expect(pairs.map(([{ rate }]) => rate)).toEqual([1, 2, 3, 4])
    expect(summary([pairs])).toMatchObject({ isDisturbed: false, pairs: 3, ours: { rate: 3 } })
  })

  it("counts all pairs and says so where the machine is never quiet", async () => {
    const pairs = await onTestClock(inTurn(2, rising(1, 1, 1, 1), Effect.succeed(metrics(1))))
    expect(summary([pairs])).toMatchObject({ isDisturbed: true, pairs: 4 })
  })

  it("alternates which side is first", async () => {
    const order: Array<string> = []
    const run = (name: string) => Effect.sync(() => (order.push(name), metrics(1)))
    await onTestClock(inTurn(3, run("A"), run("B")))
    expect(order.join("")).toBe("ABBAAB")
  })

  it.each([
    [30, "<AaaaaaBbbbbb>".repeat(6)],
    [7, "<AaaaBbbb><AaaaaBbbbb>"],
    [2, "<AaaBbb>"]
  ])("takes %d pairs of each comparison in rounds, each after a start", async (pairs, expected) => {
    const order: Array<string> = []
    const sides = (name: string) => ({
      name,
      warmUp: Effect.sync(() => order.push(name.toUpperCase())),
      ours: Effect.sync(() => (order.push(name), metrics(2))),
      other: Effect.succeed(metrics(1))
    })
    const start = Effect.acquireRelease(
      Effect.sync(() => (order.push("<"), [sides("a"), sides("b")])),
      () => Effect.sync(() => order.push(">"))
    )
    const results = await onTestClock(inRounds([{ pairs, start }]))
    expect(order.join("")).toBe(expected)
    expect(results.map(({ comparison, sides: { name } }) => [name, comparison.pairs])).toEqual([
      ["a", pairs],
      ["b", pairs]
    ])
  })

  it("takes turns between groups with different counts of pairs", async () => {
    const order: Array<string> = []
    const group = (name: string, pairs: number) => ({
      pairs,
      start: Effect.succeed([
        {
          warmUp: Effect.sync(() => order.push(name)),
          ours: Effect.succeed(metrics(2)),
          other: Effect.succeed(metrics(1))
        }
      ])
    })
    await onTestClock(inRounds([group("a", 32), group("b", 16), group("c", 4)]))
    expect(order.join("")).toBe("abcabababaa")
  })
})

describe("the targets", () => {
  const comparisonOf = (rate: number) => {
    const metrics = { p50: 2, p99: 3, serviceCpu: 4, postgresCpu: 5, others: 0 }
    return summary([
      [
        [
          { ...metrics, rate },
          { ...metrics, rate: 100 }
        ]
      ]
    ])
  }

  it("say by how much each measured one was missed", () => {
    const rowOf = (workload: "process" | "validate", rate: number) => ({
      workload,
      title: workload,
      comparison: comparisonOf(rate)
    })
    const measured = { direct: [rowOf("validate", 90), rowOf("process", 110)] }
    const what = "offline validation"
    const offline = { what, goal: { least: 15_000 }, value: 10_000 }
    const lines = targetTable([...judge(measured), offline])
    expect(lines.split("\n").slice(2)).toEqual([
      "| validate: requests/s, of the peer's | ≥ 1.00 | 0.90 | 0.10 |",
      "| process: requests/s, of the peer's | ≥ 1.00 | 1.10 |  |",
      "| validate: processor time of the service, of the peer's | ≤ 1.00 | 1.00 |  |",
      "| process: processor time of the service, of the peer's | ≤ 1.00 | 1.00 |  |",
      "| process: time of PostgreSQL, of the peer's | ≤ 1.00 | 1.00 |  |",
      "| process: ms of PostgreSQL, of processor time | ≤ 1.65 | 5.00 | 3.35 |",
      "| offline validation | ≥ 15,000 | 10,000 | 5,000 |"
    ])
  })

  it.each([
    [{ least: 1 }, 0.9, 0.1],
    [{ least: 1 }, 0.996, null],
    [{ most: 1 }, 1.5, 0.5],
    [{ most: 1 }, 0.2, null]
  ])("of %j is missed at %d by %j", (goal, value, missed) => {
    const found = missedBy(goal, value)
    expect(found === null ? null : Number(found.toFixed(6))).toBe(missed)
  })
})

describe("a table", () => {
  it("aligns columns to the right", () => {
    expect(table(["a", "b"], [["x", "1"]])).toBe("| a | b |\n| --- | ---: |\n| x | 1 |")
  })

  it.each([
    [0, "0"],
    [0.012345, "0.0123"],
    [1.5, "1.50"],
    [123.4, "123"],
    [12_345.6, "12,346"]
  ])("writes %d as %s", (value, expected) => {
    expect(short(value)).toBe(expected)
  })

  it.each([
    [0.5, "0.50"],
    [0.1936, "0.194"],
    [0, "–"],
    [Infinity, "–"],
    [NaN, "–"]
  ])("writes the ratio %d as %s", (value, expected) => {
    expect(asRatio({ value, interval: [value, value] })).toBe(expected)
  })
})

/** The parser prints help for each invocation that it refuses. */
const silent = CliOutput.layerPresenter({ present: () => Effect.void })

describe("the command line", () => {
  const { pairs, parts, sizes, workloads } = Flags
  const parsed = (...args: ReadonlyArray<string>) =>
    Effect.gen(function* () {
      const given: Array<unknown> = []
      const command = Command.make("bench", { pairs, parts, sizes, workloads }, (flags) =>
        Effect.sync(() => given.push(flags))
      )
      yield* Command.runWith(command, { version: "0" })(args)
      return given
    }).pipe(Effect.provide([silent, NodeServices.layer]), Effect.runPromiseExit)

  it("measures everything by default", async () => {
    const every: unknown = expect.objectContaining({ length: 9 })
    expect(await parsed()).toMatchObject({ value: [{ workloads: every }] })
  })

  it("takes the flags that are given", async () => {
    const exit = await parsed("--pairs", "3", "--sizes", "10,20", "--workload", "stage,status")
    expect(exit).toMatchObject({
      value: [
        {
          pairs: Option.some(3),
          sizes: Option.some([10, 20]),
          workloads: ["stage", "status"]
        }
      ]
    })
  })

  it.each([
    ["--workload", "nothing"],
    ["--part", "direct,nothing"],
    ["--pairs", "many"],
    ["--pairs", "0"],
    ["--sizes", "1,x"],
    ["--unknown", "1"]
  ])("refuses %s %s", async (...args) => {
    expect(Exit.isFailure(await parsed(...args))).toBe(true)
  })
})

describe("scans", () => {
  it("are reported of large tables only, and only new ones", () => {
    const before = new Map(Object.entries({ import_processes: 3, outbox: 1, suppliers: 5 }))
    const after = new Map(
      Object.entries({ import_processes: 5, outbox: 1, suppliers: 9, notes: 1 })
    )
    expect(newScans(before, after)).toEqual(["import_processes (2)", "notes (1)"])
  })
})

describe("the use by others", () => {
  it("is what neither the benchmark, PostgreSQL nor their children used", () => {
    const [init, shell, bench, service, postmaster, backend, other] = [1, 2, 3, 4, 5, 6, 7]
    const processes = new Map([
      [init, { parent: 0, seconds: 1 }],
      [shell, { parent: init, seconds: 2 }],
      [bench, { parent: shell, seconds: 4 }],
      [service, { parent: bench, seconds: 8 }],
      [postmaster, { parent: init, seconds: 16 }],
      [backend, { parent: postmaster, seconds: 32 }],
      [other, { parent: shell, seconds: 64 }]
    ])
    expect(othersIn(200, processes, new Set([bench, postmaster]))).toBe(200 - 4 - 8 - 16 - 32)
  })
})

describe.runIf(process.platform === "linux")("the use of a process", () => {
  it("matches what the process itself reports", () => {
    const { system, user } = process.cpuUsage()
    expect(cpuSeconds(process.pid)).toBeGreaterThan((0.5 * (system + user)) / 1e6 - 0.1)
    expect(residentBytes(process.pid)).toBeGreaterThan(1e6)
    expect(othersCpuSeconds(process.pid)).toBeGreaterThan(0)
  })

  it("is 0 if there is no process", () => {
    expect(cpuSeconds(2 ** 22 + 1)).toBe(0)
    expect(residentBytes(2 ** 22 + 1)).toBe(0)
  })
})
