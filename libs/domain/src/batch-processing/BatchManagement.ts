/**
 * Creates, starts, pauses, resumes and cancels batches, and tells how they stand.
 * Source: docs/contract/batches.md#creating-a-batch, docs/contract/batches.md#states.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Schema, type Stream } from "effect"
import { SupplierCodeField } from "../account/Account.ts"
import * as Batch from "../batch/Batch.ts"
import type { BatchEventName } from "../batch/BatchEvent.ts"
import { batchLimits, type LineEnd } from "../batch/BatchLine.ts"
import type { LineOutcome } from "../batch/Counts.ts"
import type { Caller } from "../organisation/Organisation.ts"
import { AuditLog } from "../ports/AuditLog.ts"
import { Batches, type ProblemGroup } from "../ports/Batches.ts"
import { Configuration } from "../ports/Configuration.ts"
import { Documents } from "../ports/Documents.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import {
  BatchLimitExceeded,
  BatchLineCountMismatch,
  BatchStateConflict,
  type Failure,
  NotFound,
  OperationsTeamDoesNotExist,
  unavailable,
  ValidationFailed
} from "../requests/Failure.ts"
import { factsAt } from "../validation/AccountValidation.ts"
import { type BatchPayload, batchRequest, startRequest } from "../validation/BatchValidation.ts"
import { findOwnSupplier } from "../validation/OwnSupplier.ts"
import { makeRequestValidator } from "../validation/RequestValidation.ts"
import { recordRefusals } from "../writes/Audit.ts"

interface ResultsQuery {
  readonly afterLine: number
  readonly outcome: LineOutcome | null
  readonly isComplete: boolean
}

type Change = (caller: Caller, batch: string) => Effect.Effect<Batch.Batch, Failure>

/** A batch that is unknown, or of another organisation, is `NotFound` everywhere. */
export class BatchManagement extends Context.Service<
  BatchManagement,
  {
    readonly create: (caller: Caller, body: unknown) => Effect.Effect<Batch.Batch, Failure>
    readonly find: (caller: Caller, batch: string) => Effect.Effect<Batch.Batch, Failure>
    /** Newest first; `after` is exclusive, and unknown text gives an empty list. */
    readonly list: (
      caller: Caller,
      supplier: string,
      page: { readonly after: string | null; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<Batch.Batch>, Failure>
    /** Closes the upload. The batch acts as the caller's key. */
    readonly start: (
      caller: Caller,
      batch: string,
      body: unknown
    ) => Effect.Effect<Batch.Batch, Failure>
    readonly pause: Change
    /** Lifts the caller's pause and the one after too many failures. */
    readonly resume: Change
    readonly cancel: Change
    readonly results: (
      caller: Caller,
      batch: string,
      query: ResultsQuery
    ) => Effect.Effect<Stream.Stream<Pick<LineEnd, "line" | "text">, StorageUnavailable>, Failure>
    readonly problems: (
      caller: Caller,
      batch: string
    ) => Effect.Effect<ReadonlyArray<ProblemGroup>, Failure>
  }
>()("@data-import/domain/BatchManagement") {}

const batchId = Schema.decodeUnknownOption(Batch.BatchId)
const supplierCode = Schema.decodeUnknownOption(SupplierCodeField)

const settingsOf = (payload: BatchPayload): Batch.BatchSettings => ({
  supplier: payload.import_supplier,
  operation: payload.operation,
  name: payload.name ?? null,
  operationsTeam: payload.operations_team_name ?? null,
  dryRun: payload.dry_run ?? false,
  cohort: payload.cohort ?? null,
  retryOf: payload.retry_of ?? null,
  maxFailures: payload.max_failures ?? null,
  parameters: payload.parameters ?? {}
})

const newBatchId = Effect.sync(() => Batch.BatchId.make(crypto.randomUUID()))

type Decide = (
  batch: Batch.Batch
) => Result.Result<Batch.Batch, Batch.StateConflict | Batch.LineCountMismatch>

interface Dependencies {
  readonly batches: Batches["Service"]
  readonly configuration: Configuration["Service"]
  readonly documents: Documents["Service"]
}

const own = Effect.fnUntraced(function* ({ batches }: Dependencies, caller: Caller, named: string) {
  const id = batchId(named)
  if (Option.isNone(id)) return yield* new NotFound()
  const batch = yield* batches.find(caller.organisation, id.value)
  return Option.isSome(batch) ? batch.value : yield* new NotFound()
})

const create = Effect.fnUntraced(function* (deps: Dependencies, caller: Caller, body: unknown) {
  const { batches, configuration, documents } = deps
  const { body: valid, now: at } = yield* makeRequestValidator(configuration, documents).validate({
    validator: batchRequest,
    caller,
    body,
    payload: payloadOf(body),
    code: "request_failed_validation"
  })
  const settings = settingsOf(valid.payload)
  const { operationsTeam: team } = settings
  if (team !== null && !(yield* configuration.hasTeam(team))) {
    return yield* new OperationsTeamDoesNotExist({ name: team })
  }
  const limit = batchLimits.unfinishedBatches
  const created = yield* batches.create({ id: yield* newBatchId, settings, limit, caller, at })
  return Option.isSome(created) ? created.value : yield* new BatchLimitExceeded({ of: "batches" })
})

const payloadOf = (body: unknown): unknown =>
  typeof body === "object" && body !== null && "payload" in body ? body.payload : undefined

/** Changes the state of a batch. The total is that of a start. */
const change = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  named: string,
  event: BatchEventName | null,
  decide: Decide,
  total: number
) {
  const { id } = yield* own(deps, caller, named)
  const at = yield* DateTime.now
  return yield* deps.batches.change({ id, decide, event, action: "change_batch", caller, at }).pipe(
    Effect.catchTags({
      StateConflict: ({ state }) => new BatchStateConflict({ state }),
      LineCountMismatch: ({ received }) => new BatchLineCountMismatch({ total, received })
    })
  )
})

