/**
 * Validates, stages and processes an account: the first half of a migration. A request is
 * acknowledged only after it is stored, is stored completely or not at all, and may be repeated.
 * Source: docs/contract/import.md#creating-an-account.
 */
import { Config, Context, type DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import type { DocumentsUnavailable } from "../ports/Documents.ts"
import { AuditLog } from "../ports/AuditLog.ts"
import { Hashing } from "../ports/Hashing.ts"
import type { NewImport } from "../ports/Batches.ts"
import type { ReservationLost } from "../ports/IdempotencyKeys.ts"
import {
  ImportProcesses,
  type NewAccount,
  type PresentPayload,
  type Stored
} from "../ports/ImportProcesses.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import { Configuration } from "../ports/Configuration.ts"
import { Account, writingAccount, writingCanonicalAccount } from "../account/Account.ts"
import { accountRequest, ProcessPayload, processRequest } from "../validation/AccountValidation.ts"
import { type Created, makeAttempts, newAccountNumber, newAttemptId } from "./ImportAttempt.ts"
import { recordRefusals } from "../writes/Audit.ts"
import * as DocumentLookup from "../validation/DocumentLookup.ts"
import {
  type RequestValidator,
  makeRequestValidator,
  payloadOf,
  requireOngoing
} from "../validation/RequestValidation.ts"
import {
  AlreadyImported,
  documentsUnavailable,
  type Failure,
  ImportProcessDiffers,
  ImportProcessDoesNotExist,
  keyInUse,
  OperationsTeamDoesNotExist,
  unavailable
} from "../requests/Failure.ts"
import { refusalInState } from "../requests/ImportRefusal.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { type Keep, keepFrom } from "../requests/IdempotencyKey.ts"
import { type ImportKey, type ImportState, PayloadHash, stateAt } from "../account/ImportProcess.ts"
import type { Caller } from "../organisation/Organisation.ts"
import { decoderOf } from "../schema/Decoder.ts"
import * as Json from "../schema/Json.ts"
import { invalid } from "../schema/LeafDecoder.ts"
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

/** Why an import in this state can neither be staged nor processed; null if it can. */
const refusalOf = (key: ImportKey, found: ImportState | null) =>
  found === null ? new ImportProcessDoesNotExist({ key }) : refusalInState(key, found)

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
      keep?: Keep<Staged> | null,
      parameters?: Result.Result<StagingParameters, ReadonlyArray<FieldError>>
    ) => Effect.Effect<Staged, Failure>
    /**
     * Like `stage`, for a line of a batch. The answer says whether the payload was staged before,
     * and so does the refusal `AlreadyImported`. `cohort` is for lines without their own.
     */
    readonly stageLine: (
      caller: Caller,
      body: unknown,
      keep: Keep<StagedLine>,
      parameterErrors: ReadonlyArray<FieldError>,
      cohort: string | null
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
    ) => Effect.Effect<NewImport | null, Failure>
    /**
     * Creates the platform account from the staged data, or with `dry_run` checks that it could.
     */
    readonly process: (
      caller: Caller,
      body: unknown,
      keep?: Keep<Created> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<Created, Failure>
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
  readonly attempts: ReturnType<typeof makeAttempts>
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

const hashOf = ({ hashing }: Dependencies, account: Account) =>
  Effect.map(
    inTimeSlices(() => writingCanonicalAccount(account)),
    (text) => PayloadHash.make(hashing.sha256(text))
  )

const decodeAccount = Schema.decodeUnknownOption(Account)

/** Whether the staged payload has this hash. False if the text is no longer a valid account. */
const isSame = Effect.fnUntraced(function* (
  deps: Dependencies,
  staged: PresentPayload,
  hash: PayloadHash
) {
  if (staged.hash !== null) return staged.hash === hash
  const { payload } = staged
  const account = decodeAccount(Result.getOrThrow(yield* inTimeSlices(() => Json.parsing(payload))))
  return Option.isSome(account) && (yield* hashOf(deps, account.value)) === hash
})

/** Validates what is to be staged. Fails if the supplier does not accept imports. */
const validateStaging = Effect.fnUntraced(function* (deps: Dependencies, asked: Asked) {
  const valid = yield* validateAccountRequest(deps, asked)
  yield* requireOngoing(valid.supplier)
  const { external_account_number } = valid.body.payload
  const key = { import_supplier: valid.supplier.code, external_account_number }
  const payload = yield* inTimeSlices(() => writingAccount(valid.body.payload))
  const hash = yield* hashOf(deps, valid.body.payload)
  const { cohort = null } = valid.body
  return { valid, staging: { key, payload, hash, cohort, caller: asked.caller, at: valid.now } }
})

const prepareStaging = (deps: Dependencies, asked: Asked) =>
  Effect.map(validateStaging(deps, asked), ({ staging }) => staging)

const prepareLine = Effect.fnUntraced(function* (
  deps: Dependencies,
  asked: Asked,
  team: string | null
) {
  const { staging, valid } = yield* validateStaging(deps, asked)
  const { caller: _, ...staged } = staging
  const { at, key } = staging
  if (Option.isSome(yield* deps.processes.find(key))) return null
  if (team === null) return { ...staged, creation: null }
  const isLimited = deps.concurrencyLimit !== null || valid.supplier.concurrencyLimit !== null
  if (isLimited || !(yield* deps.configuration.hasTeam(team))) return null
  const newAccount: NewAccount = {
    number: yield* newAccountNumber,
    account: valid.body.payload,
    operationsTeam: team,
    documents: valid.documents,
    customerEmails: valid.supplier.customerEmails,
    createdAt: at
  }
  return { ...staged, creation: { attempt: yield* newAttemptId, newAccount } }
})

const stage = Effect.fnUntraced(function* (
  deps: Dependencies,
  asked: Asked,
  keep: Keep<Staged> | null,
  createOnly: boolean
) {
  const command = yield* prepareStaging(deps, asked)
  const { hash, key } = command
  const stagedAs = ({ _tag }: Stored): Staged => ({ first: _tag === "Created", key, hash })
  const keeping = keepFrom(keep, stagedAs)
  const staging = yield* deps.processes.stage({ ...command, createOnly, keep: keeping })
  switch (staging._tag) {
    case "Refused":
      return yield* refusalOf(key, staging.found) ?? unavailable
    case "Present":
      if (yield* isSame(deps, staging, hash)) return { first: false, key, hash }
      return yield* new ImportProcessDiffers({ key })
    default:
      return stagedAs(staging)
  }
})

const stageLine = Effect.fnUntraced(function* (
  deps: Dependencies,
  asked: Asked,
  keep: Keep<StagedLine>,
  cohort: string | null
) {
  const command = yield* prepareStaging(deps, asked)
  const { cohort: own, hash, key } = command
  const isStaged = yield* deps.processes.isStaged(command)
  const stagedAs = ({ _tag }: Stored): StagedLine => ({
    first: _tag === "Created",
    key,
    hash,
    isSame: isStaged
  })
  const keeping = keepFrom(keep, stagedAs)
  const staging = yield* deps.processes.stage({ ...command, cohort: own ?? cohort, keep: keeping })
  if (staging._tag === "Created" || staging._tag === "Replaced") return stagedAs(staging)
  const refusal = (staging._tag === "Refused" && refusalOf(key, staging.found)) || unavailable
  return yield* refusal._tag === "AlreadyImported"
    ? new AlreadyImported({ key, accountNumber: refusal.accountNumber, isSame: isStaged })
    : refusal
})

/** The team is checked after the import's state, but is looked up before the attempt begins. */
const refuseForTeam = Effect.fnUntraced(function* (
  { processes }: Dependencies,
  key: ImportKey,
  name: string,
  now: DateTime.Utc
) {
  const found = yield* processes.find(key)
  const state = Option.match(found, {
    onNone: () => null,
    onSome: (process) => stateAt(process, now)
  })
  return yield* refusalOf(key, state) ?? new OperationsTeamDoesNotExist({ name })
})

const readTeam = decoderOf(ProcessPayload.fields.operations_team_name)

/** Whether the payload names a team that exists. */
const isTeamNamed = ({ configuration }: Dependencies, payload: unknown) => {
  const isObject = typeof payload === "object" && payload !== null
  const team = isObject && "operations_team_name" in payload ? payload.operations_team_name : null
  const name = readTeam(team)
  return name === invalid ? Effect.succeed(false) : configuration.hasTeam(name as string)
}

/**
 * Everything that can refuse an attempt before it holds its import. The team is looked up together
 * with the configuration for validation, which takes no further statement.
 */
const startAttempt = Effect.fnUntraced(function* (
  deps: Dependencies,
  asked: Asked,
  keep: Keep<Created> | null
) {
  const { caller } = asked
  const payload = payloadOf(asked.body)
  const request = { validator: processRequest, ...asked, payload, code } as const
  const [{ body: valid, configured, now, supplier }, isTeam] = yield* Effect.all(
    [deps.requestValidator.validate(request), isTeamNamed(deps, payload)],
    { concurrency: "unbounded" }
  )
  yield* requireOngoing(supplier)
  const { dry_run: dryRun = false, operations_team_name: team } = valid.payload
  const { external_account_number } = valid.payload
  const key = { import_supplier: supplier.code, external_account_number }
  if (!isTeam) return yield* refuseForTeam(deps, key, team, now)
  const limits = { deployment: deps.concurrencyLimit, supplier: supplier.concurrencyLimit }
  const claim = yield* deps.attempts.claim({ key, dryRun, limits, caller, at: now })
  if (claim._tag === "Refused") return yield* refusalOf(key, claim.found) ?? unavailable
  return { ...claim, key, dryRun, team, caller, configured, keep }
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
    attempts: makeAttempts({ processes, requestValidator, lease }),
    concurrencyLimit: Option.getOrNull(concurrencyLimit)
  }

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
        Effect.catchTags({
          StorageUnavailable: () => unavailable,
          DocumentsUnavailable: () => documentsUnavailable
        })
      )
    ),
    stage: traced("AccountImport.stage")((caller, body, keep = null, parameters = replacing) => {
      const parameterErrors = Result.isFailure(parameters) ? parameters.failure : []
      const createOnly = Result.isSuccess(parameters) && parameters.success.createOnly
      const asked = { caller, body, parameterErrors }
      return recordStaging(asked, stage(deps, asked, keep, createOnly))
    }),
    stageLine: traced("AccountImport.stageLine")((caller, body, keep, parameterErrors, cohort) => {
      const asked = { caller, body, parameterErrors }
      return recordStaging(asked, stageLine(deps, asked, keep, cohort))
    }),
    prepareLine: traced("AccountImport.prepareLine")((caller, body, parameterErrors, team) => {
      const asked = { caller, body, parameterErrors }
      return recordStaging(asked, prepareLine(deps, asked, team))
    }),
    process: traced("AccountImport.process")((caller, body, keep = null, parameterErrors = []) =>
      startAttempt(deps, { caller, body, parameterErrors }, keep).pipe(
        Effect.catchTag("DocumentsUnavailable", () => documentsUnavailable),
        recordRefusals(audit, "process", caller, payloadOf(body)),
        Effect.flatMap(deps.attempts.run),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )
    )
  })
})

/**
 * Needs the storage ports, the document store and the hash function; reads `LEASE` and
 * `CONCURRENCY_LIMIT`.
 */
export const layer = Layer.effect(AccountImport, make).pipe(Layer.provide(DocumentLookup.layer))
