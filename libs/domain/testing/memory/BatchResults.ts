/** The results and problems of batches in memory, and their deletion. */
import { DateTime, Stream } from "effect"
import type { EndedLine, LineProblem } from "../../src/batches/BatchLine.ts"
import type { ProblemGroup, Problems } from "../../src/batches/Problems.ts"
import { type ForecastSum, sumsOfAccounts } from "../../src/batches/Rehearsal.ts"
import { type BatchId, stateOf } from "../../src/batches/Batch.ts"
import type * as Counts from "../../src/batches/Counts.ts"
import type {
  Batches,
  LinesQuery,
  ListedLine,
  Overview,
  Results
} from "../../src/batches/Batches.ts"
import { deleteKeysOfLine } from "./IdempotencyKeys.ts"
import { codePointOrder, type MemoryStore, storedBatch as stored } from "./Store.ts"

type Store = MemoryStore["Service"]
type Port = Batches["Service"]
type Command<Operation extends "results" | "problems" | "deleteLines"> = Parameters<
  Port[Operation]
>[0]

export const results = (store: Store, query: Command<"results">): Results => {
  const { afterLine, id, includesLater, limit, outcome } = query
  const { batch, lines } = stored(store, id)
  const isAsked = (end: EndedLine) =>
    end.line > afterLine && (outcome === null || end.outcome === outcome)
  const firstOpen = lines.findIndex(({ end }) => end === null)
  const done = firstOpen === -1 ? lines.length : firstOpen
  const early = lines
    .slice(0, done)
    .flatMap(({ end }) => (end !== null && isAsked(end) ? [end] : []))
  const cut = limit === null || early.length < limit ? null : (early[limit - 1] as EndedLine).line
  const through = Math.max(afterLine, Math.min(cut ?? done, done))
  const all = lines.flatMap(({ end }) => (end !== null && isAsked(end) ? [end] : []))
  const given = includesLater ? all : early
  return {
    through,
    isComplete: batch.finishedAt !== null && through >= lines.length,
    results: Stream.fromIterable(given.slice(0, limit ?? undefined))
  }
}

export const listedLines = (
  store: Store,
  { afterLine, id, limit, outcome }: LinesQuery
): ReadonlyArray<ListedLine> =>
  stored(store, id)
    .lines.filter(
      ({ end, line }) =>
        line > afterLine && (outcome === null || (end?.outcome ?? "REMAINING") === outcome)
    )
    .slice(0, limit)
    .map(({ end, externalAccountNumber, line }) => ({
      line,
      externalAccountNumber,
      outcome: end?.outcome ?? null,
      text: end?.text ?? null
    }))

export const rehearsed = (store: Store, id: BatchId): ReadonlyArray<ForecastSum> => {
  const created = stored(store, id).lines.filter(({ end }) => end?.outcome === "SUCCEEDED")
  const byNumber = Map.groupBy(created, ({ externalAccountNumber }) => externalAccountNumber)
  const accounts = [...byNumber.values()].flatMap(([first]) => first?.end?.rehearsed ?? [])
  return sumsOfAccounts(accounts).toSorted(
    (one, other) => codePointOrder(one.kind, other.kind) || codePointOrder(one.name, other.name)
  )
}

const examplesOfProblem = 5

const keyOf = ({ attr, code }: Pick<LineProblem, "attr" | "code">): string =>
  JSON.stringify([code, attr])

const groupOf = (
  { attr, code }: Pick<LineProblem, "attr" | "code">,
  ends: ReadonlyArray<EndedLine>
): ProblemGroup => ({
  attr,
  code,
  lines: ends.length,
  examples: ends.slice(0, examplesOfProblem).map(({ externalAccountNumber, line, problems }) => {
    const same = problems.find((problem) => keyOf(problem) === keyOf({ attr, code }))
    const businessDay = same?.businessDay
    return {
      line,
      externalAccountNumber,
      detail: same?.detail ?? null,
      ...(businessDay !== undefined && { businessDay })
    }
  })
})

/** The problems of a line, each once and in order. */
const distinctProblems = ({ problems }: EndedLine) =>
  [...new Map(problems.map(({ attr, code }) => [keyOf({ attr, code }), { attr, code }]))]
    .sort(([one], [other]) => codePointOrder(one, other))
    .map(([, problem]) => problem)

export const problems = (store: Store, { id, limit }: Command<"problems">): Problems => {
  const failed = stored(store, id).lines.flatMap(({ end }) =>
    end?.outcome === "FAILED" ? [end] : []
  )
  const found = failed.flatMap((end) => distinctProblems(end).map((problem) => ({ problem, end })))
  const groups = [...Map.groupBy(found, ({ problem }) => keyOf(problem)).values()]
    .map((same) =>
      groupOf(
        (same[0] as (typeof found)[number]).problem,
        same.map(({ end }) => end)
      )
    )
    .sort((one, other) => other.lines - one.lines || codePointOrder(keyOf(one), keyOf(other)))
  const sets = [...Map.groupBy(failed, (end) => JSON.stringify(distinctProblems(end))).values()]
  return {
    groups: groups.slice(0, limit),
    sets: sets.map((same) => ({
      problems: distinctProblems(same[0] as EndedLine),
      lines: same.length
    }))
  }
}

const withoutDetails = (end: EndedLine, redact: (text: string) => string): EndedLine => ({
  ...end,
  text: redact(end.text),
  problems: end.problems.map((problem) => ({ ...problem, detail: null }))
})

export const deleteLines = (
  store: Store,
  { endedBefore, redact }: Command<"deleteLines">
): boolean => {
  const isReferredTo = (id: BatchId) =>
    [...store.batches.values()].some(
      ({ areLinesDeleted, lines, linesOf }) =>
        linesOf === id && !areLinesDeleted && lines.length > 0
    )
  // The newest first, so that a retry does not keep the lines that it refers to.
  for (const present of [...store.batches.values()].reverse()) {
    const { finishedAt, id } = present.batch
    const isDue = finishedAt !== null && DateTime.isLessThan(finishedAt, endedBefore)
    if (!isDue || present.areLinesDeleted || isReferredTo(id)) continue
    const lines = present.lines.map((line) => ({
      ...line,
      bytes: null,
      end: line.end && withoutDetails(line.end, redact)
    }))
    store.batches.set(present.batch.id, { ...present, lines, areLinesDeleted: true })
    for (const { line } of lines) deleteKeysOfLine(store, present.batch, line)
  }
  return false
}

export const overview = (store: Store): Overview => {
  const started = [...store.batches.values()]
    .map(({ batch }) => batch)
    .filter((batch) => batch.started !== null)
  const sumOf = (name: keyof Counts.Counts) =>
    started.reduce((sum, { counts }) => sum + counts[name], 0)
  const oldest = (states: ReadonlyArray<string>) =>
    started
      .filter((batch) => states.includes(stateOf(batch)))
      .flatMap((batch) => (batch.started === null ? [] : [batch.started.at]))
      .reduce<DateTime.Utc | null>((one, other) => DateTime.min(one ?? other, other), null)
  return {
    counts: {
      received: sumOf("received"),
      succeeded: sumOf("succeeded"),
      already: sumOf("already"),
      failed: sumOf("failed"),
      cancelled: sumOf("cancelled")
    },
    queuedSince: oldest(["QUEUED"]),
    unfinishedSince: oldest(["QUEUED", "RUNNING"])
  }
}
