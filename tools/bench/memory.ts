/**
 * The memory of the services: `npm run bench:memory` samples the resident memory of each service,
 * idle and under load, and fits a line to it over the minutes of load.
 */
import { Clock, Console, Duration, Effect, Fiber, Record, Struct } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as Flags from "./Flags.ts"
import { install, type Installation, startServer } from "./Installation.ts"
import { publish } from "./Results.ts"
import { slope } from "./Statistics.ts"
import * as Subjects from "./Subjects.ts"
import { short, table } from "./Table.ts"
import { residentBytes } from "./Usage.ts"
import type { WorkloadName } from "./Workloads.ts"

interface Options {
  readonly minutes: number
  /** The load, as a share of the rate that the services can answer. */
  readonly share: number
  readonly connections: number
}

const megabyte = 2 ** 20
const sampleEvery = Duration.seconds(1)

/** In turn, so that every service and the gateway are under load. */
const round: ReadonlyArray<WorkloadName> = ["stage", "process", "status", "transactions", "list"]
const secondsPerWorkload = 2

/** The services under load; auth is not. */
const loaded = ["account-import", "post-import", "query", "gateway"] as const

interface Sample {
  readonly minutes: number
  readonly megabytes: Record.ReadonlyRecord<(typeof loaded)[number], number>
}

const megabytesOf = ({ services }: Installation): Sample["megabytes"] =>
  Record.map(Struct.pick(services, loaded), ({ pid }) => residentBytes(pid) / megabyte)

const sampleMemory = Effect.fnUntraced(function* (
  installation: Installation,
  samples: Array<Sample>
) {
  const began = yield* Clock.currentTimeMillis
  while (true) {
    const minutes = ((yield* Clock.currentTimeMillis) - began) / 60_000
    samples.push({ minutes, megabytes: megabytesOf(installation) })
    yield* Effect.sleep(sampleEvery)
  }
})

/** A row for each doubling of the time. */
const overTime = (samples: ReadonlyArray<Sample>): string => {
  const rows: Array<ReadonlyArray<string>> = []
  let due = 0.25
  for (const { megabytes, minutes } of samples) {
    if (minutes < due) continue
    rows.push([minutes.toFixed(2), ...loaded.map((name) => short(megabytes[name]))])
    due = 2 * minutes
  }
  return table(["minutes", ...loaded], rows)
}

/** During this share of the run, memory only grows to its normal size. */
const warmShare = 0.2

const summary = (idle: Sample["megabytes"], samples: ReadonlyArray<Sample>): string => {
  const head = ["service", "idle MB", "most MB", "at the end MB", "MB more in 10 minutes"]
  const settled = samples.slice(Math.floor(samples.length * warmShare))
  const rows = loaded.map((name) => [
    name,
    short(idle[name]),
    short(Math.max(...samples.map(({ megabytes }) => megabytes[name]))),
    short(samples.at(-1)?.megabytes[name] ?? 0),
    (10 * slope(settled.map(({ megabytes, minutes }) => [minutes, megabytes[name]]))).toFixed(1)
  ])
  return table(head, rows)
}

/** The amount of load of a workload in its turn. */
const amountOf = Effect.fnUntraced(function* (
  subject: Subjects.Subject,
  workload: WorkloadName,
  { connections, share }: Options
) {
  const full = { connections, seconds: secondsPerWorkload }
  // Not measured: it warms the service up.
  yield* Subjects.measure(subject, workload, full)
  const { rate } = yield* Subjects.measure(subject, workload, full)
  return [workload, share < 1 ? { ...full, rate: rate * share } : full] as const
})

const measureMemory = Effect.fnUntraced(function* (options: Options) {
  const installation = yield* install(yield* startServer, "memory")
  const idle = megabytesOf(installation)
  const subject = Subjects.throughGateway(yield* Subjects.services(installation))
  yield* Subjects.importAccounts(subject)
  const amounts = yield* Effect.forEach(round, (workload) => amountOf(subject, workload, options))

  const samples: Array<Sample> = []
  const sampling = yield* Effect.forkChild(sampleMemory(installation, samples))
  const end = (yield* Clock.currentTimeMillis) + options.minutes * 60_000
  for (let left = 1; left > 0;) {
    for (const [workload, amount] of amounts) yield* Subjects.measure(subject, workload, amount)
    left = Math.max(0, end - (yield* Clock.currentTimeMillis))
    yield* Console.error(`${Math.ceil(left / 1_000)} s left`)
  }
  yield* Fiber.interrupt(sampling)

  const load = options.share < 1 ? `${options.share} of full load` : "full load"
  const title = `${options.minutes} minutes of ${load} on ${options.connections} connections`
  return [
    { title, text: summary(idle, samples) },
    { title: "Resident MB by minutes of load", text: overTime(samples) }
  ]
}, Effect.scoped)

const flags = {
  minutes: Flags.positive("minutes").pipe(
    Flag.withDescription("How long the load lasts"),
    Flag.withDefault(10)
  ),
  share: Flags.positive("share").pipe(
    Flag.withDescription("Of the rate that the services can answer"),
    Flag.withDefault(1)
  ),
  connections: Flags.connections,
  write: Flags.write
}

const memory = Command.make(
  "bench:memory",
  flags,
  Effect.fnUntraced(function* ({ write, ...options }) {
    const sections = yield* measureMemory(options)
    yield* publish("memory", "bench:memory", "Memory", sections, write)
  })
).pipe(Command.withDescription("Measures the resident memory of the services"))

runMain(memory, { messageOf: Flags.messageOf })
