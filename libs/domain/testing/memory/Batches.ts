/** Batches in memory. A line is ready when no earlier line of its account number is unfinished. */
import { DateTime, Effect, Layer, Option, Result } from "effect"
import * as Batch from "../../src/batches/Batch.ts"
import { automaticChanges, eventsBetween } from "../../src/batches/BatchEvent.ts"
import { BatchLimits } from "../../src/batches/BatchLimits.ts"
import type { EndedLine } from "../../src/batches/BatchLine.ts"
import { type ApiKeyId, isLive } from "../../src/suppliers/Organisation.ts"
import { isByPerson, serviceFor } from "../../src/access/Operator.ts"
import type { AuditAction } from "../../src/audit/AuditLog.ts"
import {
  type Appending,
  type BatchChange,
  Batches,
  type ChunkInHand,
  type Creating
} from "../../src/batches/Batches.ts"
import { lastStoredEnd } from "../../src/batches/LineKey.ts"
import type { ReservationLost } from "../../src/idempotency/IdempotencyKeys.ts"
import { recordUnchanged } from "./AuditLog.ts"
import { haveFreeNumbers, storeLineImport } from "./LineImports.ts"
import { isToRevert, revertNow } from "./Reverts.ts"
import {
  failedLines,
  isCreatorDeleted,
  isOvertaken,
  linesOfSource,
  newLine
} from "./BatchSources.ts"
import { deleteLines, listedLines, overview, problems, rehearsed, results } from "./BatchResults.ts"
import { exceededLimit, isUnfinished, ofOrganisation } from "./BatchQuotas.ts"
import { inTurn } from "./BatchTurns.ts"
import {
  answerOf,
  deleteKeysOfLine,
  keepAnswer,
  release,
  whileReserved
} from "./IdempotencyKeys.ts"
import * as Stored from "./Store.ts"
import { MemoryStore, type StoredBatch, storedBatch as stored, type StoredLine } from "./Store.ts"

type Store = MemoryStore["Service"]
type Port = Batches["Service"]
type Command<Operation extends keyof Port> = Port[Operation] extends (command: infer C) => unknown
  ? C
  : never

/** How many lines a worker takes at once. */
const chunkLines = 100

const recordAudit = (
  store: Store,
  { settings }: Pick<Batch.Batch, "settings">,
  write: Pick<BatchChange<never>, "at" | "caller"> & { action: AuditAction; outcome: string }
): void => {
  const { action, at, caller, outcome } = write
  const { apiKey, organisation, requestId } = caller
  store.audit.push({
    key: { import_supplier: settings.supplier, external_account_number: null },
    entry: { at, organisation, apiKey, requestId, action, outcome }
  })
}

const create = (store: Store, limits: BatchLimits, command: Command<"create">): Creating => {
  const { at: createdAt, caller, id, recorder, limit, settings } = command
  const { organisation } = caller
  const present = store.batches.get(id)
  if (present !== undefined) return { _tag: "Created", batch: present.batch, leftOut: null }
  const unfinished = ofOrganisation(store, organisation).filter(isUnfinished)
  if (unfinished.length >= limit) return { _tag: "LimitExceeded", of: "batches" }
  const source = settings.retryOf === null ? null : stored(store, settings.retryOf)
  if (source?.areLinesDeleted === true || isCreatorDeleted(store, settings)) {
    return { _tag: "LinesDeleted" }
  }
  const linesOf = source && (source.linesOf ?? source.batch.id)
  const { leftOut, lines } = source
    ? failedLines(store, source, settings)
    : { leftOut: null, lines: [] }
  const exceeded = exceededLimit(store, limits, organisation, [], lines, true)
  const isFilled = source !== null || Batch.hasSource(settings)
  if (isFilled && exceeded !== null) return { _tag: "LimitExceeded", of: exceeded }
  const open = Batch.open({ id, organisation, settings, createdAt })
  const batch = Result.getOrThrow(Batch.receive(open, lines.length))
  store.batches.set(id, { batch, upload: 0, lines, linesOf, areLinesDeleted: false })
  recordAudit(store, batch, { at: createdAt, caller, action: "create_batch", outcome: "created" })
  const created = { _tag: "Created", batch, leftOut } as const
  keepAnswer(store, recorder, created, createdAt)
  return created
}

