/**
 * Reverts the account of an import: for the endpoint, for a line of a batch, and for the operator.
 * Source: docs/contract/reverts.md.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import {
  AccountNumberField,
  ExternalAccountNumber,
  SupplierCodeField
} from "../accounts/Account.ts"
import { factsAt } from "../accounts/AccountValidation.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { type ResponseRecorder, recorderFrom } from "../idempotency/IdempotencyKey.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { type Failure, keyInUse, NotFound, unavailable } from "../requests/Failure.ts"
import { judged } from "../requests/RequestValidation.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { type Validator, validator } from "../schema/Validator.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { type FindOwnSupplier, findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { traced } from "../support/Traced.ts"
import type { NamedImport } from "./ImportChange.ts"
import type { ImportKey } from "./ImportProcess.ts"
import { decideRevert, type RevertPayload, RevertRequest, type RevertView } from "./Revert.ts"
import { type Reverted, type RevertOrder, Reverts } from "./Reverts.ts"

const revertRequest = validator({
  schema: RevertRequest,
  rules: { rules: [] },
  wrapper: "payload"
})

const revertLineRequest = validator({
  schema: Schema.Struct({
    import_supplier: SupplierCodeField,
    external_account_number: ExternalAccountNumber,
    kraken_account_number: AccountNumberField
  }),
  rules: { rules: [] },
  wrapper: null
})

/** How the lines of a batch are reverted. */
export interface RevertLineSettings {
  readonly reason: string
  readonly withAdditions: boolean
  readonly dryRun: boolean
}

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
      recorder: ResponseRecorder<RevertAnswer> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<RevertAnswer, Failure>
    /** The same for a line of a batch, which names the import and the account, and nothing else. */
    readonly revertLine: (
      caller: Caller,
      body: unknown,
      settings: RevertLineSettings,
      recorder: ResponseRecorder<RevertAnswer>,
      parameterErrors: ReadonlyArray<FieldError>
    ) => Effect.Effect<RevertAnswer, Failure>
    /** What such a line reverts, so that it is stored together with others. Stores nothing. */
    readonly prepareLine: (
      caller: Caller,
      body: unknown,
      settings: RevertLineSettings,
      parameterErrors: ReadonlyArray<FieldError>
    ) => Effect.Effect<RevertOrder, Failure>
  }
>()("@data-import/domain/ImportRevert") {}

const keyOf = Schema.decodeUnknownOption(
  Schema.Struct({
    import_supplier: SupplierCodeField,
    external_account_number: ExternalAccountNumber
  })
)

const validated = Effect.fnUntraced(function* <Body>(
  { validateInSteps }: Validator<Body>,
  body: unknown,
  parameterErrors: ReadonlyArray<FieldError>
) {
  const facts = factsAt(yield* DateTime.now)
  const valid = yield* inTimeSlices(() => validateInSteps(body, facts))
  const judgement = judged("request_failed_validation", parameterErrors, valid)
  return yield* Effect.fromResult(judgement)
})

const ownKey = Effect.fnUntraced(function* (
  findSupplier: FindOwnSupplier,
  caller: Caller,
  named: NamedImport
) {
  const sent = keyOf(named)
  const code = Option.map(sent, ({ import_supplier }) => import_supplier)
  const supplier = yield* findSupplier(caller, code)
  if (Option.isNone(sent) || Option.isNone(supplier)) return yield* new NotFound()
  const { external_account_number } = sent.value
  return { import_supplier: supplier.value.code, external_account_number } satisfies ImportKey
})

const ofLine = Effect.fnUntraced(function* (
  body: unknown,
  { dryRun, reason, withAdditions }: RevertLineSettings,
  errors: ReadonlyArray<FieldError>
) {
  const { kraken_account_number, ...named } = yield* validated(revertLineRequest, body, errors)
  const options = { with_additions: withAdditions, dry_run: dryRun }
  return { named, payload: { kraken_account_number, reason, ...options } }
})

const make = Effect.gen(function* () {
  const reverts = yield* Reverts
  const auditLog = yield* AuditLog
  const configuration = yield* Configuration
  const findSupplier = findOwnSupplier(configuration)

  const orderOf = Effect.fnUntraced(function* (
    caller: Caller,
    named: NamedImport,
    { kraken_account_number: number, reason, with_additions: withAdditions = false }: RevertPayload
  ) {
    const key = yield* ownKey(findSupplier, caller, named)
    const decide = (view: RevertView) => decideRevert(key, view, { number, withAdditions })
    return { key, number, reason, decide } satisfies RevertOrder
  })

  const revert = Effect.fnUntraced(function* (
    caller: Caller,
    named: NamedImport,
    payload: RevertPayload,
    recorder: ResponseRecorder<RevertAnswer> | null
  ) {
    const reverted = yield* reverts.revert({
      ...(yield* orderOf(caller, named, payload)),
      dryRun: payload.dry_run ?? false,
      caller,
      at: yield* DateTime.now,
      recorder: recorderFrom(recorder, (done: Reverted) => ({ ...done, payload }))
    })
    if (Option.isNone(reverted)) return yield* new NotFound()
    return { ...reverted.value, payload }
  })

  const recorded =
    (caller: Caller, named: unknown) =>
    <A>(effect: Effect.Effect<A, Failure | ReservationLost | StorageUnavailable>) =>
      effect.pipe(
        Effect.catchTag("ReservationLost", () => keyInUse),
        recordRefusals({ auditLog, configuration }, "revert_import", caller, named),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )

  return ImportRevert.of({
    revert: traced("ImportRevert.revert")((caller, named, body, recorder, parameterErrors = []) =>
      validated(revertRequest, body, parameterErrors).pipe(
        Effect.flatMap(({ payload }) => revert(caller, named, payload, recorder)),
        recorded(caller, named)
      )
    ),
    revertLine: traced("ImportRevert.revertLine")((caller, body, settings, recorder, errors) =>
      ofLine(body, settings, errors).pipe(
        Effect.flatMap(({ named, payload }) => revert(caller, named, payload, recorder)),
        recorded(caller, body)
      )
    ),
    prepareLine: traced("ImportRevert.prepareLine")((caller, body, settings, errors) =>
      ofLine(body, settings, errors).pipe(
        Effect.flatMap(({ named, payload }) => orderOf(caller, named, payload)),
        recorded(caller, body)
      )
    )
  })
})

export const layer = Layer.effect(ImportRevert, make)
