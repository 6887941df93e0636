/** Alerts as they begin and end, and for whom they are. */
import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import { alertKinds } from "@data-import/domain/alerts/Alert"
import { alertWays } from "@data-import/domain/alerts/AlertSettings"
import {
  type Alerts,
  alertsKept,
  deliveryStates,
  mostInMessage,
  sameWithin
} from "@data-import/domain/alerts/Alerts"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { type Database, rowsOf } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]
type Port = Alerts["Service"]

const { toDateUtc } = DateTime

/** Alerts that are older are for nobody who has not been told. */
const toldWithin = { days: 1 }

const toldColumns = {
  kind: Schema.Literals(alertKinds),
  supplier: SupplierCode,
  what: Schema.String,
  reason: Schema.String
}

/** Two turns would otherwise both begin an alert, if one takes longer than the pause. */
const lock = "data-import alerts"

const foundSet = (sql: Sql, found: Parameters<Port["raise"]>[0]["found"]) =>
  recordSet(sql, "found", found, {
    kind: ["text", ({ kind }) => kind],
    supplier: ["text", ({ supplier }) => supplier],
    what: ["text", ({ what }) => what],
    reason: ["text", ({ reason }) => reason],
    happened_at: [
      "timestamptz",
      ({ happenedAt }) => (happenedAt === null ? null : toDateUtc(happenedAt))
    ]
  })

const raiseFound = Effect.fnUntraced(function* (
  sql: Sql,
  { at, found }: Parameters<Port["raise"]>[0]
) {
  const now = toDateUtc(at)
  const before = toDateUtc(DateTime.subtractDuration(at, sameWithin))
  const isSame = sql.literal(
    "present.kind = found.kind and present.supplier = found.supplier and present.what = found.what"
  )
  yield* sql`
    update alerts as present set ended_at = ${now}
    where ended_at is null and not exists (
      select from ${foundSet(sql, found)} where ${isSame} and found.happened_at is null)`
  if (found.length === 0) return
  yield* sql`
    update alerts as again set ended_at = null
    from ${foundSet(sql, found)} cross join lateral (
      select id, ended_at from alerts as present where ${isSame} order by id desc limit 1
    ) as latest
    where again.id = latest.id and found.happened_at is null and latest.ended_at > ${before}`
  yield* sql`
    insert into alerts (kind, supplier, what, reason, raised_at, happened_at, ended_at)
    select kind, supplier, what, reason, ${now}::timestamptz, happened_at, happened_at
    from ${foundSet(sql, found)}
    where not exists (
      select from alerts as present
      where ${isSame} and case when found.happened_at is null then present.ended_at is null
        else present.happened_at >= found.happened_at or present.raised_at > ${before} end)`
})

/** Of conditions that hold, and of events since the user chose. */
const address = Effect.fnUntraced(function* (sql: Sql, at: DateTime.Utc) {
  const since = toDateUtc(DateTime.subtract(at, toldWithin))
  yield* sql`
    insert into alert_deliveries (alert, subject, way, due_at)
    select alert.id, subject, way, ${toDateUtc(at)}::timestamptz
    from (
      select * from alerts where ended_at is null
      union all
      select * from alerts where raised_at > ${since} and happened_at is not null
    ) as alert
    join suppliers on code = alert.supplier
    join alert_settings as wanted on alert.kind = any(kinds)
      and (alert.kind <> 'failing' or alert.what = failing_share::text)
      and (wanted.suppliers is null or alert.supplier = any(wanted.suppliers))
      and (organisations is null or organisation = any(organisations))
      and (happened_at is null or happened_at >= changed_at)
    cross join lateral (values ('email', email), ('webhook', webhook)) as by_way (way, address)
    where address is not null
    on conflict on constraint alert_deliveries_pkey do nothing`
})

export const raise = Effect.fnUntraced(function* (sql: Sql, command: Parameters<Port["raise"]>[0]) {
  const { at } = command
  yield* sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`
  const past = toDateUtc(DateTime.subtractDuration(at, alertsKept))
  yield* sql`delete from alerts where raised_at < ${past} and ended_at < ${past}`
  yield* sql`delete from alert_settings where signed_in_at < ${past}`
  yield* raiseFound(sql, command)
  yield* address(sql, at)
})

const claimedRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    subject: Schema.String,
    way: Schema.Literals(alertWays),
    address: Schema.String,
    attempts: Schema.Int,
    ...toldColumns
  })
)

export const claim = (sql: Sql, at: DateTime.Utc) => {
  const isDue = sql`claimed_at is null and ended_at is null and due_at <= ${toDateUtc(at)}`
  return claimedRows(sql`
    with first as (
      select subject, way from alert_deliveries
      where ${isDue} order by due_at limit 1 for update skip locked
    ),
    due as (
      select alert, subject, way
      from alert_deliveries join first using (subject, way)
      where ${isDue} order by alert limit ${mostInMessage}
      for update of alert_deliveries skip locked
    ),
    taken as (
      update alert_deliveries as present set claimed_at = ${toDateUtc(at)} from due
      where present.alert = due.alert and present.subject = due.subject and present.way = due.way
      returning present.*
    )
    select alerts.id, subject, way, attempts::int, kind, supplier, what, reason,
      coalesce(case way when 'email' then email else webhook end, '') as address
    from taken join alerts on alerts.id = alert join alert_settings using (subject)
    order by alerts.id`).pipe(
    Effect.map((rows) =>
      Option.map(Option.fromNullishOr(rows[0]), (first) => ({
        subject: first.subject,
        way: first.way,
        address: Redacted.make(first.address),
        alerts: rows.map(({ attempts, id, kind, reason, supplier, what }) => ({
          attempts,
          id,
          kind,
          reason,
          supplier,
          what
        }))
      }))
    )
  )
}

export const conclude = (sql: Sql, { at, attempted, delivery }: Parameters<Port["conclude"]>[0]) =>
  sql`
  update alert_deliveries as present
  set claimed_at = null, attempts = attempts + 1, due_at = coalesce(again.due_at, present.due_at),
    ended_at = case when again.due_at is null then ${toDateUtc(at)}::timestamptz end,
    error = again.error, is_known = again.is_known
  from ${recordSet(sql, "again", attempted, {
    id: ["bigint", ({ id }) => String(id)],
    due_at: ["timestamptz", ({ dueAt }) => (dueAt === null ? null : toDateUtc(dueAt))],
    error: ["text", ({ error }) => error],
    is_known: ["boolean", ({ isKnown }) => isKnown]
  })}
  where alert = again.id and subject = ${delivery.subject} and way = ${delivery.way}`.pipe(
    Effect.asVoid
  )

const sentRows = rowsOf(
  Schema.Struct({
    ...toldColumns,
    way: Schema.Literals(alertWays),
    at: Schema.DateTimeUtcFromDate,
    state: Schema.Literals(deliveryStates),
    error: Schema.NullOr(Schema.String)
  })
)

export const told = (sql: Sql, subject: string, limit: number) =>
  sentRows(sql`
    select kind, supplier, what, reason, way, raised_at as at, error,
      case when alert_deliveries.ended_at is null and claimed_at is null then 'WAITING'
        when claimed_at is not null or not is_known then 'UNKNOWN'
        when error is null then 'SENT' else 'FAILED' end as state
    from alert_deliveries join alerts on alerts.id = alert
    where subject = ${subject} order by alert desc, way limit ${limit}`)
