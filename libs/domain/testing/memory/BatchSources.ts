/** Where the lines of batches in memory come from: an upload, an earlier batch, pending imports. */
import { DateTime, Order } from "effect"
import { detailedStateOf, isFailure } from "../../src/imports/ImportDetails.ts"
import { stateAt } from "../../src/imports/ImportProcess.ts"
import {
  type BatchId,
  type BatchSettings,
  endsWithAccount,
  hasEffect,
  type ImportedFilter,
  type PendingSelection,
  replacesStaged,
  stages
} from "../../src/batches/Batch.ts"
import type { ReceivedLine } from "../../src/batches/BatchLine.ts"
import { isErased } from "../../src/erasure/ErasedLine.ts"
import {
  codePointOrder,
  type MemoryStore,
  storedBatch as stored,
  type StoredBatch,
  type StoredImport,
  type StoredLine
} from "./Store.ts"

type Store = MemoryStore["Service"]

export const newLine = (
  line: number,
  { bytes, externalAccountNumber }: ReceivedLine,
  sourceLine: number | null = null
): StoredLine => ({
  line,
  bytes,
  externalAccountNumber,
  sourceLine,
  tries: 0,
  waits: 0,
  readyAt: null,
  isInHand: false,
  abandoned: 0,
  end: null
})

const isInPlatform = ({ end }: StoredLine): boolean =>
  end?.outcome === "SUCCEEDED" || end?.outcome === "ALREADY"

/** The number of the line in the batch that received it. */
const heldLine = (
  store: Store,
  { batch }: StoredBatch,
  { line, sourceLine }: StoredLine
): number => {
  const source = store.batches.get(batch.settings.retryOf ?? batch.id)
  const from = source?.lines.find((each) => each.line === sourceLine)
  return source && from ? heldLine(store, source, from) : line
}

/** The lines that other retries have done or have yet to do: a second one would repeat their effect. */
const doneAgain = (store: Store, linesOf: BatchId): ReadonlySet<number> =>
  new Set(
    [...store.batches.values()]
      .filter((retry) => retry.linesOf === linesOf && hasEffect(retry.batch.settings))
      .flatMap((retry) =>
        retry.lines
          .filter((line) => isInPlatform(line) || line.end === null)
          .map((line) => heldLine(store, retry, line))
      )
  )

/**
 * Whether something newer than the failed line was staged for its number: after the batch had
 * started, by whatever request. What the batch itself may have staged is no newer before its end:
 * another line that succeeded, or an import that was tried.
 */
const isStagedAnew = (
  store: Store,
  { batch, lines }: StoredBatch,
  settings: BatchSettings,
  number: string | null
): boolean => {
  const there = store.imports.get(settings.supplier)?.get(number ?? "")
  if (there === undefined || !replacesStaged(settings)) return false
  const isTried = there.attempts.some(
    ({ dryRun, startedAt }) => !dryRun && DateTime.isGreaterThanOrEqualTo(startedAt, there.stagedAt)
  )
  const isOwn =
    (settings.operation === "IMPORT" && isTried) ||
    lines.some(
      ({ end, externalAccountNumber }) =>
        externalAccountNumber === number && end?.outcome === "SUCCEEDED"
    )
  const since = isOwn ? batch.finishedAt : (batch.started?.at ?? null)
  return since !== null && DateTime.isGreaterThan(there.stagedAt, since)
}

/** Whether the lines are deleted that tell which accounts the batch of the filter has created. */
export const isCreatorDeleted = (store: Store, { imported }: BatchSettings): boolean =>
  imported?.batch_id !== undefined && stored(store, imported.batch_id).areLinesDeleted

/** Whether an open batch has lines that would be left out by now, or no longer finds them. */
export const isOvertaken = (store: Store, { batch, lines }: StoredBatch): boolean => {
  const { createdAt, settings, started } = batch
  if (isCreatorDeleted(store, settings)) return true
  if (settings.retryOf === null || started !== null || !endsWithAccount(settings)) return false
  const imports = store.imports.get(settings.supplier)
  return lines.some(({ externalAccountNumber }) => {
    const there = imports?.get(externalAccountNumber ?? "")
    if (there === undefined) return false
    const isAnew = replacesStaged(settings) && DateTime.isGreaterThan(there.stagedAt, createdAt)
    return there.process.account !== null || isAnew
  })
}

