/**
 * Validates, stages and processes an account: the first half of a migration. A request is
 * acknowledged only after it is stored, is stored completely or not at all, and may be repeated.
 * Source: docs/contract/import.md#creating-an-account.
 */
import { Config, Context, type DateTime, Effect, Layer, Option, Result } from "effect"
import type { DocumentsUnavailable } from "../documents/Documents.ts"
import { AuditLog } from "../audit/AuditLog.ts"
import { Hashing } from "../requests/Hashing.ts"
import type { LineAttempt, LineImport } from "../batches/Batches.ts"
import type { Judged } from "../batches/BatchLine.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import { ImportProcesses, type Stored } from "./ImportProcesses.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import { type Account, accountTextInSteps } from "../accounts/Account.ts"
import { accountRequest } from "../accounts/AccountValidation.ts"
import { isLimited, makeProcessing, type ProcessSettings } from "./ImportProcessing.ts"
import { type Created, makeAttempts, newAccountOf, newAttemptId } from "./ImportAttempt.ts"
import { recordRefusals } from "../audit/Audit.ts"
import * as DocumentLookup from "../documents/DocumentLookup.ts"
import {
  type RequestValidator,
  makeRequestValidator,
  payloadOf,
  requireOngoing
} from "../requests/RequestValidation.ts"
import {
  documentsUnavailable,
  type Failure,
  ImportProcessDiffers,
  keyInUse,
  MigrationNotOngoing,
  OperationsTeamDoesNotExist,
  unavailable
} from "../requests/Failure.ts"
import { refusalInState } from "./ImportRefusal.ts"
import { refusedStaging } from "./StagingRefusal.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { type ResponseRecorder, recorderFrom } from "../idempotency/IdempotencyKey.ts"
import { type ImportKey, PayloadHash, stateAt } from "./ImportProcess.ts"
import { judgedBy } from "./JudgedBy.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import * as Settings from "../support/Settings.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { traced } from "../support/Traced.ts"

/** `first` is false for a staging that replaced pending data. */
export interface Staged {
  readonly first: boolean
  readonly key: ImportKey
  readonly hash: PayloadHash
}

export interface StagingParameters {
  /** Whether to refuse if other data is staged already. If not, it is replaced. */
  readonly createOnly: boolean
}

/** The staging of a line. `isSame` if the same payload was staged before. */
export interface StagedLine extends Staged {
  readonly isSame: boolean
}

export interface RehearsedLine {
  readonly account: Account
  readonly judged: Judged
}

/** The batch that stages a line. */
export interface StagingBatch {
  /** For lines without a cohort of their own. */
  readonly cohort: string | null
  /** When it started. */
  readonly since: DateTime.Utc
}

const code = "account_failed_validation"

