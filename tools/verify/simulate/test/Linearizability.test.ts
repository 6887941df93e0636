/** The check accepts histories that can have happened, and refuses those that cannot. */
import { describe, expect, it } from "vitest"
import { type Event, firstInexplicable, type Operation } from "../Linearizability.ts"

type Ask = Operation["ask"]

/** Operations of a history, each with its start and end in seconds. */
const operation = (
  id: number,
  ask: Ask,
  [from, to]: readonly [from: number, to: number],
  answer: string | null
) => ({ id, ask, at: from * 1000, until: to * 1000, answer })

/** The history of the operations. At one instant an end comes before a start. */
const historyOf = (operations: ReadonlyArray<Operation>): ReadonlyArray<Event> =>
  operations
    .flatMap((each) => [
      { what: "asked" as const, operation: each, at: each.at, order: 1 },
      { what: "ended" as const, operation: each, at: each.until, order: 0 }
    ])
    .toSorted((one, other) => one.at - other.at || one.order - other.order)

const stage = (version: number): Ask => ({ kind: "stage", version })
const process: Ask = { kind: "process", dryRun: false, team: true }
const version: Ask = { kind: "version" }
const imported = "account_import_process_already_imported"
const inProgress = "account_import_process_in_progress"

const culprit = (operations: ReadonlyArray<Operation>) =>
  firstInexplicable(historyOf(operations))?.id ?? null

describe("a history", () => {
  it("of sequential requests is accepted", () => {
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, stage(2), [2, 3], "ok again"),
      operation(3, process, [4, 5], "ok"),
      operation(4, stage(3), [6, 7], imported),
      operation(5, version, [8, 9], "ok 2")
    ]
    expect(culprit(history)).toBeNull()
  })

  it("is rejected when an acknowledged staging is lost", () => {
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, stage(2), [2, 3], "ok again"),
      operation(3, process, [4, 5], "ok"),
      operation(4, version, [6, 7], "ok 1")
    ]
    expect(culprit(history)).toBe(4)
  })

  it("is accepted with either of two concurrent stagings at its end", () => {
    const ending = (last: string) => [
      operation(1, stage(1), [0, 3], "ok first"),
      operation(2, stage(2), [1, 2], "ok again"),
      operation(3, process, [4, 5], "ok"),
      operation(4, version, [6, 7], last)
    ]
    expect(culprit(ending("ok 2"))).toBeNull()
    expect(culprit(ending("ok 1"))).toBe(4)
  })

  it("is rejected when two stagings are both the first", () => {
    const history = [
      operation(1, stage(1), [0, 3], "ok first"),
      operation(2, stage(2), [1, 2], "ok first")
    ]
    expect(culprit(history)).toBe(1)
  })

  it("is rejected when there are two accounts", () => {
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, process, [2, 5], "ok"),
      operation(3, process, [3, 4], "ok")
    ]
    expect(culprit(history)).toBe(2)
  })

  it.each([
    { outcome: "that nothing happened", answer: "ok" },
    { outcome: "that it happened", answer: imported }
  ])("with a lost answer is explained by what comes later: $outcome", ({ answer }) => {
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, process, [2, 3], null),
      operation(3, process, [70, 71], answer)
    ]
    expect(culprit(history)).toBeNull()
  })

  it("is rejected when an imported account is staged again", () => {
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, process, [2, 3], null),
      operation(3, process, [70, 71], imported),
      operation(4, stage(2), [72, 73], "ok again")
    ]
    expect(culprit(history)).toBe(4)
  })

  it("is accepted while a lease can last, and no longer", () => {
    const after = (seconds: number) => [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, process, [2, 3], null),
      operation(3, stage(2), [seconds, seconds + 1], inProgress)
    ]
    expect(culprit(after(62))).toBeNull()
    expect(culprit(after(64))).toBe(3)
  })

  it("is rejected with a lease without a process", () => {
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, stage(2), [2, 3], inProgress)
    ]
    expect(culprit(history)).toBe(2)
  })

  it("is rejected with a lease that ends too early", () => {
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, process, [2, 40], "ok"),
      operation(3, process, [10, 20], "ok")
    ]
    expect(culprit(history)).not.toBeNull()
  })

  it("is rejected when a dry run leaves an account", () => {
    const dryRun: Ask = { kind: "process", dryRun: true, team: true }
    const history = [
      operation(1, stage(1), [0, 1], "ok first"),
      operation(2, dryRun, [2, 3], "dry_run_successful"),
      operation(3, { kind: "status" }, [4, 5], "ok COMPLETED")
    ]
    expect(culprit(history)).toBe(3)
  })
})
