/**
 * Searches the audit log. The entries of one import are found by index. For everything else
 * the log is read backwards in slices, for a bounded time: an index for each filter would cost
 * every write, and people mostly look at what happened lately.
 */
import { Clock, DateTime, Duration, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { ApiKeyId, RequestId } from "@data-import/domain/suppliers/Organisation"
import { personPrefixes, workerPrefix } from "@data-import/domain/access/Operator"
import {
  auditActions,
  type AuditFilter,
  type AuditLog,
  type NumberedEntry
} from "@data-import/domain/audit/AuditLog"
import { type Database, isStorable, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]
type Query = Parameters<AuditLog["Service"]["search"]>[0]

/** How many numbers of entries one statement reads. */
export const sliceOfLog = 20_000

/** No further slice is read after this time: somebody waits for the page. */
const patience = Duration.millis(200)

/**
 * Entries are numbered when they are written, and have the time at which their request began. No
 * request, and no chunk of a batch, lasts this long.
 */
const slowest = Duration.hours(1)

const entryRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    at: Schema.DateTimeUtcFromDate,
    organisation: Schema.String,
    apiKey: ApiKeyId,
    requestId: RequestId,
    action: Schema.Literals(auditActions),
    outcome: Schema.String,
    import_supplier: Schema.NullOr(Schema.String),
    external_account_number: Schema.NullOr(Schema.String)
  })
)

const columns =
  'id, at, organisation, api_key as "apiKey", request_id as "requestId", action, outcome, ' +
  "import_supplier, external_account_number"

/** The condition of `isByPerson`. */
const byPerson = (sql: Sql): Statement.Fragment => sql`
  and api_key like any(${personPrefixes.map((prefix) => `${prefix}%`)}::text[])
  and request_id not like ${`${workerPrefix}%`}`

const conditions = (
  sql: Sql,
  { action, apiKey, from, isByPerson, number, organisations, supplier, to }: AuditFilter
): Statement.Fragment => sql`(import_supplier is null or import_supplier not like ' %')
  ${organisations === null ? sql`` : sql`and organisation = any(${organisations}::text[])`}
  ${supplier === undefined ? sql`` : sql`and import_supplier = ${supplier}`}
  ${number === undefined ? sql`` : sql`and external_account_number = ${number}`}
  ${apiKey === undefined ? sql`` : sql`and api_key = ${apiKey}`}
  ${isByPerson === undefined ? sql`` : byPerson(sql)}
  ${action === undefined ? sql`` : sql`and action = ${action}`}
  ${from === undefined ? sql`` : sql`and at >= ${DateTime.toDateUtc(from)}`}
  ${to === undefined ? sql`` : sql`and at < ${DateTime.toDateUtc(to)}`}`

const ofImport = (sql: Sql, { before, filter, limit }: Query) =>
  entryRows(sql`
    select ${sql.literal(columns)} from audit_log
    where ${conditions(sql, filter)} ${before === null ? sql`` : sql`and id < ${before}`}
    order by id desc limit ${limit + 1}`)

const slice = (sql: Sql, { filter, limit }: Query, last: bigint) =>
  entryRows(sql`
    select ${sql.literal(columns)} from audit_log
    where id > ${last - BigInt(sliceOfLog)} and id <= ${last} and ${conditions(sql, filter)}
    order by audit_log.id desc limit ${limit + 1}`)

const endRows = rowsOf(
  Schema.Struct({
    last: Schema.NullOr(Schema.BigInt),
    at: Schema.NullOr(Schema.DateTimeUtcFromDate)
  })
)

/** `from` is where the search has stopped; null if there is nothing before what was found. */
const pageOf = (found: ReadonlyArray<NumberedEntry>, limit: number, from: bigint | null) => {
  const entries = found.slice(0, limit)
  const isFull = found.length > limit
  const next = isFull ? (entries.at(-1)?.id ?? null) : from
  return { entries, next, stopped: !isFull && from !== null }
}

/** Whether all entries up to the number were written before the time that is asked for. */
const isTooEarly = (sql: Sql, last: bigint, { from }: AuditFilter) =>
  from === undefined
    ? Effect.succeed(false)
    : endRows(sql`
        select id as last, at from audit_log where id <= ${last} order by id desc limit 1`).pipe(
        Effect.map(
          ([row]) =>
            row !== undefined &&
            row.at !== null &&
            DateTime.isLessThan(DateTime.addDuration(row.at, slowest), from)
        )
      )

export const entriesFound = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  query: Query
) {
  const { before, filter, limit } = query
  const texts = [filter.supplier, filter.number, filter.apiKey, filter.action]
  if (!texts.every((text) => isStorable(text ?? ""))) return pageOf([], limit, null)
  if (filter.supplier !== undefined && filter.number !== undefined) {
    return pageOf(yield* run(ofImport(sql, query)), limit, null)
  }
  const [end] = yield* run(
    endRows(sql`select max(id) as last, null::timestamptz as at from audit_log`)
  )
  const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(patience)
  const found: Array<NumberedEntry> = []
  let last = before === null ? (end?.last ?? 0n) : before - 1n
  while (last > 0n) {
    found.push(...(yield* run(slice(sql, query, last))))
    last -= BigInt(sliceOfLog)
    if (found.length > limit) return pageOf(found, limit, null)
    if (last > 0n && (yield* run(isTooEarly(sql, last, filter)))) break
    if ((yield* Clock.currentTimeMillis) > until)
      return pageOf(found, limit, last > 0n ? last + 1n : null)
  }
  return pageOf(found, limit, null)
})
