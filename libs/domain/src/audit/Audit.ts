/**
 * Records refused writes: the caller, the action and the code of the refusal. Storage records
 * granted writes in the same step as the change.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import type { AuditAction, AuditLog, RefusedKey } from "./AuditLog.ts"
import type { Configuration } from "../suppliers/Configuration.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { ExternalAccountNumber } from "../accounts/Account.ts"
import type { Failure } from "../requests/Failure.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { codeIn, type Supplier } from "../suppliers/Supplier.ts"
import { namedSupplier } from "../suppliers/NamedSupplier.ts"

const accountNumber = Schema.decodeUnknownOption(
  Schema.Struct({ external_account_number: ExternalAccountNumber })
)

/** The supplier and number that a payload names, without free text: see `RefusedKey`. */
const refusedKey = Effect.fnUntraced(function* (
  configuration: Configuration["Service"],
  caller: Caller,
  payload: unknown
): Effect.fn.Return<RefusedKey, StorageUnavailable> {
  const code = namedSupplier(payload)
  const nothing = { import_supplier: null, external_account_number: null }
  if (Option.isNone(code)) return nothing
  const isOwn = ({ organisation }: Supplier) => organisation === caller.organisation
  const live = yield* configuration.supplier(codeIn("live", code.value))
  const own = Option.exists(live, isOwn)
    ? live
    : Option.filter(yield* configuration.supplier(codeIn("test", code.value)), isOwn)
  const supplier = Option.orElse(own, () => live)
  if (Option.isNone(supplier)) return nothing
  const named = Option.isSome(own) ? accountNumber(payload) : Option.none()
  return {
    import_supplier: supplier.value.code,
    external_account_number: Option.isSome(named) ? named.value.external_account_number : null
  }
})

/** Records every refusal of an effect except unavailability, which is not a decision. */
const recording =
  (
    auditLog: AuditLog["Service"],
    action: AuditAction,
    caller: Caller,
    readKey: Effect.Effect<RefusedKey, StorageUnavailable>
  ) =>
  <A, E extends Failure | StorageUnavailable, R>(
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | StorageUnavailable, R> =>
    Effect.tapError(effect, (refusal) =>
      refusal._tag === "StorageUnavailable" || refusal._tag === "ServiceUnavailable"
        ? Effect.void
        : Effect.flatMap(Effect.all([readKey, DateTime.now]), ([key, at]) =>
            auditLog.recordRefusal({ key, action, outcome: refusal.code, caller, at })
          )
    )

/** Records refusals with what the payload names. */
export const recordRefusals = (
  {
    auditLog,
    configuration
  }: {
    readonly auditLog: AuditLog["Service"]
    readonly configuration: Configuration["Service"]
  },
  action: AuditAction,
  caller: Caller,
  payload: unknown
) => recording(auditLog, action, caller, refusedKey(configuration, caller, payload))

/** Records refusals of what is done to this supplier. */
export const recordRefusalsOf = (
  auditLog: AuditLog["Service"],
  action: AuditAction,
  caller: Caller,
  { code }: Pick<Supplier, "code">
) => {
  const key = { import_supplier: code, external_account_number: null }
  return recording(auditLog, action, caller, Effect.succeed(key))
}
