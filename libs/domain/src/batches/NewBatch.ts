/**
 * The settings of a batch that is created, which may refer to an earlier one.
 * Source: docs/contract/batches.md#creating-a-batch.
 */
import { Effect } from "effect"
import { BatchStateConflict, type Failure, ValidationFailed } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { type SupplierCode, wireCode } from "../suppliers/Supplier.ts"
import * as Batch from "./Batch.ts"
import type { BatchPayload } from "./BatchValidation.ts"

/** Finds a batch of the caller. */
type OwnBatch = (id: Batch.BatchId) => Effect.Effect<Batch.Batch, Failure | StorageUnavailable>

type Old = Partial<Batch.BatchSettings>

const revertOf = (
  { operation, reason = "", with_additions }: BatchPayload,
  { revert = null }: Old
): Batch.RevertSettings | null =>
  operation !== "REVERT"
    ? null
    : {
        reason: reason === "" ? (revert?.reason ?? "") : reason,
        withAdditions: with_additions ?? revert?.withAdditions ?? false
      }

/** Settings that a retry does not send are those of the old batch. */
const settingsFrom = (
  supplier: SupplierCode,
  payload: BatchPayload,
  old: Old = {}
): Batch.BatchSettings => ({
  supplier,
  operation: payload.operation,
  name: payload.name ?? old.name ?? null,
  operationsTeam: payload.operations_team_name ?? old.operationsTeam ?? null,
  dryRun: payload.dry_run ?? old.dryRun ?? false,
  cohort: payload.cohort ?? old.cohort ?? null,
  pending: payload.source === "PENDING" ? (payload.filter ?? {}) : null,
  imported: payload.source === "IMPORTED" ? (payload.filter ?? {}) : null,
  revert: revertOf(payload, old),
  retryOf: payload.retry_of ?? null,
  maxFailures: payload.max_failures ?? old.maxFailures ?? null,
  parameters: payload.parameters ?? old.parameters ?? {}
})

/** The settings of a batch whose failed lines are sent again. */
const retried = Effect.fnUntraced(function* (
  own: OwnBatch,
  { import_supplier, operation, retry_of }: BatchPayload
) {
  if (retry_of === undefined) return undefined
  const old = yield* own(retry_of)
  const state = Batch.stateOf(old)
  if (!Batch.isFinal(old) || old.finishedAt === null)
    return yield* new BatchStateConflict({ state })
  const { settings } = old
  const same = [
    ["import_supplier", import_supplier === wireCode(settings.supplier)],
    ["operation", operation === settings.operation]
  ] as const
  const errors = same.flatMap(([attr, isSame]): ReadonlyArray<FieldError> =>
    isSame ? [] : [{ attr, code: "invalid", detail: "Must be that of the retried batch." }]
  )
  const code = "request_failed_validation"
  return errors.length > 0 ? yield* new ValidationFailed({ code, errors }) : settings
})

/** Refuses a filter by a batch that creates no accounts of the supplier, or still does. */
const requireCreator = Effect.fnUntraced(function* (
  own: OwnBatch,
  { filter: { batch_id } = {}, import_supplier }: BatchPayload
) {
  if (batch_id === undefined) return
  const creator = yield* own(batch_id)
  const { settings } = creator
  if (import_supplier !== wireCode(settings.supplier) || !Batch.createsAccounts(settings)) {
    const detail = "Must be a batch of this supplier that has created accounts."
    const errors: ReadonlyArray<FieldError> = [{ attr: "filter.batch_id", code: "invalid", detail }]
    return yield* new ValidationFailed({ code: "request_failed_validation", errors })
  }
  if (!Batch.isFinal(creator) || creator.finishedAt === null) {
    return yield* new BatchStateConflict({ state: Batch.stateOf(creator) })
  }
})

/** The settings of the new batch; fails if it refers to a batch that does not allow it. */
export const settingsOf = Effect.fnUntraced(function* (
  own: OwnBatch,
  supplier: SupplierCode,
  payload: BatchPayload
) {
  const old = yield* retried(own, payload)
  yield* requireCreator(own, payload)
  return settingsFrom(supplier, payload, old)
})
