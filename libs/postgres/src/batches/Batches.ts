/** Batches in PostgreSQL: a row with the counts, and their lines in chunks. */
import { Data, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import * as Batch from "@data-import/domain/batches/Batch"
import { BatchId } from "@data-import/domain/batches/Batch"
import { BatchLimits } from "@data-import/domain/batches/BatchLimits"
import type { AuditAction } from "@data-import/domain/audit/AuditLog"
import {
  type BatchChange,
  Batches,
  type Created,
  type Creating,
  type Overview
} from "@data-import/domain/batches/Batches"
import { SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { isByPerson } from "@data-import/domain/access/Operator"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { recordUnchanged } from "../audit/Refusals.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { keepInTransaction } from "../idempotency/StoredAnswers.ts"
import * as BatchRow from "./BatchRow.ts"
import * as Cancellation from "./Cancellation.ts"
import * as Chunks from "./Chunks.ts"
import * as Deletion from "./Deletion.ts"
import * as Lines from "./Lines.ts"
import * as Problems from "./Problems.ts"
import * as Rehearsed from "./Rehearsed.ts"
import * as Results from "./Results.ts"
import * as Sources from "./Sources.ts"

type Sql = Database["Service"]["sql"]
type Port = Batches["Service"]
type Create = Parameters<Port["create"]>[0]

const limitExceeded = (of: "batches" | "lines" | "stored"): Creating => ({
  _tag: "LimitExceeded",
  of
})

const bytesRows = rowsOf(Schema.Struct({ unfinished: Schema.BigInt, stored: Schema.BigInt }))

/** The batch with the failed lines of the one that it retries. */
const filledAgain = Effect.fnUntraced(function* (sql: Sql, old: BatchId, open: Batch.Batch) {
  const { bytes, leftOut, lines } = yield* Sources.fillAgain(sql, old, open)
  const batch = yield* Effect.fromResult(Batch.receive(open, lines)).pipe(Effect.orDie)
  yield* BatchRow.store(sql, batch)
  yield* sql`update batches set bytes = ${bytes} where id = ${batch.id}`
  return { batch, leftOut }
})

/** What the organisation has more bytes of than it may. */
const exceededBytes = Effect.fnUntraced(function* (
  sql: Sql,
  limits: BatchLimits,
  { organisation }: Batch.Batch
) {
  const [sum] = yield* bytesRows(sql`
    select ${Lines.bytesOf(sql, organisation)} as unfinished,
      ${Lines.storedBytesOf(sql, organisation)} as stored`)
  if (Number(sum?.unfinished ?? 0) > limits.bytesOfOrganisation) return "lines"
  return Number(sum?.stored ?? 0) > limits.storedBytes ? "stored" : null
})

const encodeFilter = Schema.encodeSync(Batch.ImportedFilter)

class Refused extends Data.TaggedError("Refused")<{ readonly creating: Creating }> {}

/**
 * The organisation's batches are counted under a lock, so that two creations see each other. A
 * refusal fails, so that the transaction is rolled back.
 */
const create = Effect.fnUntraced(function* (sql: Sql, limits: BatchLimits, command: Create) {
  const { at, caller, id, recorder = null, limit, settings } = command
  const { organisation } = caller
  const { imported, pending, retryOf, revert } = settings
  yield* sql`select pg_advisory_xact_lock(hashtextextended(${`batches ${organisation}`}, 0))`
  const [open] = yield* BatchRow.batchesIn(sql`
    insert into batches (id, organisation, supplier, operation, name, operations_team, dry_run,
      cohort, pending, imported, revert, retry_of, lines_of, max_failures, parameters, created_at)
    select ${id}, ${organisation}, ${settings.supplier}, ${settings.operation}, ${settings.name},
      ${settings.operationsTeam}, ${settings.dryRun}, ${settings.cohort},
      ${pending && JSON.stringify(pending)}::json,
      ${imported && JSON.stringify(encodeFilter(imported))}::json,
      ${revert && JSON.stringify(revert)}::json, ${retryOf},
      (select coalesce(lines_of, id) from batches where id = ${retryOf}),
      ${settings.maxFailures}, ${JSON.stringify(settings.parameters)}::json,
      ${DateTime.toDateUtc(at)}
    where (select count(*) from batches
      where organisation = ${organisation} and finished_at is null) < ${limit}
    on conflict on constraint batches_pkey do nothing
    returning ${sql.literal(BatchRow.batchColumns)}`)
  if (open === undefined) {
    const present = yield* BatchRow.find(sql, id)
    return yield* Option.match(present, {
      onNone: () => new Refused({ creating: limitExceeded("batches") }),
      onSome: (batch) => Effect.succeed<Created>({ _tag: "Created", batch, leftOut: null })
    })
  }
  let created: Created = { _tag: "Created", batch: open, leftOut: null }
  if (yield* Sources.areDeleted(sql, settings)) {
    return yield* new Refused({ creating: { _tag: "LinesDeleted" } })
  }
  if (retryOf !== null) {
    created = { ...created, ...(yield* filledAgain(sql, retryOf, open)) }
  }
  if (retryOf !== null || Batch.hasSource(settings)) {
    const exceeded = yield* exceededBytes(sql, limits, open)
    if (exceeded !== null) return yield* new Refused({ creating: limitExceeded(exceeded) })
  }
  yield* sql`${auditEntry(sql, auditOf(open, command, "create_batch", "created"), sql``)}`
  yield* keepInTransaction(sql, recorder, created, at)
  return created
})

/** What was done to a batch, for the audit log. */
const auditOf = (
  { settings }: Batch.Batch,
  { at, caller }: Pick<Create, "at" | "caller">,
  action: AuditAction,
  outcome: string
) => ({
  at,
  caller,
  action,
  outcome,
  key: { import_supplier: settings.supplier, external_account_number: null }
})

const list = (sql: Sql, query: Parameters<Port["list"]>[0]) => {
  const { after, isUnfinished = false, limit, supplier } = query
  return BatchRow.batchesIn(sql`
    select ${sql.literal(BatchRow.batchColumns)} from batches
    where ${sql.and([
      ...(supplier === null ? [] : [sql`supplier = ${supplier}`]),
      ...(isUnfinished ? [sql`finished_at is null`] : []),
      ...(after === null ? [] : [sql`number < (select number from batches where id = ${after})`])
    ])}
    order by number desc limit ${limit}`)
}

const uploadRows = rowsOf(Schema.Struct({ uploads: Schema.Int }))

const beginUpload = (sql: Sql, id: BatchId) =>
  Effect.map(
    uploadRows(sql`update batches set uploads = uploads + 1 where id = ${id} returning uploads`),
    ([row]) => row?.uploads ?? 0
  )

/** A batch that starts gets its lines, if none were sent, and their links; `more` are their bytes. */
const started = Effect.fnUntraced(function* (
  sql: Sql,
  limits: BatchLimits,
  batch: Batch.Batch,
  at: DateTime.Utc
) {
  const { id, settings } = batch
  const isEmpty = Batch.isToBeFilled(batch)
  const { bytes, lines } = isEmpty
    ? yield* Sources.fillFromSource(sql, id, settings, at, limits.lines)
    : { bytes: 0n, lines: 0 }
  yield* Lines.link(sql, id)
  return { after: isEmpty ? Batch.filled(batch, lines, at) : batch, more: Number(bytes) }
})

/** A refusal of `decide` is a result, so that the transaction ends without an error. */
const change = Effect.fnUntraced(function* <E>(
  sql: Sql,
  limits: BatchLimits,
  command: BatchChange<E>
) {
  const { action, at, decide, id, recorder = null } = command
  const before = yield* BatchRow.locked(sql, id)
  const allowed = decide(before, { isOvertaken: false })
  const isStart =
    before.started === null && Result.isSuccess(allowed) && allowed.success.started !== null
  const isOvertaken = isStart && (yield* Sources.isOvertaken(sql, before))
  const decided = isOvertaken ? decide(before, { isOvertaken }) : allowed
  if (Result.isFailure(decided)) return decided
  const isUnchanged = decided.success === before
  const { after, more } = isStart
    ? yield* started(sql, limits, decided.success, at)
    : { after: decided.success, more: 0 }
  if (!isUnchanged) yield* BatchRow.storeChange(sql, before, after, at, more)
  const write = auditOf(before, command, action, isUnchanged ? "unchanged" : "changed")
  yield* isUnchanged && !isByPerson(command.caller)
    ? recordUnchanged(sql, write)
    : sql`${auditEntry(sql, write, sql``)}`
  yield* keepInTransaction(sql, recorder, isUnchanged ? null : after, at)
  return Result.succeed(after)
})

const reviewRows = rowsOf(
  Schema.Struct({ id: BatchId, supplierStatus: SupplierStatus, isKeyValid: Schema.Boolean })
)

/** Decides for each unfinished batch without a lock, and again under it if something changes. */
const review = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  { at, decide }: Parameters<Port["review"]>[0]
) {
  const found = yield* run(
    reviewRows(sql`
      select id, status as "supplierStatus",
        ${BatchRow.isKeyValid(sql, sql`api_key`, at)} as "isKeyValid"
      from batches join suppliers on suppliers.code = supplier where finished_at is null`)
  )
  const unfinished = yield* run(
    BatchRow.batchesIn(sql`
      select ${sql.literal(BatchRow.batchColumns)} from batches
      where finished_at is null and ${BatchRow.isKnown(sql)}`)
  )
  const batches = new Map(unfinished.map((batch) => [batch.id, batch]))
  for (const { id, ...circumstances } of found) {
    const seen = batches.get(id)
    if (seen === undefined || decide(seen, circumstances) === seen) continue
    const changing = Effect.gen(function* () {
      const before = yield* BatchRow.locked(sql, id)
      const after = decide(before, circumstances)
      if (after !== before) yield* BatchRow.storeAutomatic(sql, before, after, at)
    })
    yield* run(Effect.catchTag(sql.withTransaction(changing), "NotFound", () => Effect.void))
  }
})

const workerRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/** Workers that were not seen for an hour are forgotten. */
const reportWorker = (sql: Sql, { at, id }: Parameters<Port["reportWorker"]>[0]) => sql`
  with forgotten as (
    delete from batch_workers
    where seen_at < ${DateTime.toDateUtc(DateTime.subtract(at, { hours: 1 }))}
  )
  insert into batch_workers (id, seen_at) values (${id}, ${DateTime.toDateUtc(at)})
  on conflict on constraint batch_workers_pkey do update set seen_at = excluded.seen_at`

const workersAlive = (sql: Sql, since: DateTime.Utc) =>
  Effect.map(
    workerRows(sql`
      select count(*)::integer as count from batch_workers
      where seen_at >= ${DateTime.toDateUtc(since)}`),
    ([row]) => row?.count ?? 0
  )

const overviewRows = rowsOf(
  Schema.Struct({
    received: Schema.Int,
    succeeded: Schema.Int,
    already: Schema.Int,
    failed: Schema.Int,
    cancelled: Schema.Int,
    queuedSince: Schema.NullOr(Schema.DateTimeUtcFromDate),
    unfinishedSince: Schema.NullOr(Schema.DateTimeUtcFromDate)
  })
)

const overview = (sql: Sql) => {
  const sums = ["received", "succeeded", "already", "failed", "cancelled"].map(
    (name) => `coalesce(sum(${name}), 0)::float8 as ${name}`
  )
  const goesOn = sql`not is_cancelled and paused_by = '{}' and finished_at is null`
  return Effect.map(
    overviewRows(sql`
      select ${sql.literal(sums.join(", "))},
        min(started_at) filter (where not is_taken and ${goesOn}) as "queuedSince",
        min(started_at) filter (where ${goesOn}) as "unfinishedSince"
      from batches where started_at is not null`),
    ([row]) => {
      if (row === undefined) throw new Error("An aggregate gave no row")
      const { queuedSince, unfinishedSince, ...counts } = row
      return { counts, queuedSince, unfinishedSince } satisfies Overview
    }
  )
}

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  const limits = yield* BatchLimits
  return Batches.of({
    create: (command) =>
      run(sql.withTransaction(create(sql, limits, command))).pipe(
        Effect.catchTag("Refused", ({ creating }) => Effect.succeed(creating))
      ),
    find: (organisation, id) =>
      Effect.map(
        run(BatchRow.find(sql, id)),
        Option.filter((batch) => batch.organisation === organisation)
      ),
    findOfAny: (id) => run(BatchRow.find(sql, id)),
    list: (query) => run(list(sql, query)),
    beginUpload: (id) => run(beginUpload(sql, id)),
    append: (command) => run(sql.withTransaction(Lines.append(sql, limits, command))),
    change: (command) =>
      Effect.flatMap(run(sql.withTransaction(change(sql, limits, command))), (decided) =>
        Effect.fromResult(decided)
      ),
    cancelLines: (at) => run(sql.withTransaction(Cancellation.cancel(sql, at))),
    review: (command) => review(database, command),
    take: Chunks.makeTake(database),
    results: (query) => Results.read(database, query),
    lines: (query) => run(Results.list(sql, query)),
    problems: (query) => run(Problems.read(sql, query)),
    rehearsed: (id) => run(Rehearsed.read(sql, id)),
    deleteLines: (command) => run(sql.withTransaction(Deletion.deleteLines(sql, command))),
    overview: run(overview(sql)),
    reportWorker: (command) => run(Effect.asVoid(reportWorker(sql, command))),
    workersAlive: (since) => run(workersAlive(sql, since))
  })
})

export const layer: Layer.Layer<Batches, never, Database> = Layer.effect(Batches, make)