const start = Effect.fnUntraced(function* (
  deps: Dependencies,
  caller: Caller,
  named: string,
  body: unknown
) {
  const at = yield* DateTime.now
  const valid = startRequest.validate(body, factsAt(at))
  if (Result.isFailure(valid)) {
    const code = "request_failed_validation"
    return yield* new ValidationFailed({ code, errors: valid.failure })
  }
  const { total_lines: total } = valid.success.payload
  const by = { at, apiKey: caller.apiKey }
  const event = "data_import.batch.started-v1"
  return yield* change(deps, caller, named, event, (batch) => Batch.start(batch, total, by), total)
})

const list = Effect.fnUntraced(function* (
  { batches, configuration }: Dependencies,
  caller: Caller,
  named: string,
  { after, limit }: { readonly after: string | null; readonly limit: number }
) {
  const supplier = yield* findOwnSupplier(configuration)(caller, supplierCode(named))
  if (Option.isNone(supplier)) return yield* new NotFound()
  const from = after === null ? null : Option.getOrUndefined(batchId(after))
  if (from === undefined) return []
  return yield* batches.list({ supplier: supplier.value.code, after: from, limit })
})

const make = Effect.gen(function* () {
  const auditLog = yield* AuditLog
  const deps: Dependencies = {
    batches: yield* Batches,
    configuration: yield* Configuration,
    documents: yield* Documents
  }
  const available = <A>(effect: Effect.Effect<A, Failure | StorageUnavailable>) =>
    Effect.catchTag(effect, "StorageUnavailable", () => unavailable)
  const changing =
    (event: BatchEventName, decide: (batch: Batch.Batch, at: DateTime.Utc) => ReturnType<Decide>) =>
    (caller: Caller, named: string) =>
      Effect.flatMap(DateTime.now, (at) =>
        change(deps, caller, named, event, (batch) => decide(batch, at), 0).pipe(
          recordRefusals(auditLog, "change_batch", caller, null),
          available
        )
      )

  return BatchManagement.of({
    create: Effect.fn("BatchManagement.create")((caller, body) =>
      create(deps, caller, body).pipe(
        Effect.catchTag("DocumentsUnavailable", () => Effect.fail(unavailable)),
        recordRefusals(auditLog, "create_batch", caller, payloadOf(body)),
        available
      )
    ),
    find: Effect.fn("BatchManagement.find")((caller, named) => available(own(deps, caller, named))),
    list: Effect.fn("BatchManagement.list")((caller, supplier, page) =>
      available(list(deps, caller, supplier, page))
    ),
    start: Effect.fn("BatchManagement.start")((caller, named, body) =>
      start(deps, caller, named, body).pipe(
        recordRefusals(auditLog, "change_batch", caller, null),
        available
      )
    ),
    pause: changing("data_import.batch.paused-v1", (batch) => Batch.pause(batch, "CALLER")),
    resume: changing("data_import.batch.started-v1", (batch) =>
      Batch.resume(batch, ["CALLER", "FAILURES"])
    ),
    cancel: changing("data_import.batch.cancelled-v1", Batch.cancel),
    results: Effect.fn("BatchManagement.results")((caller, named, query) =>
      available(
        Effect.map(own(deps, caller, named), ({ id }) => deps.batches.results({ id, ...query }))
      )
    ),
    problems: Effect.fn("BatchManagement.problems")((caller, named) =>
      available(Effect.flatMap(own(deps, caller, named), ({ id }) => deps.batches.problems(id)))
    )
  })
})

/** Needs the storage ports and the document store, which no request asks. */
export const layer = Layer.effect(BatchManagement, make)
