/**
 * Reverts the account of an import: for the endpoint, for a line of a batch, and for the operator.
 * Source: docs/contract/reverts.md.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { ExternalAccountNumber, SupplierCodeField } from "../accounts/Account.ts"
import { factsAt } from "../accounts/AccountValidation.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { type Keep, keepFrom } from "../idempotency/IdempotencyKey.ts"
import { type Failure, keyInUse, NotFound, unavailable } from "../requests/Failure.ts"
import { judged } from "../requests/RequestValidation.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { validator } from "../schema/Validator.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { traced } from "../support/Traced.ts"
import type { NamedImport } from "./ImportChange.ts"
import type { ImportKey } from "./ImportProcess.ts"
import { decideRevert, type RevertPayload, RevertRequest } from "./Revert.ts"
import { type Reverted, Reverts } from "./Reverts.ts"

const revertRequest = validator({
  schema: RevertRequest,
  rules: { rules: [] },
  wrapper: "payload"
})

/** What was reverted, or would be. */
export interface RevertAnswer extends Reverted {
  readonly payload: RevertPayload
}

export class ImportRevert extends Context.Service<
  ImportRevert,
  {
    /**
     * Invalid names are reported as not found, after the errors of the parameters and the body. An
     * account that was reverted before is answered unchanged.
     */
    readonly revert: (
      caller: Caller,
      named: NamedImport,
      body: unknown,
      keep: Keep<RevertAnswer> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<RevertAnswer, Failure>
  }
>()("@data-import/domain/ImportRevert") {}

const keyOf = Schema.decodeUnknownOption(
  Schema.Struct({
    import_supplier: SupplierCodeField,
    external_account_number: ExternalAccountNumber
  })
)

const make = Effect.gen(function* () {
  const reverts = yield* Reverts
  const auditLog = yield* AuditLog
  const configuration = yield* Configuration
  const findSupplier = findOwnSupplier(configuration)

  const validated = Effect.fnUntraced(function* (
    body: unknown,
    parameterErrors: ReadonlyArray<FieldError>
  ) {
    const facts = factsAt(yield* DateTime.now)
    const valid = yield* inTimeSlices(() => revertRequest.validating(body, facts))
    const judgement = judged("request_failed_validation", parameterErrors, valid)
    const { payload } = yield* Effect.fromResult(judgement)
    return payload
  })

  const ownKey = Effect.fnUntraced(function* (caller: Caller, named: NamedImport) {
    const sent = keyOf(named)
    const code = Option.map(sent, ({ import_supplier }) => import_supplier)
    const supplier = yield* findSupplier(caller, code)
    if (Option.isNone(sent) || Option.isNone(supplier)) return yield* new NotFound()
    const { external_account_number } = sent.value
    return { import_supplier: supplier.value.code, external_account_number } satisfies ImportKey
  })

  const revert = Effect.fnUntraced(function* (
    caller: Caller,
    named: NamedImport,
    body: unknown,
    keep: Keep<RevertAnswer> | null,
    parameterErrors: ReadonlyArray<FieldError>
  ) {
    const payload = yield* validated(body, parameterErrors)
    const key = yield* ownKey(caller, named)
    const { dry_run: dryRun = false, reason, with_additions: withAdditions = false } = payload
    const number = payload.kraken_account_number
    const reverted = yield* reverts.revert({
      key,
      number,
      reason,
      dryRun,
      decide: (view) => decideRevert(key, view, { number, withAdditions }),
      caller,
      at: yield* DateTime.now,
      keep: keepFrom(keep, (done: Reverted) => ({ ...done, payload }))
    })
    if (Option.isNone(reverted)) return yield* new NotFound()
    return { ...reverted.value, payload }
  })

  return ImportRevert.of({
    revert: traced("ImportRevert.revert")((caller, named, body, keep, parameterErrors = []) =>
      revert(caller, named, body, keep, parameterErrors).pipe(
        Effect.catchTag("ReservationLost", () => keyInUse),
        recordRefusals({ auditLog, configuration }, "revert_import", caller, named),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )
    )
  })
})

export const layer = Layer.effect(ImportRevert, make)
