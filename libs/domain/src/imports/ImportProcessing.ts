/**
 * Reads what to process, and begins the attempt: for the endpoint, whose body says how, and for a
 * line of a batch, whose settings do.
 * Source: docs/contract/import.md#process, docs/contract/batches.md#operations.
 */
import { DateTime, Effect, Option, Result } from "effect"
import { type ImportKey, isFree, stateAt, stateSince } from "./ImportProcess.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import type { AuditLog } from "../audit/AuditLog.ts"
import type { LineImport } from "../batches/Batches.ts"
import type { Configuration } from "../suppliers/Configuration.ts"
import type { DocumentsUnavailable } from "../documents/Documents.ts"
import type { ImportProcesses } from "./ImportProcesses.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import {
  documentsUnavailable,
  type Failure,
  OperationsTeamDoesNotExist,
  unavailable
} from "../requests/Failure.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import { refusalOf } from "./ImportRefusal.ts"
import { decoderOf } from "../schema/Decoder.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { judgedBy } from "./JudgedBy.ts"
import { invalid } from "../schema/LeafDecoder.ts"
import {
  processLineRequest,
  ProcessPayload,
  processRequest
} from "../accounts/AccountValidation.ts"
import {
  payloadOf,
  type RequestValidator,
  requireOngoing,
  type ValidRequest
} from "../requests/RequestValidation.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { type Created, type makeAttempts, newAttemptId } from "./ImportAttempt.ts"

interface Dependencies {
  readonly processes: ImportProcesses["Service"]
  readonly configuration: Configuration["Service"]
  readonly auditLog: AuditLog["Service"]
  readonly hashing: Hashing["Service"]
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

const code = "account_failed_validation"

/** How the lines of a batch are processed. */
export interface ProcessSettings {
  readonly operationsTeam: string
  readonly dryRun: boolean
  /** When the batch started; null for a single request. As of `ImportProcesses.stage`. */
  readonly since: DateTime.Utc | null
}

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

/** An import to process, and how. */
interface Processing extends Pick<
  ValidRequest<unknown>,
  "configured" | "now" | "supplier" | "today"
> {
  readonly named: Pick<ImportKey, "external_account_number">
  readonly settings: ProcessSettings
  readonly isTeam: boolean
}

const keyOf = (
  { code: import_supplier }: Processing["supplier"],
  { external_account_number }: Processing["named"]
): ImportKey => ({ import_supplier, external_account_number })

/**
 * The team is looked up together with the configuration for validation, which takes no further
 * statement.
 */
const readProcessing = Effect.fnUntraced(function* (deps: Dependencies, asked: Asked) {
  const payload = payloadOf(asked.body)
  const request = { validator: processRequest, ...asked, payload, code } as const
  const [{ body, ...valid }, isTeam] = yield* Effect.all(
    [deps.requestValidator.validate(request), isTeamNamed(deps, payload)],
    { concurrency: "unbounded" }
  )
  const { dry_run: dryRun = false, operations_team_name: operationsTeam } = body.payload
  return {
    ...valid,
    named: body.payload,
    settings: { operationsTeam, dryRun, since: null },
    isTeam
  }
})

const readProcessingLine = Effect.fnUntraced(function* (
  deps: Dependencies,
  asked: Asked,
  settings: ProcessSettings
) {
  const payload = payloadOf(asked.body)
  const request = { validator: processLineRequest, ...asked, payload, code } as const
  const [{ body, ...valid }, isTeam] = yield* Effect.all(
    [deps.requestValidator.validate(request), deps.configuration.hasTeam(settings.operationsTeam)],
    { concurrency: "unbounded" }
  )
  return { ...valid, named: body.payload, settings, isTeam }
})

/** Everything that can refuse an attempt before it holds its import. */
const startAttempt = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  { configured, isTeam, named, now, settings, supplier, today }: Processing,
  recorder: ResponseRecorder<Created> | null
) {
  yield* requireOngoing(supplier)
  const { dryRun, operationsTeam: team, since } = settings
  const key = keyOf(supplier, named)
  if (!isTeam) return yield* refuseForTeam(deps, key, team, now)
  const limits = { deployment: deps.concurrencyLimit, supplier: supplier.concurrencyLimit }
  const by = judgedBy(deps.hashing, configured, today)
  const claim = yield* deps.attempts.claim({
    key,
    dryRun,
    since,
    limits,
    judgedBy: by,
    caller,
    at: now
  })
  if (claim._tag === "Refused") return yield* refusalOf(key, claim.found) ?? unavailable
  return { ...claim, key, dryRun, team, caller, configured, recorder }
})

