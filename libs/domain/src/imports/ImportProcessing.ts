/**
 * Reads what to process, and begins the attempt: for the endpoint, whose body says how, and for a
 * line of a batch, whose settings do.
 * Source: docs/contract/import.md#process, docs/contract/batches.md#operations.
 */
import { type DateTime, Effect, Option } from "effect"
import { type ImportKey, stateAt } from "./ImportProcess.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { AuditLog } from "../audit/AuditLog.ts"
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
import type { Keep } from "../idempotency/IdempotencyKey.ts"
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
import type { Created, makeAttempts } from "./ImportAttempt.ts"

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
  keep: Keep<Created> | null
) {
  yield* requireOngoing(supplier)
  const { dryRun, operationsTeam: team, since } = settings
  const { external_account_number } = named
  const key = { import_supplier: supplier.code, external_account_number }
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
  return { ...claim, key, dryRun, team, caller, configured, keep }
})

type Unavailable = DocumentsUnavailable | StorageUnavailable

export const makeProcessing = (deps: Dependencies) => {
  const attempt = (
    { body, caller }: Asked,
    reading: Effect.Effect<Processing, Failure | Unavailable>,
    keep: Keep<Created> | null
  ): Effect.Effect<Created, Failure> =>
    reading.pipe(
      Effect.flatMap((processing) => startAttempt(deps, caller, processing, keep)),
      Effect.catchTag("DocumentsUnavailable", () => documentsUnavailable),
      recordRefusals(deps, "process", caller, payloadOf(body)),
      Effect.flatMap(deps.attempts.run),
      Effect.catchTag("StorageUnavailable", () => unavailable)
    )
  return {
    process: (asked: Asked, keep: Keep<Created> | null) =>
      attempt(asked, readProcessing(deps, asked), keep),
    processLine: (asked: Asked, settings: ProcessSettings, keep: Keep<Created> | null) =>
      attempt(asked, readProcessingLine(deps, asked, settings), keep)
  }
}