const find = (store: Store, id: Batch.BatchId): Option.Option<Batch.Batch> =>
  Option.map(Option.fromUndefinedOr(store.batches.get(id)), ({ batch }) => batch)

const list = (store: Store, query: Command<"list">): ReadonlyArray<Batch.Batch> => {
  const { after, isUnfinished = false, limit, supplier } = query
  const newestFirst = [...store.batches.values()].map(({ batch }) => batch).reverse()
  const place = newestFirst.findIndex(({ id }) => id === after)
  const isKnown = after === null || place !== -1
  return newestFirst
    .slice(isKnown ? place + 1 : newestFirst.length)
    .filter(({ settings }) => supplier === null || settings.supplier === supplier)
    .filter(({ finishedAt }) => !isUnfinished || finishedAt === null)
    .slice(0, limit)
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

/** A key that the store does not know was never revoked. */
const isKeyValid = (store: Store, id: ApiKeyId, at: DateTime.Utc): boolean => {
  const key = store.apiKeys.get(id)
  return key === undefined || isLive(key, at)
}

const append = (store: Store, limits: BatchLimits, command: Command<"append">): Appending => {
  const { apiKey, at, from, id, lines, upload } = command
  const present = stored(store, id)
  if (!isKeyValid(store, apiKey, at)) return { _tag: "KeyInvalid" }
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
  const { organisation } = present.batch
  const exceeded = exceededLimit(store, limits, organisation, present.lines, added)
  if (added.length > 0 && exceeded !== null) return { _tag: "LimitExceeded", of: exceeded }
  const batch = Result.getOrThrow(Batch.receive(present.batch, added.length))
  const appended = added.map((line, index) => newLine(received + index + 1, line))
  store.batches.set(id, { ...present, batch, lines: [...present.lines, ...appended] })
  return { _tag: "Appended", received: batch.counts.received }
}

const put = (store: Store, present: StoredBatch, batch: Batch.Batch): Batch.Batch => {
  store.batches.set(batch.id, { ...present, batch })
  return batch
}

const recordEvents = (
  store: Store,
  before: Batch.Batch,
  after: Batch.Batch,
  at: DateTime.Utc
): void => {
  for (const name of eventsBetween(before, after)) {
    store.batchEvents.push({ id: after.id, at, name })
  }
}

/** Puts a change that nobody asked for. */
const putAutomatic = (
  store: Store,
  present: StoredBatch,
  after: Batch.Batch,
  at: DateTime.Utc
): void => {
  const before = present.batch
  recordEvents(store, before, after, at)
  for (const each of automaticChanges(before, after)) {
    recordAudit(store, after, { ...each, at, caller: serviceFor(after) })
  }
  put(store, present, after)
}

const change = <E>(
  store: Store,
  limits: BatchLimits,
  { action, at, caller, decide, id, recorder }: BatchChange<E>
): Effect.Effect<Batch.Batch, E | ReservationLost> =>
  whileReserved(store, recorder, () => {
    const present = stored(store, id)
    const before = present.batch
    const decided = decide(before, { isOvertaken: isOvertaken(store, present) })
    if (Result.isFailure(decided)) return Effect.fail(decided.failure)
    const isUnchanged = decided.success === before
    if (isUnchanged && !isByPerson(caller)) {
      const key = { import_supplier: before.settings.supplier, external_account_number: null }
      recordUnchanged(store, { at, action, key, caller })
    } else {
      const outcome = isUnchanged ? "unchanged" : "changed"
      recordAudit(store, before, { at, caller, action, outcome })
    }
    if (isUnchanged) {
      if (recorder) release(store, recorder.reservation)
      return Effect.succeed(before)
    }
    const isFilled = before.started === null && Batch.isToBeFilled(decided.success)
    const lines = isFilled ? linesOfSource(store, before.settings, at, limits.lines) : present.lines
    const after = isFilled ? Batch.filled(decided.success, lines.length, at) : decided.success
    recordEvents(store, before, after, at)
    keepAnswer(store, recorder, after, at)
    return Effect.succeed(put(store, { ...present, lines }, after))
  })

const review = (store: Store, { at, decide }: Command<"review">): void => {
  for (const present of store.batches.values()) {
    const { batch } = present
    const { started } = batch
    const after = decide(batch, {
      supplierStatus: store.suppliers.get(batch.settings.supplier)?.status ?? "Complete",
      isKeyValid: started === null || isKeyValid(store, started.apiKey, at)
    })
    if (after !== batch) putAutomatic(store, present, after, at)
  }
}

const isOpen = ({ end, isInHand }: StoredLine): boolean => end === null && !isInHand

/** Stores the lines in place of those with the same numbers. */
const replace = (present: StoredBatch, lines: ReadonlyArray<StoredLine>): void => {
  for (const line of lines) present.lines[line.line - 1] = line
}

const cancelled = ({ externalAccountNumber, line, sourceLine }: StoredLine): EndedLine => ({
  line,
  externalAccountNumber,
  outcome: "CANCELLED",
  text: JSON.stringify({
    line,
    external_account_number: externalAccountNumber,
    outcome: "CANCELLED",
    status: null,
    ...(sourceLine !== null && { source_line: sourceLine })
  }),
  problems: []
})

const cancelLines = (store: Store, at: DateTime.Utc): boolean => {
  for (const present of store.batches.values()) {
    const open = present.batch.isCancelled ? present.lines.filter(isOpen) : []
    if (open.length === 0) continue
    const { id, organisation } = present.batch
    const ended = open.map((line) => {
      const kept = lastStoredEnd(id, line.line, (key) => answerOf(store, { organisation, key }))
      return { line, end: { ...cancelled(line), ...kept } }
    })
    replace(
      present,
      ended.map(({ end, line }) => {
        const bytes = end.outcome === "CANCELLED" ? null : line.bytes
        return { ...line, bytes, end }
      })
    )
    for (const { line } of open) deleteKeysOfLine(store, present.batch, line)
    const outcomes = ended.map(({ end }) => end.outcome)
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

type Finishing = Parameters<ChunkInHand["finish"]>[0]

const finish = (store: Store, id: Batch.BatchId, finishing: Finishing): void => {
  const { at, caller, imports, readyAt, waitingFor, waits } = finishing
  const present = stored(store, id)
  const { batch: before } = present
  const together = imports.filter((made) => storeLineImport(store, made, before, caller))
  const ended = [
    ...finishing.ended,
    ...together.map(({ end }) => end),
    ...finishing.reverts.map((revert) => revert.endOf(revertNow(store, { ...revert, caller, at })))
  ]
  const postponed = [
    ...finishing.postponed,
    ...imports
      .filter((made) => !together.includes(made))
      .map(({ end: { line } }) => ({ line, isCounted: false }))
  ]
  const lineOf = (line: number): StoredLine => {
    const own = present.lines[line - 1] as StoredLine
    return { ...own, isInHand: false, abandoned: 0 }
  }
  replace(
    present,
    ended.map((end) => ({ ...lineOf(end.line), end }))
  )
  replace(
    present,
    postponed.map(({ isCounted, line }) => {
      const tries = lineOf(line).tries + (isCounted ? 1 : 0)
      return { ...lineOf(line), tries, waits, readyAt }
    })
  )
  for (const { line } of ended) deleteKeysOfLine(store, before, line)
  const outcomes = ended.map(({ outcome }) => outcome)
  putAutomatic(store, present, Batch.end(before, outcomes, at, waitingFor), at)
}

/** The lines of which some cannot be stored. */
const refusedLines = (
  store: Store,
  batch: Batch.Batch,
  { at, imports, reverts }: Finishing
): ReadonlyArray<number> => [
  ...(haveFreeNumbers(store, imports, batch) ? [] : imports.map(({ end }) => end.line)),
  ...reverts.flatMap((each) => (isToRevert(store, each, at) ? [] : [each.line]))
]

const take = (store: Store, { at, busy, last }: Command<"take">): Option.Option<ChunkInHand> => {
  for (const present of inTurn(store, last, busy)) {
    const lines = readyIn(present, at)
    if (lines.length === 0) continue
    replace(
      present,
      lines.map((line) => ({ ...line, isInHand: true, abandoned: line.abandoned + 1 }))
    )
    const batch = put(store, present, { ...present.batch, isTaken: true })
    return Option.some({
      batch,
      firstLine: Math.min(...lines.map(({ line }) => line)),
      lines,
      abandoned: Math.max(...lines.map(({ abandoned }) => abandoned)),
      waits: Math.max(...lines.map(({ waits }) => waits)),
      confirm: Effect.void,
      finish: (finishing) =>
        Effect.sync(() => {
          const refused = refusedLines(store, batch, finishing)
          if (refused.length === 0) finish(store, batch.id, finishing)
          return new Set(refused)
        })
    })
  }
  return Option.none()
}

/** Lines that were neither ended nor postponed can be taken again. Their worker has not died. */
const giveBack = (store: Store, { batch, lines }: ChunkInHand): void => {
  const present = stored(store, batch.id)
  for (const { line } of lines) {
    const own = present.lines[line - 1] as StoredLine
    const abandoned = own.isInHand ? own.abandoned - 1 : own.abandoned
    replace(present, [{ ...own, isInHand: false, abandoned }])
  }
}

export const layerMemory: Layer.Layer<Batches> = Layer.effect(
  Batches,
  Effect.zipWith(MemoryStore, BatchLimits, (store, limits) =>
    Batches.of({
      create: (asked) =>
        whileReserved(store, asked.recorder, () => Effect.sync(() => create(store, limits, asked))),
      find: (organisation, id) =>
        Effect.sync(() =>
          Option.filter(find(store, id), (batch) => batch.organisation === organisation)
        ),
      findOfAny: (id) => Effect.sync(() => find(store, id)),
      list: (query) => Effect.sync(() => list(store, query)),
      beginUpload: (id) => Effect.sync(() => beginUpload(store, id)),
      append: (command) =>
        Effect.map(Stored.isThere(store, command), () => append(store, limits, command)),
      change: (command) =>
        Effect.flatMap(Stored.isThere(store, command), () => change(store, limits, command)),
      cancelLines: (at) => Effect.sync(() => cancelLines(store, at)),
      take: (command) =>
        Effect.acquireRelease(
          Effect.sync(() => take(store, command)),
          (taken) => Effect.sync(() => Option.map(taken, (chunk) => giveBack(store, chunk)))
        ),
      review: (command) => Effect.sync(() => review(store, command)),
      results: (query) => Effect.sync(() => results(store, query)),
      lines: (query) => Effect.sync(() => listedLines(store, query)),
      problems: (query) => Effect.sync(() => problems(store, query)),
      rehearsed: (id) => Effect.sync(() => rehearsed(store, id)),
      deleteLines: (command) => Effect.sync(() => deleteLines(store, command)),
      overview: Effect.sync(() => overview(store)),
      reportWorker: ({ at, id }) => Effect.sync(() => void store.workers.set(id, at)),
      workersAlive: (since) =>
        Effect.sync(
          () => [...store.workers.values()].filter((at) => !DateTime.isLessThan(at, since)).length
        )
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
