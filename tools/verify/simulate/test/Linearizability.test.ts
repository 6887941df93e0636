/** The check accepts histories that can have happened, and refuses those that cannot. */
import { expect, it } from "vitest"
import { type Event, firstInexplicable, type Operation } from "../Linearizability.ts"

type Ask = Operation["ask"]
type Span = readonly [from: number, to: number]

/** The question, its start and end in seconds, and its answer. */
type Asked = readonly [ask: Ask, span: Span, answer: string | null]

/** The history of the operations. At one instant an end comes before a start. */
const historyOf = (all: ReadonlyArray<Asked>): ReadonlyArray<Event> =>
  all
    .map(([ask, [from, to], answer], index): Operation => {
      return { id: index + 1, ask, at: from * 1000, until: to * 1000, answer }
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
const version = (span: Span, answer: string): Asked => [{ kind: "version" }, span, answer]

const imported = "account_import_process_already_imported"
const inProgress = "account_import_process_in_progress"
const unanswered = process([2, 3], null)

it.for<readonly [string, ...ReadonlyArray<Asked>]>([
  [
    "sequential requests",
    ...[
      first(),
      again([2, 3]),
      process([4, 5]),
      stage(3, [6, 7], imported),
      version([8, 9], "ok 2")
    ]
  ],
  [
    "two concurrent stagings, the shorter one last",
    ...[first([0, 3]), again([1, 2]), process([4, 5]), version([6, 7], "ok 2")]
  ],
  ["a lost answer to a process that did nothing", first(), unanswered, process([70, 71])],
  ["a lost answer to a process that worked", first(), unanswered, process([70, 71], imported)],
  ["a lease that can still last", first(), unanswered, again([62, 63], inProgress)]
])("a history is accepted with %s", ([, ...history]) => {
  expect(firstInexplicable(historyOf(history))).toBeNull()
})

it.for<readonly [string, culprit: number, ...ReadonlyArray<Asked>]>([
  [
    "an acknowledged staging that is lost",
    4,
    ...[first(), again([2, 3]), process([4, 5]), version([6, 7], "ok 1")]
  ],
  [
    "a staging that comes before the first",
    4,
    ...[first([0, 3]), again([1, 2]), process([4, 5]), version([6, 7], "ok 1")]
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
    [{ kind: "status" }, [4, 5], "ok COMPLETED"]
  ]
])("a history is refused with %s", ([, culprit, ...history]) => {
  expect(firstInexplicable(historyOf(history))?.id).toBe(culprit)
})
