/**
 * What undoing a wave would do: how many of its accounts would be reverted, with their money and
 * what ends with them, and why the others would not be.
 * Source: docs/contract/board.md#undo-a-wave.
 */
import { DateTime, Duration, Effect, Stream } from "effect"
import type { AdditionCounts } from "../additions/AdditionCounts.ts"
import { windowEnd } from "../imports/Revert.ts"
import type { ImportSearch, WaveGroup } from "../migrations/ImportSearch.ts"
import type { SupplierSummaries } from "../migrations/SupplierSummaries.ts"
import type { RequestCode } from "../codes/Code.ts"
import { sum, twoDecimals } from "../schema/Decimal.ts"
import { formatInstant } from "../schema/Field.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import { compareCodePoints } from "../support/CodePoints.ts"

export interface UndoQuery {
  /** Null for the accounts of all cohorts, and of none. */
  readonly cohort: string | null
  readonly with_additions: boolean
}

interface Dependencies {
  readonly searching: ImportSearch["Service"]
  readonly summaries: SupplierSummaries["Service"]
}

const notOngoing = "import_supplier_migration_not_ongoing"
const windowClosed = "revert_window_closed"
const inProgress = "account_import_process_in_progress"

/** Why the accounts of a group are not reverted, as `decideRevert` decides; null if they are. */
const refusalOf = (
  { hasAdditions, hasPayload, isClosed }: WaveGroup,
  { status }: Supplier,
  withAdditions: boolean
): RequestCode | null => {
  if (status === "Complete") return notOngoing
  if (isClosed) return windowClosed
  if (hasAdditions && !withAdditions) return "account_has_additions"
  return hasPayload ? null : "payload_not_kept"
}

const accountsIn = (groups: ReadonlyArray<WaveGroup>): number =>
  groups.reduce((total, { accounts }) => total + accounts, 0)

const additionsOf = (groups: ReadonlyArray<WaveGroup>): AdditionCounts => {
  const total = (name: keyof AdditionCounts) =>
    groups.reduce((all, { additions }) => all + additions[name], 0)
  return {
    transactions: total("transactions"),
    notes: total("notes"),
    statements: total("statements"),
    payment_instructions: total("payment_instructions")
  }
}

/** The end of the window of an account of these: of the first that was created, or of the last. */
const closing = (
  groups: ReadonlyArray<WaveGroup>,
  which: "firstCreatedAt" | "lastCreatedAt",
  { revertWindow }: Supplier
): string | null => {
  const instants = groups.map((group) => group[which]).toSorted(DateTime.Order)
  const found = instants.at(which === "firstCreatedAt" ? 0 : -1)
  return found === undefined ? null : formatInstant(windowEnd(found, revertWindow))
}

const endedBody = (groups: ReadonlyArray<WaveGroup>, supplier: Supplier) => ({
  accounts: accountsIn(groups),
  balance: twoDecimals(sum(groups.map(({ balance }) => balance))),
  added: twoDecimals(sum(groups.map(({ added }) => added))),
  additions: additionsOf(groups),
  payment_instructions: [...Map.groupBy(groups, ({ vendor }) => vendor)]
    .flatMap(([vendor, own]) => (vendor === null ? [] : [{ vendor, accounts: accountsIn(own) }]))
    .toSorted((one, other) => compareCodePoints(one.vendor, other.vendor)),
  closes_at: closing(groups, "firstCreatedAt", supplier)
})

const refusedBody = (code: RequestCode, groups: ReadonlyArray<WaveGroup>, supplier: Supplier) => ({
  code: code as string,
  accounts: accountsIn(groups),
  closed_at: code === windowClosed ? closing(groups, "lastCreatedAt", supplier) : null
})

/** Reads the accounts a part at a time, each as it is at that time. */
export const undoPreview = Effect.fnUntraced(function* (
  { searching, summaries }: Dependencies,
  supplier: Supplier,
  { cohort, with_additions: withAdditions }: UndoQuery
) {
  const at = yield* DateTime.now
  const of = { supplier: supplier.code, cohort }
  const closedThrough = DateTime.subtractDuration(at, Duration.days(supplier.revertWindow))
  const groups = yield* Stream.runCollect(searching.wave({ ...of, closedThrough }))
  const { states } = yield* summaries.read({ ...of, at })
  const byRefusal = Map.groupBy(groups, (group) => refusalOf(group, supplier, withAdditions))
  const refused = [...byRefusal].flatMap(([code, own]) =>
    code === null ? [] : [refusedBody(code, own, supplier)]
  )
  const running = { code: inProgress as string, accounts: states.IN_PROGRESS, closed_at: null }
  return {
    at: formatInstant(at),
    total: accountsIn(groups) + states.IN_PROGRESS,
    ...endedBody(byRefusal.get(null) ?? [], supplier),
    refused: [...refused, running]
      .filter(({ accounts }) => accounts > 0)
      .toSorted(
        (one, other) => other.accounts - one.accounts || compareCodePoints(one.code, other.code)
      )
  }
})
