/** Batches in memory. A line is ready when no earlier line of its account number is unfinished. */
import { DateTime, Effect, Layer, Option, Result, Stream } from "effect"
import * as Batch from "../../batch/Batch.ts"
import type { BatchLine, LineEnd } from "../../batch/BatchLine.ts"
import { batchLimits } from "../../batch/BatchLine.ts"
import type { BatchEventName } from "../../batch/BatchEvent.ts"
import type { OrganisationName } from "../../organisation/Organisation.ts"
import {
  type Appending,
  type BatchChange,
  Batches,
  type ChunkInHand,
  type ProblemGroup,
  type TakenLast
} from "../Batches.ts"
import { MemoryStore, type StoredBatch, type StoredLine } from "./Store.ts"

type Store = MemoryStore["Service"]
type Port = Batches["Service"]
type Command<Operation extends keyof Port> = Port[Operation] extends (command: infer C) => unknown
  ? C
  : never

/** As many lines as a worker takes at once. */
const chunkLines = 100

const stored = (store: Store, id: Batch.BatchId): StoredBatch => {
  const found = store.batches.get(id)
  if (found === undefined) throw new Error(`There is no batch ${id}`)
  return found
}

const ofOrganisation = (store: Store, organisation: OrganisationName) =>
  [...store.batches.values()].filter(({ batch }) => batch.organisation === organisation)

const isUnfinished = ({ batch }: StoredBatch): boolean => !Batch.isFinal(batch)

const create = (store: Store, command: Command<"create">): Option.Option<Batch.Batch> => {
  const { at: createdAt, caller, id, limit, settings } = command
  const { organisation } = caller
  if (ofOrganisation(store, organisation).filter(isUnfinished).length >= limit) {
    return Option.none()
  }
  const batch = Batch.open({ id, organisation, settings, createdAt })
  store.batches.set(id, { batch, upload: 0, lines: [] })
  return Option.some(batch)
}

const list = (store: Store, query: Command<"list">): ReadonlyArray<Batch.Batch> => {
  const newestFirst = [...store.batches.values()]
    .map(({ batch }) => batch)
    .filter(({ settings }) => settings.supplier === query.supplier)
    .reverse()
  const start = newestFirst.findIndex(({ id }) => id === query.after) + 1
  return newestFirst.slice(start, start + query.limit)
}

const beginUpload = (store: Store, id: Batch.BatchId): number => {
  const present = stored(store, id)
  const upload = present.upload + 1
  store.batches.set(id, { ...present, upload })
  return upload
}

const isSame = (one: Uint8Array | null, other: Uint8Array | null): boolean =>
  one === null || other === null
    ? one === other
    : one.length === other.length && one.every((byte, index) => byte === other[index])

const bytesIn = (lines: ReadonlyArray<Pick<BatchLine, "bytes">>): number =>
  lines.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0)

const exceedsLimits = (store: Store, present: StoredBatch, more: Command<"append">["lines"]) => {
  const { bytes, bytesOfOrganisation, lines } = batchLimits
  const unfinished = ofOrganisation(store, present.batch.organisation).filter(isUnfinished)
  const held = unfinished.reduce((sum, each) => sum + bytesIn(each.lines), 0)
  return (
    present.lines.length + more.length > lines ||
    bytesIn(present.lines) + bytesIn(more) > bytes ||
    held + bytesIn(more) > bytesOfOrganisation
  )
}

const append = (store: Store, { from, id, lines, upload }: Command<"append">): Appending => {
  const present = stored(store, id)
  if (present.upload !== upload) return { _tag: "Superseded" }
  const received = present.lines.length
  if (Batch.stateOf(present.batch) !== "OPEN") return { _tag: "NotOpen", batch: present.batch }
  if (from > received + 1) return { _tag: "Gap", received }
  const known = present.lines.slice(from - 1, from - 1 + lines.length)
  const differing = known.findIndex(
    ({ bytes }, index) => !isSame(bytes, lines[index]?.bytes ?? null)
  )
  if (differing !== -1) return { _tag: "Differs", line: from + differing }
  const added = lines.slice(known.length)
  if (exceedsLimits(store, present, added)) return { _tag: "LimitExceeded" }
  const batch = Result.getOrThrow(Batch.receive(present.batch, added.length))
  const appended = added.map((line, index) => ({
    ...line,
    line: received + index + 1,
    tries: 0,
    readyAt: null,
    isInHand: false,
    end: null
  }))
  store.batches.set(id, { ...present, batch, lines: [...present.lines, ...appended] })
  return { _tag: "Appended", received: batch.counts.received }
}

