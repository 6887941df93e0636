/** Reads and writes the row of a batch. The domain decides its state. */
import { DateTime, Effect, Option, Schema } from "effect"
import type { Statement } from "effect/sql"
import {
  type Batch,
  BatchId,
  BatchOperation,
  BatchParameters,
  PauseReason,
  ImportedFilter,
  PendingSelection,
  RevertSettings,
  WaitingFor
} from "@data-import/domain/batches/Batch"
import { automaticChanges, eventsBetween } from "@data-import/domain/batches/BatchEvent"
import { ApiKeyId, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { NotFound } from "@data-import/domain/requests/Failure"
import { serviceFor } from "@data-import/domain/access/Operator"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { columnsOf } from "../tables/Selection.ts"

type Sql = Database["Service"]["sql"]

const Instant = Schema.DateTimeUtcFromDate

const Row = Schema.Struct({
  id: BatchId,
  organisation: OrganisationName,
  supplier: SupplierCode,
  operation: BatchOperation,
  name: Schema.NullOr(Schema.String),
  operationsTeam: Schema.NullOr(Schema.String),
  dryRun: Schema.Boolean,
  cohort: Schema.NullOr(Schema.String),
  pending: Schema.NullOr(PendingSelection),
  imported: Schema.NullOr(ImportedFilter),
  revert: Schema.NullOr(RevertSettings),
  retryOf: Schema.NullOr(BatchId),
  maxFailures: Schema.NullOr(Schema.Int),
  parameters: BatchParameters,
  createdAt: Instant,
  startedAt: Schema.NullOr(Instant),
  apiKey: Schema.NullOr(ApiKeyId),
  isTaken: Schema.Boolean,
  pausedBy: Schema.Array(PauseReason),
  acceptedFailures: Schema.Int,
  isCancelled: Schema.Boolean,
  finishedAt: Schema.NullOr(Instant),
  received: Schema.Int,
  succeeded: Schema.Int,
  already: Schema.Int,
  failed: Schema.Int,
  cancelled: Schema.Int,
  waitingFor: Schema.NullOr(WaitingFor),
  recent: Schema.Array(Schema.Tuple([Schema.Int, Schema.Int]))
})

export const batchColumns = columnsOf(Row.fields)

const decoded = rowsOf(Row)

const batchOf = (row: typeof Row.Type): Batch => {
  const { apiKey, startedAt } = row
  return {
    id: row.id,
    organisation: row.organisation,
    settings: {
      supplier: row.supplier,
      operation: row.operation,
      name: row.name,
      operationsTeam: row.operationsTeam,
      dryRun: row.dryRun,
      cohort: row.cohort,
      pending: row.pending,
      imported: row.imported,
      revert: row.revert,
      retryOf: row.retryOf,
      maxFailures: row.maxFailures,
      parameters: row.parameters
    },
    createdAt: row.createdAt,
    started: startedAt !== null && apiKey !== null ? { at: startedAt, apiKey } : null,
    isTaken: row.isTaken,
    pausedBy: new Set(row.pausedBy),
    acceptedFailures: row.acceptedFailures,
    isCancelled: row.isCancelled,
    finishedAt: row.finishedAt,
    counts: {
      received: row.received,
      succeeded: row.succeeded,
      already: row.already,
      failed: row.failed,
      cancelled: row.cancelled
    },
    waitingFor: row.waitingFor,
    recent: row.recent
  }
}

/** Decodes rows that select `batchColumns`. */
export const batchesIn = <E, R>(rows: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
  Effect.map(decoded(rows), (found) => found.map(batchOf))

/**
 * The batch, locked until the transaction ends. `NotFound` if it was deleted meanwhile, because its
 * test organisation was emptied.
 */
export const locked = (sql: Sql, id: BatchId) =>
  Effect.flatMap(
    batchesIn(sql`
      select ${sql.literal(batchColumns)} from batches where id = ${id} for no key update`),
    ([batch]) => (batch === undefined ? Effect.fail(new NotFound()) : Effect.succeed(batch))
  )

/**
 * Whether this release knows the batch's operation. Workers leave others to a release that does.
 */
export const isKnown = (sql: Sql) =>
  sql`batches.operation = any(${BatchOperation.literals}::text[])`

/** Whether the key is neither revoked nor expired, or not known. */
export const isKeyValid = (sql: Sql, id: Statement.Fragment, at: DateTime.Utc) => sql`
  not exists (select from api_keys where api_keys.id = ${id}
    and (revoked_at is not null or expires_at <= ${DateTime.toDateUtc(at)}))`

const orNull = (instant: DateTime.Utc | null | undefined): Date | null =>
  instant ? DateTime.toDateUtc(instant) : null

/**
 * Stores the state of a batch, and that it stores `more` bytes. What was asked for at its creation
 * never changes.
 */
export const store = (sql: Sql, batch: Batch, more = 0) => {
  const { already, cancelled, failed, received, succeeded } = batch.counts
  return sql`
    update batches set started_at = ${orNull(batch.started?.at)},
      api_key = ${batch.started?.apiKey ?? null}, is_taken = ${batch.isTaken},
      paused_by = ${[...batch.pausedBy]}::text[], accepted_failures = ${batch.acceptedFailures},
      is_cancelled = ${batch.isCancelled}, finished_at = ${orNull(batch.finishedAt)},
      received = ${received}, succeeded = ${succeeded}, already = ${already}, failed = ${failed},
      cancelled = ${cancelled}, waiting_for = ${batch.waitingFor},
      recent = ${JSON.stringify(batch.recent)}::json,
      stored_bytes = stored_bytes + ${more}
    where id = ${batch.id}`
}

/** Stores the batch with the events of its change, and that it stores `more` bytes. */
export const storeChange = Effect.fnUntraced(function* (
  sql: Sql,
  before: Batch,
  after: Batch,
  at: DateTime.Utc,
  more?: number
) {
  yield* store(sql, after, more)
  const events = eventsBetween(before, after)
  if (events.length === 0) return
  yield* sql`
    insert into outbox (at, name, batch, codes)
    select ${DateTime.toDateUtc(at)}, name, ${after.id}::uuid, '{}'
    from unnest(${events}::text[]) as event(name)`
})

/** Stores a change that nobody asked for, with its audit entries. */
export const storeAutomatic = Effect.fnUntraced(function* (
  sql: Sql,
  before: Batch,
  after: Batch,
  at: DateTime.Utc,
  more?: number
) {
  yield* storeChange(sql, before, after, at, more)
  const key = { import_supplier: after.settings.supplier, external_account_number: null }
  for (const change of automaticChanges(before, after)) {
    yield* sql`${auditEntry(sql, { ...change, at, caller: serviceFor(after), key }, sql``)}`
  }
})

export const find = (sql: Sql, id: BatchId) =>
  Effect.map(
    batchesIn(sql`select ${sql.literal(batchColumns)} from batches where id = ${id}`),
    ([batch]) => Option.fromUndefinedOr(batch)
  )
