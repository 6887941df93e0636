/**
 * Records refused writes: the caller, the action and the code of the refusal. Storage records
 * granted writes in the same step as the change.
 */
import { DateTime, Effect } from "effect"
import type { AuditAction, AuditLog } from "../ports/AuditLog.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import { externalAccountNumberLength } from "../account/Account.ts"
import type { Failure } from "../requests/Failure.ts"
import type { Caller } from "../organisation/Organisation.ts"
import { supplierCodeLength } from "../organisation/Supplier.ts"

const named = (payload: unknown, field: string, length: number): string | null => {
  if (typeof payload !== "object" || payload === null || !Object.hasOwn(payload, field)) return null
  const value = (payload as Record<string, unknown>)[field]
  if (typeof value !== "string") return null
  return value.toWellFormed().replaceAll("\0", "").slice(0, length)
}

/** Records every refusal of `effect` except unavailability, which is not a decision. */
export const recordRefusals =
  (auditLog: AuditLog["Service"], action: AuditAction, caller: Caller, payload: unknown) =>
  <A, E extends Failure | StorageUnavailable, R>(
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | StorageUnavailable, R> =>
    Effect.tapError(effect, (refusal) => {
      if (refusal._tag === "StorageUnavailable" || refusal._tag === "ServiceUnavailable") {
        return Effect.void
      }
      return Effect.flatMap(DateTime.now, (at) =>
        auditLog.recordRefusal({
          key: {
            import_supplier: named(payload, "import_supplier", supplierCodeLength),
            external_account_number: named(
              payload,
              "external_account_number",
              externalAccountNumberLength
            )
          },
          action,
          outcome: refusal.code,
          caller,
          at
        })
      )
    })