const put = (store: Store, present: StoredBatch, batch: Batch.Batch): Batch.Batch => {
  store.batches.set(batch.id, { ...present, batch })
  return batch
}

const record = (
  store: Store,
  before: Batch.Batch,
  after: Batch.Batch,
  event: BatchEventName | null,
  at: DateTime.Utc
): void => {
  const { id } = after
  if (event !== null && before !== after) store.batchEvents.push({ id, at, name: event })
  if (before.finishedAt === null && after.finishedAt !== null && !after.isCancelled) {
    store.batchEvents.push({ id, at, name: "data_import.batch.completed-v1" })
  }
}

const change = <E>(
  store: Store,
  { at, decide, event, id }: BatchChange<E>
): Effect.Effect<Batch.Batch, E> =>
  Effect.suspend(() => {
    const present = stored(store, id)
    const decided = decide(present.batch)
    if (Result.isFailure(decided)) return Effect.fail(decided.failure)
    record(store, present.batch, decided.success, event, at)
    return Effect.succeed(put(store, present, decided.success))
  })

const isOpen = ({ end, isInHand }: StoredLine): boolean => end === null && !isInHand

/** Stores the lines, which take the place of those of the same numbers. */
const replace = (present: StoredBatch, lines: ReadonlyArray<StoredLine>): void => {
  for (const line of lines) present.lines[line.line - 1] = line
}

const cancelled = ({ externalAccountNumber, line }: StoredLine): LineEnd => ({
  line,
  externalAccountNumber,
  outcome: "CANCELLED",
  text: JSON.stringify({
    line,
    external_account_number: externalAccountNumber,
    outcome: "CANCELLED"
  }),
  problems: []
})

const cancelLines = (store: Store, at: DateTime.Utc): boolean => {
  for (const present of store.batches.values()) {
    const open = present.batch.isCancelled ? present.lines.filter(isOpen) : []
    if (open.length === 0) continue
    replace(
      present,
      open.map((line) => ({ ...line, bytes: null, end: cancelled(line) }))
    )
    const outcomes = open.map(() => "CANCELLED" as const)
    put(store, present, Batch.end(present.batch, outcomes, at))
  }
  return false
}

const readyIn = ({ lines }: StoredBatch, at: DateTime.Utc): ReadonlyArray<StoredLine> => {
  const waiting = new Set<string>()
  const ready: Array<StoredLine> = []
  for (const line of lines) {
    const { end, externalAccountNumber: number, readyAt } = line
    if (end !== null) continue
    const isFirst = number === null || !waiting.has(number)
    const isDue = readyAt === null || !DateTime.isGreaterThan(readyAt, at)
    if (isOpen(line) && isFirst && isDue) ready.push(line)
    if (number !== null) waiting.add(number)
  }
  return ready.slice(0, chunkLines)
}

/** Those after `last`, then those up to it. */
const rotated = <A>(items: ReadonlyArray<A>, isLast: (item: A) => boolean): ReadonlyArray<A> => {
  const next = items.findIndex(isLast) + 1
  return [...items.slice(next), ...items.slice(0, next)]
}

/** The workable batches in turn: of each supplier after the last one, the one after its last. */
const inTurn = (store: Store, last: TakenLast | null): ReadonlyArray<StoredBatch> => {
  const workable = [...store.batches.values()].filter(({ batch }) => Batch.isWorkable(batch))
  const suppliers = [...Map.groupBy(workable, ({ batch }) => batch.settings.supplier)].sort(
    ([one], [other]) => (one < other ? -1 : 1)
  )
  return rotated(suppliers, ([supplier]) => supplier === last?.supplier).flatMap(
    ([supplier, batches]) =>
      rotated(batches, ({ batch }) => batch.id === last?.batches.get(supplier))
  )
}

type Finishing = Parameters<ChunkInHand["finish"]>[0]