export class AccountImport extends Context.Service<
  AccountImport,
  {
    /**
     * Answers the account as it would be stored. Ignores what is staged and the supplier's status.
     * `parameterErrors`, here and below, are reported before the errors of the body.
     */
    readonly validate: (
      caller: Caller,
      body: unknown,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<Account, Failure>
    /** Stores the account for processing. The last acknowledged payload is processed. */
    readonly stage: (
      caller: Caller,
      body: unknown,
      recorder?: ResponseRecorder<Staged> | null,
      parameters?: Result.Result<StagingParameters, ReadonlyArray<FieldError>>
    ) => Effect.Effect<Staged, Failure>
    /**
     * Like `stage`, for a line of a batch. The answer says whether the payload was staged before,
     * and so does the refusal `AlreadyImported`. An import whose account was reverted since the
     * batch started is refused.
     */
    readonly stageLine: (
      caller: Caller,
      body: unknown,
      recorder: ResponseRecorder<StagedLine>,
      parameterErrors: ReadonlyArray<FieldError>,
      batch: StagingBatch
    ) => Effect.Effect<StagedLine, Failure>
    /**
     * The import that a line of a batch would stage, and the account that it would create for the
     * team. Stores nothing. Null if the line must run alone: something is staged for its number,
     * the team does not exist, or attempts are limited. Records refusals as `stage` does.
     */
    readonly prepareLine: (
      caller: Caller,
      body: unknown,
      parameterErrors: ReadonlyArray<FieldError>,
      team: string | null
    ) => Effect.Effect<LineImport | null, Failure>
    /**
     * The account that a line of a batch would create for the team, and what judged it. Fails as
     * staging and processing it would, and stores nothing.
     */
    readonly rehearseLine: (
      caller: Caller,
      body: unknown,
      parameterErrors: ReadonlyArray<FieldError>,
      team: string
    ) => Effect.Effect<RehearsedLine, Failure>
    /**
     * Creates the platform account from the staged data, or with `dry_run` checks that it could.
     */
    readonly process: (
      caller: Caller,
      body: unknown,
      recorder?: ResponseRecorder<Created> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<Created, Failure>
    /**
     * Like `process`, for a line of a batch: the body names the import only, and the settings of
     * the batch say how it is processed.
     */
    readonly processLine: (
      caller: Caller,
      body: unknown,
      settings: ProcessSettings,
      recorder: ResponseRecorder<Created> | null,
      parameterErrors: ReadonlyArray<FieldError>
    ) => Effect.Effect<Created, Failure>
    /**
     * The attempt that such a line makes at what is staged now. Stores nothing. Null if the line
     * must run alone: the import is not pending or has a lease, its payload is large or does not
     * fit, the team does not exist, attempts are limited, or the judgement met an error. Records
     * refusals as `process` does.
     */
    readonly prepareProcessLine: (
      caller: Caller,
      body: unknown,
      settings: ProcessSettings,
      parameterErrors: ReadonlyArray<FieldError>,
      fits: (bytes: number) => boolean
    ) => Effect.Effect<LineImport | null, Failure>
  }
>()("@data-import/domain/AccountImport") {}

/** `CONCURRENCY_LIMIT` applies to the whole deployment. */
const settings = Config.all({
  lease: Settings.lease,
  concurrencyLimit: Settings.integer("CONCURRENCY_LIMIT", { minimum: 0, maximum: 1_000_000 })
    .optional
})

interface Dependencies {
  readonly hashing: Hashing["Service"]
  readonly processes: ImportProcesses["Service"]
  readonly configuration: Configuration["Service"]
  readonly requestValidator: RequestValidator
  readonly concurrencyLimit: number | null
}

/** The caller, the body as it was sent, and the errors of the parameters. */
interface Asked {
  readonly caller: Caller
  readonly body: unknown
  readonly parameterErrors: ReadonlyArray<FieldError>
}

const validateAccountRequest = (
  { requestValidator }: Dependencies,
  { body, caller, parameterErrors }: Asked
) =>
  requestValidator.validate({
    validator: accountRequest,
    caller,
    body,
    parameterErrors,
    payload: payloadOf(body),
    code
  })

/** Validates what is to be staged. Fails if the supplier does not accept imports. */
const validateStaging = Effect.fnUntraced(function* (deps: Dependencies, asked: Asked) {
  const valid = yield* validateAccountRequest(deps, asked)
  yield* requireOngoing(valid.supplier)
  const { external_account_number } = valid.body.payload
  const key = { import_supplier: valid.supplier.code, external_account_number }
  const payload = yield* inTimeSlices(() => accountTextInSteps(valid.body.payload))
  const hash = PayloadHash.make(deps.hashing.sha256(payload))
  const { cohort = null } = valid.body
  return { valid, staging: { key, payload, hash, cohort, caller: asked.caller, at: valid.now } }
})

type ValidStaging = Effect.Success<ReturnType<typeof validateStaging>>

const prepareLine = Effect.fnUntraced(function* (
  deps: Dependencies,
  asked: Asked,
  team: string | null
): Effect.fn.Return<LineImport | null, Failure | DocumentsUnavailable | StorageUnavailable> {
  const { staging, valid } = yield* validateStaging(deps, asked)
  const { at, cohort, hash, key, payload } = staging
  if (Option.isSome(yield* deps.processes.find(key))) return null
  const line = { key, hash, at, staging: { payload, cohort } }
  if (team === null) return { ...line, attempt: null }
  if (isLimited(deps.concurrencyLimit, valid.supplier)) return null
  if (!(yield* deps.configuration.hasTeam(team))) return null
  const account = { ...valid, body: valid.body.payload }
  const attempt: LineAttempt = {
    id: yield* newAttemptId,
    dryRun: false,
    startedAt: at,
    judgedBy: judgedBy(deps.hashing, valid.configured, valid.today),
    judgement: Result.succeed(yield* newAccountOf(account, team, at))
  }
  return { ...line, attempt }
})

/** What staging and processing the account would be refused for, apart from what it is. */
const rehearseLine = Effect.fnUntraced(function* (deps: Dependencies, asked: Asked, team: string) {
  const valid = yield* validateAccountRequest(deps, asked)
  const account = valid.body.payload
  const { external_account_number } = account
  const key = { import_supplier: valid.supplier.code, external_account_number }
  const payload = yield* inTimeSlices(() => accountTextInSteps(account))
  const hash = PayloadHash.make(deps.hashing.sha256(payload))
  const found = yield* deps.processes.find(key)
  if (Option.isSome(found)) {
    const state = stateAt(found.value, valid.now)
    if (state._tag === "Imported") {
      const isSame = yield* deps.processes.isStaged({ key, hash })
      const staging = { key, payload, caller: asked.caller, at: valid.now, isSame }
      return yield* refusedStaging(deps.processes, staging, valid.supplier, state)
    }
    const refusal = refusalInState(key, state)
    if (refusal !== null) return yield* refusal
  }
  if (!(yield* deps.configuration.hasTeam(team))) {
    return yield* new OperationsTeamDoesNotExist({ name: team })
  }
  const by = judgedBy(deps.hashing, valid.configured, valid.today)
  const judged: Judged = { payloadHash: hash, judgedBy: by, at: valid.now }
  return { account, judged } satisfies RehearsedLine
})

/** Stores a valid staging. Only its text stays in memory meanwhile; the account is far larger. */
const storing =
  (deps: Dependencies, recorder: ResponseRecorder<Staged> | null, createOnly: boolean) =>
  ({ staging: command, valid: { supplier } }: ValidStaging) =>
    Effect.gen(function* () {
      const { hash, key } = command
      const stagedAs = ({ _tag }: Stored): Staged => ({ first: _tag === "Created", key, hash })
      const recording = { createOnly, recorder: recorderFrom(recorder, stagedAs) }
      const staging = yield* deps.processes.stage({ ...command, ...recording })
      switch (staging._tag) {
        case "Refused":
          return yield* refusedStaging(deps.processes, command, supplier, staging.found)
        case "NotOngoing":
          return yield* new MigrationNotOngoing({ status: staging.status })
        case "Present":
          if (staging.hash === hash) return { first: false, key, hash }
          return yield* new ImportProcessDiffers({ key })
        default:
          return stagedAs(staging)
      }
    })

const stageLine = Effect.fnUntraced(function* (
  deps: Dependencies,
  asked: Asked,
  recorder: ResponseRecorder<StagedLine>,
  { cohort, since }: StagingBatch
) {
  const { staging: command, valid } = yield* validateStaging(deps, asked)
  const { cohort: own, hash, key } = command
  const isStaged = yield* deps.processes.isStaged(command)
  const stagedAs = ({ _tag }: Stored): StagedLine => ({
    first: _tag === "Created",
    key,
    hash,
    isSame: isStaged
  })
  const ofBatch = { cohort: own ?? cohort, since, recorder: recorderFrom(recorder, stagedAs) }
  const staging = yield* deps.processes.stage({ ...command, ...ofBatch })
  if (staging._tag === "Created" || staging._tag === "Replaced") return stagedAs(staging)
  if (staging._tag === "NotOngoing") {
    return yield* new MigrationNotOngoing({ status: staging.status })
  }
  if (staging._tag !== "Refused") return yield* unavailable
  const refused = { ...command, isSame: isStaged }
  return yield* refusedStaging(deps.processes, refused, valid.supplier, staging.found)
})

const available = <A>(
  effect: Effect.Effect<A, Failure | DocumentsUnavailable | StorageUnavailable>
): Effect.Effect<A, Failure> =>
  Effect.catchTags(effect, {
    StorageUnavailable: () => unavailable,
    DocumentsUnavailable: () => documentsUnavailable
  })

const replacing = Result.succeed<StagingParameters>({ createOnly: false })

const make = Effect.gen(function* () {
  const processes = yield* ImportProcesses
  const configuration = yield* Configuration
  const audit = { auditLog: yield* AuditLog, configuration }
  const { concurrencyLimit, lease } = yield* settings
  const requestValidator = makeRequestValidator(configuration, yield* DocumentLookup.DocumentLookup)
  const deps: Dependencies = {
    hashing: yield* Hashing,
    processes,
    configuration,
    requestValidator,
    concurrencyLimit: Option.getOrNull(concurrencyLimit)
  }
  const attempts = makeAttempts({ processes, requestValidator, lease })
  const processing = makeProcessing({ ...deps, ...audit, attempts })

  /** Records a refused staging. Failures of storage become failures of the service. */
  const recordStaging = <A>(
    { body, caller }: Asked,
    staging: Effect.Effect<A, Failure | DocumentsUnavailable | ReservationLost | StorageUnavailable>
  ) =>
    staging.pipe(
      Effect.catchTags({
        DocumentsUnavailable: () => documentsUnavailable,
        ReservationLost: () => keyInUse
      }),
      recordRefusals(audit, "stage", caller, payloadOf(body)),
      Effect.catchTag("StorageUnavailable", () => unavailable)
    )

  return AccountImport.of({
    validate: traced("AccountImport.validate")((caller, body, parameterErrors = []) =>
      validateAccountRequest(deps, { caller, body, parameterErrors }).pipe(
        Effect.map((valid) => valid.body.payload),
        available
      )
    ),
    rehearseLine: traced("AccountImport.rehearseLine")((caller, body, parameterErrors, team) =>
      available(rehearseLine(deps, { caller, body, parameterErrors }, team))
    ),
    stage: traced("AccountImport.stage")((caller, body, recorder = null, options = replacing) => {
      const parameterErrors = Result.isFailure(options) ? options.failure : []
      const createOnly = Result.isSuccess(options) && options.success.createOnly
      const asked = { caller, body, parameterErrors }
      const store = storing(deps, recorder, createOnly)
      return recordStaging(asked, Effect.flatMap(validateStaging(deps, asked), store))
    }),
    stageLine: traced("AccountImport.stageLine")((caller, body, recorder, errors, batch) => {
      const asked = { caller, body, parameterErrors: errors }
      return recordStaging(asked, stageLine(deps, asked, recorder, batch))
    }),
    prepareLine: traced("AccountImport.prepareLine")((caller, body, parameterErrors, team) => {
      const asked = { caller, body, parameterErrors }
      return recordStaging(asked, prepareLine(deps, asked, team))
    }),
    process: traced("AccountImport.process")((caller, body, recorder = null, errors = []) =>
      processing.process({ caller, body, parameterErrors: errors }, recorder)
    ),
    processLine: traced("AccountImport.processLine")((caller, body, batch, recorder, errors) =>
      processing.processLine({ caller, body, parameterErrors: errors }, batch, recorder)
    ),
    prepareProcessLine: traced("AccountImport.prepareProcessLine")(
      (caller, body, batch, parameterErrors, fits) =>
        processing.prepareLine({ caller, body, parameterErrors }, batch, fits)
    )
  })
})

/**
 * Needs the storage ports, the document store and the hash function; reads `LEASE` and
 * `CONCURRENCY_LIMIT`.
 */
export const layer = Layer.effect(AccountImport, make).pipe(Layer.provide(DocumentLookup.layer))
