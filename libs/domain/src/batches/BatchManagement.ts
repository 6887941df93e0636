/**
 * Creates, starts, pauses, resumes and cancels batches, and reports their state.
 * Source: docs/contract/batches.md#creating-a-batch, docs/contract/batches.md#states.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import { SupplierCodeField } from "../accounts/Account.ts"
import * as Batch from "./Batch.ts"
import { type BatchBody, bodyOf, type CreatedBatchBody } from "./BatchBody.ts"
import { BatchLimits } from "./BatchLimits.ts"
import { clearedLines, type ProblemGroup } from "./Problems.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import { type AuditAction, AuditLog } from "../audit/AuditLog.ts"
import { Batches, type Created, type Results, type ResultsQuery } from "./Batches.ts"
import { Configuration } from "../suppliers/Configuration.ts"
import type { DocumentsUnavailable } from "../documents/Documents.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import {
  BatchLineCountMismatch,
  BatchLinesDeleted,
  limitExceeded,
  BatchStateConflict,
  documentsUnavailable,
  type Failure,
  keyInUse,
  NotFound,
  OperationsTeamDoesNotExist,
  PermissionDenied,
  unavailable,
  ValidationFailed
} from "../requests/Failure.ts"
import { type ResponseRecorder, recorderFrom } from "../idempotency/IdempotencyKey.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import type { FieldError } from "../schema/FieldErrors.ts"
import { factsAt } from "../accounts/AccountValidation.ts"
import { batchRequest, startRequest } from "./BatchValidation.ts"
import * as DocumentLookup from "../documents/DocumentLookup.ts"
import { aliveFor } from "./BatchMetrics.ts"
import { settingsOf } from "./NewBatch.ts"
import { findOwnSupplier } from "../suppliers/OwnSupplier.ts"
import {
  makeRequestValidator,
  payloadOf,
  type RequestValidator
} from "../requests/RequestValidation.ts"
import { recordRefusals } from "../audit/Audit.ts"
import { traced } from "../support/Traced.ts"

/** A change of state; `recorder` is null without an idempotency key. */
type Change = (
  caller: Caller,
  batch: string,
  recorder?: ResponseRecorder<BatchBody> | null
) => Effect.Effect<BatchBody, Failure>

/** The problems of the failed lines of a batch. */
export interface FailureReport {
  readonly failedLines: number
  readonly problems: ReadonlyArray<ProblemGroup & { readonly clearedLines: number }>
}

