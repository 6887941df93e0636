/**
 * Changes the cohort of a pending import.
 * Source: docs/contract/import.md#changing-an-import.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { ExternalAccountNumber, SupplierCodeField } from "../accounts/Account.ts"
import { attemptsOfImport } from "./ImportDetails.ts"
import type { ImportKey, ImportState } from "./ImportProcess.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { ImportProcesses } from "./ImportProcesses.ts"
import {
  type Failure,
  MigrationNotOngoing,
  NotFound,
  unavailable,
  ValidationFailed
} from "../requests/Failure.ts"
import { refusalInState } from "./ImportRefusal.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { validator } from "../schema/Validator.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { Cohort, factsAt } from "../accounts/AccountValidation.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import { requireOngoing } from "../requests/RequestValidation.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { traced } from "../support/Traced.ts"
import type { ReadImport } from "./ImportQuery.ts"

/** A `cohort` of null removes the import from its cohort. */
export const ChangeRequest = Schema.Struct({ cohort: Schema.NullOr(Cohort) })

const changeRequest = validator({ schema: ChangeRequest, rules: { rules: [] }, wrapper: null })

/** An import as the path names it. */
export interface NamedImport {
  readonly import_supplier: string
  readonly external_account_number: string
}

export class ImportChange extends Context.Service<
  ImportChange,
  {
    /**
     * Changes the import and answers it. Invalid names are reported as not found, after the errors
     * of the parameters and the body.
     */
    readonly change: (
      caller: Caller,
      named: NamedImport,
      body: unknown,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<ReadImport, Failure>
  }
>()("@data-import/domain/ImportChange") {}

const keyOf = Schema.decodeUnknownOption(
  Schema.Struct({
    import_supplier: SupplierCodeField,
    external_account_number: ExternalAccountNumber
  })
)

const validated = Effect.fnUntraced(function* (
  body: unknown,
  parameterErrors: ReadonlyArray<FieldError>,
  now: DateTime.Utc
) {
  const code = "request_failed_validation"
  const valid = yield* inTimeSlices(() => changeRequest.validateInSteps(body, factsAt(now)))
  if (Result.isFailure(valid)) {
    const { errors, more } = valid.failure
    return yield* new ValidationFailed({ code, errors: [...parameterErrors, ...errors], more })
  }
  if (parameterErrors.length > 0) {
    return yield* new ValidationFailed({ code, errors: parameterErrors })
  }
  return valid.success
})

/** Why an import in this state cannot be changed. */
const refusalOf = (key: ImportKey, found: ImportState | null) =>
  (found && refusalInState(key, found)) ?? new NotFound()

const make = Effect.gen(function* () {
  const processes = yield* ImportProcesses
  const auditLog = yield* AuditLog
  const configuration = yield* Configuration
  const findSupplier = findOwnSupplier(configuration)

  const change = Effect.fnUntraced(function* (
    caller: Caller,
    named: NamedImport,
    body: unknown,
    parameterErrors: ReadonlyArray<FieldError>
  ) {
    const { cohort } = yield* validated(body, parameterErrors, yield* DateTime.now)
    const sent = keyOf(named)
    const code = Option.map(sent, ({ import_supplier }) => import_supplier)
    const supplier = yield* findSupplier(caller, code)
    if (Option.isNone(sent) || Option.isNone(supplier)) return yield* new NotFound()
    const { external_account_number } = sent.value
    const key = { import_supplier: supplier.value.code, external_account_number }
    yield* requireOngoing(supplier.value)
    const at = yield* DateTime.now
    const set = yield* processes.setCohort({ key, cohort, caller, at })
    if (set._tag === "Refused") return yield* refusalOf(key, set.found)
    if (set._tag === "NotOngoing") return yield* new MigrationNotOngoing({ status: set.status })
    const found = yield* processes.details(key, attemptsOfImport)
    const details = yield* Option.isSome(found) ? Effect.succeed(found.value) : unavailable
    return { details, at: yield* DateTime.now }
  })

  return ImportChange.of({
    change: traced("ImportChange.change")((caller, named, body, parameterErrors = []) =>
      change(caller, named, body, parameterErrors).pipe(
        recordRefusals({ auditLog, configuration }, "change_import", caller, named),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )
    )
  })
})

export const layer = Layer.effect(ImportChange, make)
