/** The check accepts histories that can have happened, and refuses those that cannot. */
import { expect, it } from "vitest"
import { type Event, firstInexplicable, type Operation } from "../Linearizability.ts"

type Ask = Operation["ask"]
type Span = readonly [from: number, to: number]

/**
 * The question, its start and end in seconds, its answer with the account number that it names, and
 * when the batch of a line was started.
 */
type Asked = readonly [ask: Ask, span: Span, answer: string | null, since?: number]

/** The history of the operations. At one instant an end comes before a start. */
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

const stage = (version: number, span: Span, answer: string): Asked => [
  { kind: "stage", version },
  span,
  answer
]
const first = (span: Span = [0, 1]) => stage(1, span, "ok first")
const again = (span: Span, answer = "ok again") => stage(2, span, answer)
const process = (span: Span, answer: string | null = "ok", dryRun = false): Asked => [
  { kind: "process", dryRun, team: true },
  span,
  answer
]
const versions = (span: Span, answer: string): Asked => [
  { kind: "accounts", numbers: [] },
  span,
  answer
]
const status = (span: Span, answer: string): Asked => [{ kind: "status" }, span, answer]
const revert = (number: string, span: Span, answer = "ok reverted"): Asked => [
  { kind: "revert", number, withAdditions: true, dryRun: false },
  span,
  answer
]
const ofLine = ([ask, span]: Asked, answer: string, since: number): Asked => [
  ask,
  span,
  answer,
  since
]
/** An account A1 that was reverted. */
const reverted = [first(), process([2, 3], "ok A1"), revert("A1", [4, 5])]

const imported = "account_import_process_already_imported"
const inProgress = "account_import_process_in_progress"
const unanswered = process([2, 3], null)

it.for<readonly [string, ...ReadonlyArray<Asked>]>([
  [
    "sequential requests",
    ...[first(), again([2, 3]), process([4, 5]), stage(3, [6, 7], imported), versions([8, 9], "2")]
  ],
  [
    "two concurrent stagings, the shorter one last",
    ...[first([0, 3]), again([1, 2]), process([4, 5]), versions([6, 7], "2")]
  ],
  ["a lost answer to a process that did nothing", first(), unanswered, process([70, 71])],
  ["a lost answer to a process that worked", first(), unanswered, process([70, 71], imported)],
  ["a lease that can still last", first(), unanswered, again([62, 63], inProgress)],
  [
    "a second account, and a repeated revert of the first",
    ...reverted,
    ...[process([6, 7], "ok A2"), revert("A1", [8, 9], "ok unchanged"), versions([10, 11], "1 1")]
  ],
  [
    "an account of unknown number that is reverted",
    ...[first(), process([2, 3], null), revert("A1", [4, 5]), versions([6, 7], "1 none")]
  ],
  [
    "a line that may have been started after the revert",
    ...[...reverted, ofLine(process([6, 7]), "ok A2", 4.5)]
  ]
])("a history is accepted with %s", ([, ...history]) => {
  expect(firstInexplicable(historyOf(history))).toBeNull()
})

it.for<readonly [string, culprit: number, ...ReadonlyArray<Asked>]>([
  [
    "an acknowledged staging that is lost",
    4,
    ...[first(), again([2, 3]), process([4, 5]), versions([6, 7], "1")]
  ],
  [
    "a staging that comes before the first",
    4,
    ...[first([0, 3]), again([1, 2]), process([4, 5]), versions([6, 7], "1")]
  ],
  ["two first stagings", 1, first([0, 3]), again([1, 2], "ok first")],
  ["two accounts", 2, first(), process([2, 5]), process([3, 4])],
  [
    "an imported account that is staged again",
    4,
    ...[first(), unanswered, process([70, 71], imported), again([72, 73])]
  ],
  ["a lease that has expired", 3, first(), unanswered, again([64, 65], inProgress)],
  ["a lease without a process", 2, first(), again([2, 3], inProgress)],
  ["a lease that ends too early", 2, first(), process([2, 40]), process([10, 20])],
  [
    "a dry run that leaves an account",
    3,
    ...[first(), process([2, 3], "dry_run_successful", true)],
    status([4, 5], "ok COMPLETED")
  ],
  ["a revert that is undone", 4, ...reverted, versions([6, 7], "1")],
  ["a kept answer about a reverted account", 4, ...reverted, [{ kind: "replay" }, [6, 7], "ok A1"]],
  [
    "a revert of the next account by the number of the first",
    5,
    ...[...reverted, process([6, 7], "ok A2"), revert("A1", [8, 9])]
  ],
  [
    "an attempt that survives a revert",
    2,
    ...[first(), process([2, 80], "ok A2"), status([3, 4], "ok IN_PROGRESS")],
    ...[process([70, 71], "ok A1"), revert("A1", [72, 73])]
  ],
  [
    "a line of a batch that was started before the revert",
    4,
    ...[...reverted, ofLine(process([6, 7]), "ok A2", 3.5)]
  ]
])("a history is refused with %s", ([, culprit, ...history]) => {
  expect(firstInexplicable(historyOf(history))?.id).toBe(culprit)
})
