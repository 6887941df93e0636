/**
 * The check refuses histories that no planted defect makes. That it accepts right ones, and finds
 * the defects, is shown by the runs of `Simulation.test.ts`.
 */
import { expect, it } from "vitest"
import { type Event, firstInexplicable, type Operation } from "../Linearizability.ts"

type Asked = readonly [
  ask: Operation["ask"],
  seconds: readonly [from: number, to: number],
  answer: string | null,
  since?: number
]

/** At one instant an end comes before a start. */
const historyOf = (all: ReadonlyArray<Asked>): ReadonlyArray<Event> =>
  all
    .map(([ask, [from, to], said, since], index): Operation => {
      const [, answer = null, number = null] = /^(.*?)(?: (A\d))?$/.exec(said ?? "") ?? []
      const span = { at: from * 1000, until: to * 1000 }
      const started = since === undefined ? null : since * 1000
      return { id: index + 1, ask, ...span, answer: said && answer, number, since: started }
    })
    .flatMap((operation) => [
      { what: "asked" as const, operation, at: operation.at, order: 1 },
      { what: "ended" as const, operation, at: operation.until, order: 0 }
    ])
    .toSorted((one, other) => one.at - other.at || one.order - other.order)

const process = { kind: "process", dryRun: false, team: true } as const
const status = { kind: "status" } as const
const again = { kind: "stage", version: 2 } as const
const revert = { kind: "revert", number: "A1", withAdditions: true, dryRun: false } as const
const first: Asked = [{ kind: "stage", version: 1 }, [0, 1], "ok first"]
const inProgress = "account_import_process_in_progress"

it.for<readonly [string, culprit: number, ...ReadonlyArray<Asked>]>([
  [
    "a lease that has expired",
    3,
    ...[first, [process, [2, 3], null] as const, [again, [64, 65], inProgress] as const]
  ],
  [
    "a lease that ends too early",
    4,
    ...[first, [process, [2, 40], "ok"] as const],
    [status, [3, 4], "ok IN_PROGRESS"],
    [status, [5, 6], "ok UNKNOWN"]
  ],
  [
    "a line of a batch that was started before the revert",
    4,
    ...[first, [process, [2, 3], "ok A1"] as const, [revert, [4, 5], "ok reverted"] as const],
    [process, [6, 7], "ok A2", 3.5]
  ]
])("a history is refused with %s", ([, culprit, ...history]) => {
  expect(firstInexplicable(historyOf(history))?.id).toBe(culprit)
})