/** Whether attempts are counted, so that they need leases. */
export const isLimited = (
  ofDeployment: number | null,
  { concurrencyLimit }: Pick<Supplier, "concurrencyLimit">
): boolean => ofDeployment !== null || concurrencyLimit !== null

/** What a line would process, unless it must run alone. */
const readAttempt = Effect.fnUntraced(function* (
  { concurrencyLimit, processes }: Dependencies,
  { isTeam, named, now, settings, supplier }: Processing,
  fits: (bytes: number) => boolean
) {
  yield* requireOngoing(supplier)
  if (!isTeam || isLimited(concurrencyLimit, supplier)) return null
  const key = keyOf(supplier, named)
  const found = yield* processes.present(key)
  if (Option.isNone(found)) return null
  const { process, staged } = found.value
  const isHeld = process.lease !== null || !isFree(stateSince(process, now, settings.since))
  if (isHeld || staged === null || typeof staged.payload !== "string") return null
  return fits(staged.payload.length) ? { key, hash: staged.hash, text: staged.payload } : null
})

/** The attempt that a line makes, without its lease. Null if it must run alone. */
const prepareLine = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  processing: Processing,
  fits: (bytes: number) => boolean
) {
  const { configured, now: startedAt, settings, today } = processing
  const { dryRun, operationsTeam: team } = settings
  const staged = yield* readAttempt(deps, processing, fits)
  if (staged === null) return null
  const judgement = yield* deps.attempts.judge({ caller, configured, team }, staged.text)
  if (judgement === null) return null
  const { hash, key } = staged
  const by = judgedBy(deps.hashing, configured, today)
  const attempt = { id: yield* newAttemptId, dryRun, startedAt, judgedBy: by, judgement }
  const at = Result.isSuccess(judgement) ? judgement.success.createdAt : yield* DateTime.now
  return { key, hash, at, staging: null, attempt } satisfies LineImport
})

type Unavailable = DocumentsUnavailable | StorageUnavailable

export const makeProcessing = (deps: Dependencies) => {
  /** Records what refuses an attempt before it begins. */
  const recorded =
    ({ body, caller }: Asked) =>
    <A>(beginning: Effect.Effect<A, Failure | Unavailable>) =>
      beginning.pipe(
        Effect.catchTag("DocumentsUnavailable", () => documentsUnavailable),
        recordRefusals(deps, "process", caller, payloadOf(body))
      )

  const attempt = (
    asked: Asked,
    reading: Effect.Effect<Processing, Failure | Unavailable>,
    recorder: ResponseRecorder<Created> | null
  ): Effect.Effect<Created, Failure> =>
    reading.pipe(
      Effect.flatMap((processing) => startAttempt(deps, asked.caller, processing, recorder)),
      recorded(asked),
      Effect.flatMap(deps.attempts.run),
      Effect.catchTag("StorageUnavailable", () => unavailable)
    )
  return {
    process: (asked: Asked, recorder: ResponseRecorder<Created> | null) =>
      attempt(asked, readProcessing(deps, asked), recorder),
    processLine: (
      asked: Asked,
      settings: ProcessSettings,
      recorder: ResponseRecorder<Created> | null
    ) => attempt(asked, readProcessingLine(deps, asked, settings), recorder),
    prepareLine: (asked: Asked, settings: ProcessSettings, fits: (bytes: number) => boolean) =>
      readProcessingLine(deps, asked, settings).pipe(
        Effect.flatMap((processing) => prepareLine(deps, asked.caller, processing, fits)),
        recorded(asked),
        Effect.catchTag("StorageUnavailable", () => unavailable)
      )
  }
}