const finish = (store: Store, id: Batch.BatchId, { at, ended, postponed, readyAt }: Finishing) => {
  const present = stored(store, id)
  const lineOf = (line: number) => present.lines[line - 1] as StoredLine
  replace(
    present,
    ended.map((end) => ({ ...lineOf(end.line), isInHand: false, end }))
  )
  replace(
    present,
    postponed.map(({ isCounted, line }) => {
      const tries = lineOf(line).tries + (isCounted ? 1 : 0)
      return { ...lineOf(line), isInHand: false, tries, readyAt }
    })
  )
  const outcomes = ended.map(({ outcome }) => outcome)
  const batch = Batch.end(present.batch, outcomes, at)
  const isPaused = batch.pausedBy.has("FAILURES") && !present.batch.pausedBy.has("FAILURES")
  record(store, present.batch, batch, isPaused ? "data_import.batch.paused-v1" : null, at)
  put(store, present, batch)
}

const take = (store: Store, { at, last }: Command<"take">): Option.Option<ChunkInHand> => {
  for (const present of inTurn(store, last)) {
    const lines = readyIn(present, at)
    if (lines.length === 0) continue
    replace(
      present,
      lines.map((line) => ({ ...line, isInHand: true }))
    )
    const batch = put(store, present, { ...present.batch, isTaken: true })
    return Option.some({
      batch,
      lines,
      finish: (finishing) =>
        Effect.sync(() => {
          finish(store, batch.id, finishing)
          return true
        })
    })
  }
  return Option.none()
}

/** What was neither ended nor postponed can be taken again. */
const giveBack = (store: Store, { batch, lines }: ChunkInHand): void => {
  const present = stored(store, batch.id)
  for (const { line } of lines) {
    const own = present.lines[line - 1] as StoredLine
    replace(present, [{ ...own, isInHand: false }])
  }
}

const results = (store: Store, query: Command<"results">): ReadonlyArray<LineEnd> => {
  const { afterLine, id, isComplete, outcome } = query
  const { lines } = stored(store, id)
  const firstOpen = lines.findIndex(({ end }) => end === null)
  const through = isComplete || firstOpen === -1 ? lines.length : firstOpen
  return lines
    .slice(afterLine, through)
    .flatMap(({ end }) => (end === null ? [] : [end]))
    .filter((end) => outcome === null || end.outcome === outcome)
}

const examplesOfProblem = 5

const problems = (store: Store, id: Batch.BatchId): ReadonlyArray<ProblemGroup> => {
  const found = stored(store, id).lines.flatMap(({ end }) =>
    (end?.problems ?? []).map((problem) => ({ ...problem, end: end as LineEnd }))
  )
  return [...Map.groupBy(found, ({ attr, code }) => JSON.stringify([code, attr])).values()]
    .map((same): ProblemGroup => {
      const { attr, code } = same[0] as (typeof same)[number]
      const byLine = [...new Map(same.map((problem) => [problem.end.line, problem])).values()]
      const examples = byLine
        .slice(0, examplesOfProblem)
        .map(({ detail, end: { externalAccountNumber, line } }) => ({
          line,
          externalAccountNumber,
          detail
        }))
      return { attr, code, lines: byLine.length, examples }
    })
    .sort((one, other) => other.lines - one.lines)
}

export const layerMemory: Layer.Layer<Batches> = Layer.effect(
  Batches,
  Effect.map(MemoryStore, (store) =>
    Batches.of({
      create: (command) => Effect.sync(() => create(store, command)),
      find: (organisation, id) =>
        Effect.sync(() =>
          Option.fromUndefinedOr(store.batches.get(id)).pipe(
            Option.map(({ batch }) => batch),
            Option.filter((batch) => batch.organisation === organisation)
          )
        ),
      list: (query) => Effect.sync(() => list(store, query)),
      beginUpload: (id) => Effect.sync(() => beginUpload(store, id)),
      append: (command) => Effect.sync(() => append(store, command)),
      change: (command) => change(store, command),
      cancelLines: (at) => Effect.sync(() => cancelLines(store, at)),
      take: (command) =>
        Effect.acquireRelease(
          Effect.sync(() => take(store, command)),
          Option.match({
            onNone: () => Effect.void,
            onSome: (chunk) => Effect.sync(() => giveBack(store, chunk))
          })
        ),
      results: (query) => Stream.suspend(() => Stream.fromIterable(results(store, query))),
      problems: (id) => Effect.sync(() => problems(store, id))
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