/** An unknown batch, or one of another organisation, is always `NotFound`. */
export class BatchManagement extends Context.Service<
  BatchManagement,
  {
    /** `parameterErrors`, here and below, are reported before the errors of the body. */
    readonly create: (
      caller: Caller,
      body: unknown,
      recorder?: ResponseRecorder<CreatedBatchBody> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<CreatedBatchBody, Failure>
    readonly find: (caller: Caller, batch: string) => Effect.Effect<BatchBody, Failure>
    /** Newest first; `after` is exclusive, and unknown text gives an empty list. */
    readonly list: (
      caller: Caller,
      supplier: string,
      page: { readonly after: string | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<BatchBody>, Failure>
    /** Closes the upload. The batch acts as the caller's key. */
    readonly start: (
      caller: Caller,
      batch: string,
      body: unknown,
      recorder?: ResponseRecorder<BatchBody> | null,
      parameterErrors?: ReadonlyArray<FieldError>
    ) => Effect.Effect<BatchBody, Failure>
    readonly pause: Change
    /** Lifts the caller's pause, the one after too many failures and that of a key. */
    readonly resume: Change
    readonly cancel: Change
    readonly results: (
      caller: Caller,
      batch: string,
      query: Omit<ResultsQuery, "id">
    ) => Effect.Effect<Results, Failure>
    readonly problems: (caller: Caller, batch: string) => Effect.Effect<FailureReport, Failure>
  }
>()("@data-import/domain/BatchManagement") {}

const batchId = Schema.decodeUnknownOption(Batch.BatchId)
const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

/** Whoever lets a batch revert accounts needs the scope of the single endpoint. */
const requireScope = (
  { scopes }: Caller,
  { operation }: { readonly operation: Batch.BatchOperation }
) =>
  operation === "REVERT" && !scopes.includes("import:revert") ? new PermissionDenied() : Effect.void

const newBatchId = Effect.sync(() => Batch.BatchId.make(crypto.randomUUID()))

type Decided = Result.Result<Batch.Batch, Batch.StateConflict | Batch.LineCountMismatch>

/** Makes the decision about a change at this time. */
type Decide = (
  at: DateTime.Utc
) => (batch: Batch.Batch, circumstances: Batch.StartCircumstances) => Decided

interface Dependencies {
  readonly batches: Batches["Service"]
  readonly configuration: Configuration["Service"]
  readonly limits: BatchLimits
  readonly requestValidator: RequestValidator
}

const ownById = Effect.fnUntraced(function* (
  { batches }: Pick<Dependencies, "batches">,
  caller: Caller,
  id: Batch.BatchId
) {
  const batch = yield* batches.find(caller.organisation, id)
  if (Option.isNone(batch)) return yield* new NotFound()
  yield* RequestFacts.noteBatch(batch.value)
  return batch.value
})

/** The batch of the caller's organisation that is named so. */
export const ownBatch = Effect.fnUntraced(function* (
  batches: Batches["Service"],
  caller: Caller,
  named: string
) {
  const id = batchId(named)
  return Option.isSome(id) ? yield* ownById({ batches }, caller, id.value) : yield* new NotFound()
})

const own = ({ batches }: Dependencies, caller: Caller, named: string) =>
  ownBatch(batches, caller, named)

/** A function that makes the bodies of batches, all as of now. */
export const bodies = Effect.fnUntraced(function* ({ batches }: Pick<Dependencies, "batches">) {
  const now = yield* DateTime.now
  const alive = yield* batches.workersAlive(DateTime.subtractDuration(now, aliveFor))
  return (batch: Batch.Batch): BatchBody => bodyOf(batch, alive > 0, now)
})

const createdBodyOf =
  (body: (batch: Batch.Batch) => BatchBody) =>
  ({ batch, leftOut }: Created): CreatedBatchBody => ({
    ...body(batch),
    ...(leftOut !== null && { lines_left_out: leftOut })
  })

const create = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  body: unknown,
  recorder: ResponseRecorder<CreatedBatchBody> | null,
  parameterErrors: ReadonlyArray<FieldError>
) {
  const { batches, configuration, limits, requestValidator } = deps
  const valid = yield* requestValidator.validate({
    validator: batchRequest,
    caller,
    body,
    payload: payloadOf(body),
    code: "request_failed_validation",
    parameterErrors
  })
  const { payload } = valid.body
  yield* requireScope(caller, payload)
  const find = (id: Batch.BatchId) => ownById(deps, caller, id)
  const settings = yield* settingsOf(find, valid.supplier.code, payload)
  const { operationsTeam: team } = settings
  if (team !== null && !(yield* configuration.hasTeam(team))) {
    return yield* new OperationsTeamDoesNotExist({ name: team })
  }
  const answerOf = createdBodyOf(yield* bodies(deps))
  const creating = yield* batches.create({
    id: yield* newBatchId,
    settings,
    limit: limits.unfinishedBatches,
    caller,
    at: valid.now,
    recorder: recorderFrom(recorder, answerOf)
  })
  switch (creating._tag) {
    case "Created":
      return answerOf(creating)
    case "LimitExceeded":
      yield* RequestFacts.note({ limit: "batches" })
      return yield* limitExceeded(creating.of, limits)
    case "LinesDeleted":
      return yield* new BatchLinesDeleted()
  }
})

/** Changes the state of a batch. `total` is the number of lines that a start states. */
const change = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  named: string,
  { action, decide, total = 0 }: { action: AuditAction; decide: Decide; total?: number },
  recorder: ResponseRecorder<BatchBody> | null
) {
  const { id, settings } = yield* own(deps, caller, named)
  if (action === "start_batch" || action === "resume_batch") yield* requireScope(caller, settings)
  const at = yield* DateTime.now
  const answerOf = yield* bodies(deps)
  const changed = deps.batches.change({
    id,
    decide: decide(at),
    action,
    caller,
    at,
    recorder: recorderFrom(recorder, answerOf)
  })
  return yield* Effect.map(changed, answerOf).pipe(
    Effect.catchTags({
      StateConflict: ({ _tag: _, ...conflict }) => new BatchStateConflict(conflict),
      LineCountMismatch: ({ received }) => new BatchLineCountMismatch({ total, received })
    })
  )
})