/**
 * The failed lines of a batch whose data no later line or other request has replaced, that no other
 * retry has, whose account was not imported and that were not erased, and the others' number.
 */
export const failedLines = (store: Store, source: StoredBatch, settings: BatchSettings) => {
  const { lines } = source
  const failed = lines.filter(({ end }) => end?.outcome === "FAILED")
  const isReplaced = ({ externalAccountNumber: number, line }: StoredLine) =>
    stages(source.batch.settings) &&
    number !== null &&
    lines.some(
      (later) => later.line > line && later.externalAccountNumber === number && isInPlatform(later)
    )
  const again = doneAgain(store, source.linesOf ?? source.batch.id)
  const isDoneAgain = (line: StoredLine) => again.has(heldLine(store, source, line))
  const imports = store.imports.get(settings.supplier)
  const isImported = ({ externalAccountNumber: number }: StoredLine) =>
    endsWithAccount(settings) && (imports?.get(number ?? "")?.process.account ?? null) !== null
  const kept = failed.filter(
    (line) =>
      !isReplaced(line) &&
      !isDoneAgain(line) &&
      !isImported(line) &&
      !isStagedAnew(store, source, settings, line.externalAccountNumber) &&
      !isErased(line.end?.text ?? "{}")
  )
  return {
    lines: kept.map((line, index) => newLine(index + 1, line, line.line)),
    leftOut: failed.length - kept.length
  }
}

const isSelected = (
  { code, cohort, corrected, failed, state }: PendingSelection,
  stored: StoredImport,
  at: DateTime.Utc
): boolean => {
  const last = stored.attempts.findLast(({ dryRun }) => !dryRun)
  const outcome = last?.outcome ?? null
  const hasFailed = outcome !== null && isFailure(outcome)
  const present = detailedStateOf(stored, at)
  const codes = [outcome ?? "lease_expired", ...(last?.errors.map((error) => error.code) ?? [])]
  return (
    (cohort === undefined || cohort === stored.cohort) &&
    (state === undefined || state === present) &&
    (corrected === undefined || (hasFailed && present === "PENDING")) &&
    (code === undefined || ((hasFailed || present === "FAILED") && codes.includes(code))) &&
    (failed === undefined || (failed ? hasFailed : last === undefined))
  )
}

interface AccountNamed {
  readonly kraken_account_number: string
}

/** The accounts that the batch has created, from the results of its lines. */
const createdBy = (store: Store, id: BatchId): ReadonlySet<string> =>
  new Set(
    stored(store, id).lines.flatMap(({ end }) => {
      if (end?.outcome !== "SUCCEEDED") return []
      const { kraken_account_number: number } = JSON.parse(end.text) as Partial<AccountNamed>
      return number ?? []
    })
  )

const isImportedIn = (
  { cohort, created_after: after, created_before: before }: ImportedFilter,
  { cohort: own, process: { account } }: StoredImport,
  created: ReadonlySet<string> | null
): boolean =>
  account !== null &&
  (created === null || created.has(account.number)) &&
  (cohort === undefined || cohort === own) &&
  (after === undefined || DateTime.isGreaterThan(account.createdAt, after)) &&
  (before === undefined || DateTime.isLessThan(account.createdAt, before))

/** A line for each import of the source, up to the limit. */
export const linesOfSource = (
  store: Store,
  { imported, pending, supplier }: BatchSettings,
  at: DateTime.Utc,
  limit: number
): Array<StoredLine> => {
  const creator = imported?.batch_id
  const created = creator === undefined ? null : createdBy(store, creator)
  return [...(store.imports.get(supplier)?.values() ?? [])]
    .filter((each) =>
      imported === null
        ? stateAt(each.process, at)._tag === "Pending" && isSelected(pending ?? {}, each, at)
        : isImportedIn(imported, each, created)
    )
    .map(({ process: { account, key } }) => ({ account, number: key.external_account_number }))
    .sort(Order.mapInput(codePointOrder, ({ number }) => number))
    .slice(0, limit)
    .map(({ account, number: externalAccountNumber }, index) => {
      const named = { external_account_number: externalAccountNumber }
      const text = JSON.stringify(
        imported === null ? named : { ...named, kraken_account_number: account?.number }
      )
      const bytes = new TextEncoder().encode(text)
      return newLine(index + 1, { bytes, externalAccountNumber })
    })
}