const start = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  named: string,
  body: unknown,
  recorder: ResponseRecorder<BatchBody> | null,
  parameterErrors: ReadonlyArray<FieldError>
) {
  const valid = startRequest.validate(body, factsAt(yield* DateTime.now))
  if (Result.isFailure(valid) || parameterErrors.length > 0) {
    const errors = [...parameterErrors, ...(Result.isFailure(valid) ? valid.failure : [])]
    return yield* new ValidationFailed({ code: "request_failed_validation", errors })
  }
  const { total_lines: total } = valid.success.payload
  const decide: Decide = (at) => (batch, circumstances) =>
    Batch.start(batch, total, { ...circumstances, at, apiKey: caller.apiKey })
  return yield* change(deps, caller, named, { action: "start_batch", decide, total }, recorder)
})

const list = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  named: string,
  { after, limit }: { readonly after: string | null; readonly limit: number }
) {
  const { batches, configuration } = deps
  const supplier = yield* findOwnSupplier(configuration)(caller, supplierCode(named))
  if (Option.isNone(supplier)) return yield* new NotFound()
  const from = after === null ? null : Option.getOrUndefined(batchId(after))
  if (from === undefined) return []
  const found = yield* batches.list({ supplier: supplier.value.code, after: from, limit })
  return found.map(yield* bodies(deps))
})

/** The maximum number of problems in an answer. */
export const problemsLimit = 1_000

const problems = Effect.fnUntraced(function* (deps: Dependencies, caller: Caller, named: string) {
  const { counts, id } = yield* own(deps, caller, named)
  const found = yield* deps.batches.problems({ id, limit: problemsLimit })
  const cleared = clearedLines(found)
  return {
    failedLines: counts.failed,
    problems: found.groups.map((group, index) => ({ ...group, clearedLines: cleared[index] ?? 0 }))
  }
})

type Refusal = Failure | DocumentsUnavailable | StorageUnavailable

const available = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
  Effect.catchTag(effect, "StorageUnavailable", () => unavailable)

const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const configuration = yield* Configuration
  const deps: Dependencies = {
    batches: yield* Batches,
    configuration,
    limits: yield* BatchLimits,
    requestValidator: makeRequestValidator(configuration, yield* DocumentLookup.DocumentLookup)
  }
  const audited =
    (action: AuditAction, caller: Caller, payload: unknown = null) =>
    <A>(effect: Effect.Effect<A, Refusal | ReservationLost>) =>
      effect.pipe(
        Effect.catchTags({
          DocumentsUnavailable: () => documentsUnavailable,
          ReservationLost: () => keyInUse
        }),
        recordRefusals({ auditLog, configuration }, action, caller, payload),
        available
      )
  const changing =
    (action: AuditAction, decide: (caller: Caller) => Decide): Change =>
    (caller, named, recorder = null) => {
      const decided = { action, decide: decide(caller) }
      return audited(action, caller)(change(deps, caller, named, decided, recorder))
    }

  return BatchManagement.of({
    create: traced("BatchManagement.create")((caller, body, recorder = null, errors = []) =>
      create(deps, caller, body, recorder, errors).pipe(
        audited("create_batch", caller, payloadOf(body))
      )
    ),
    find: traced("BatchManagement.find")((caller, named) =>
      available(
        Effect.gen(function* () {
          const batch = yield* own(deps, caller, named)
          return (yield* bodies(deps))(batch)
        })
      )
    ),
    list: traced("BatchManagement.list")((caller, supplier, page) =>
      available(list(deps, caller, supplier, page))
    ),
    start: traced("BatchManagement.start")((caller, named, body, recorder = null, errors = []) =>
      start(deps, caller, named, body, recorder, errors).pipe(audited("start_batch", caller))
    ),
    pause: changing("pause_batch", () => () => (batch) => Batch.pause(batch, "CALLER")),
    resume: changing(
      "resume_batch",
      ({ apiKey }) =>
        () =>
        (batch) =>
          Batch.resume(batch, ["CALLER", "FAILURES", "KEY"], apiKey)
    ),
    cancel: changing("cancel_batch", () => (at) => (batch) => Batch.cancel(batch, at)),
    results: traced("BatchManagement.results")((caller, named, query) =>
      available(
        Effect.flatMap(own(deps, caller, named), ({ id }) => deps.batches.results({ id, ...query }))
      )
    ),
    problems: traced("BatchManagement.problems")((caller, named) =>
      available(problems(deps, caller, named))
    )
  })
})

/** Needs the storage ports and the document store, which no request uses. */
export const layer = Layer.effect(BatchManagement, make).pipe(Layer.provide(DocumentLookup.layer))
