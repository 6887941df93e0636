/**
 * Summaries of suppliers: totals, and the differences that were not added to them yet, read by one
 * statement. Counts have the states without leases, because a lease ends without a write. The few
 * imports with a lease are looked up, and moved to the state that they are in now.
 */
import { DateTime, Effect, Layer, Schema } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import {
  byFrequency,
  type CodeCount,
  examplesOfCode,
  hourBefore,
  type SupplierSummary
} from "@data-import/domain/migrations/SupplierSummary"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { sum } from "@data-import/domain/schema/Decimal"
import { Database, isStorable, rowsOf } from "../connection/Database.ts"
import { hasNotFailed } from "../tables/ImportRow.ts"

type Sql = Database["Service"]["sql"]
type Port = SupplierSummaries["Service"]
type Query = Parameters<Port["read"]>[0]

const Tally = Schema.Struct({
  kind: Schema.Literals(["state", "code", "imported", "reverted", "ledger", "balance", "refused"]),
  name: Schema.String,
  count: Schema.Int,
  amount: Schema.BigDecimalFromString
})

const Leased = Schema.Struct({
  number: ExternalAccountNumber,
  isLive: Schema.Boolean,
  hadFailed: Schema.Boolean,
  /** With which it had failed. */
  codes: Schema.Array(Schema.String)
})

const Found = Schema.Struct({
  tallies: Schema.Array(Tally),
  leased: Schema.Array(Leased),
  oldest: Schema.NullOr(
    Schema.Struct({ number: ExternalAccountNumber, stagedAt: Schema.DateTimeUtcFromMillis })
  ),
  examples: Schema.Record(Schema.String, Schema.Array(ExternalAccountNumber))
})
type Found = typeof Found.Type

const foundRows = rowsOf(Schema.Struct({ found: Found }))

const minute = (at: DateTime.Utc): string => DateTime.formatIso(at).slice(0, 16)

/**
 * Imports whose attempt is running, or was interrupted and not ended yet; these are few. A dry run
 * that was interrupted leaves the state as it was.
 */
const leased = (sql: Sql, { at, cohort, supplier }: Query) => sql`
  select present.* from import_attempts as running, lateral (
    select id, external_account_number as number,
      lease_expires_at > ${DateTime.toDateUtc(at)} as "isLive",
      coalesce(failed_staging = stagings, false) as "hadFailed",
      array(select code from import_failures where import_id = present.id) as codes
    from import_processes as present
    where present.id = running.import_id and supplier = ${supplier}
      and (lease_expires_at > ${DateTime.toDateUtc(at)} or not lease_dry_run)
      and lease_attempt = running.id ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}
    offset 0
  ) as present
  where ended_at is null`

const tallies = (sql: Sql, { at, cohort, supplier }: Query) => sql`
  select kind, name, sum(count)::bigint as count, sum(amount)::text as amount
  from (
    select kind, name, count, amount from import_totals
    where supplier = ${supplier} and cohort = ${cohort ?? ""}
    union all
    select kind, name, count, amount from import_differences
    where supplier = ${supplier} ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}
  ) as both_parts
  where kind <> 'imported' or name >= ${minute(hourBefore(at))}
  group by kind, name having sum(count) <> 0 or sum(amount) <> 0
  union all
  select 'refused', '', count, '0' from refused_counts
  where supplier = ${supplier} ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}`

/** An import with a lease is no longer waiting, unless it is that of a dry run that broke off. */
const isWaiting = (sql: Sql, at: DateTime.Utc) => sql`(lease_attempt is null
  or lease_dry_run and lease_expires_at <= ${DateTime.toDateUtc(at)})`

const oldest = (sql: Sql, { at, cohort, supplier }: Query) => sql`
  select external_account_number as number,
    floor(extract(epoch from staged_at) * 1000) as "stagedAt"
  from import_processes
  where supplier = ${supplier} and account_number is null and not skipped
    and ${hasNotFailed(sql)} and ${isWaiting(sql, at)}
    ${cohort === null ? sql`` : sql`and cohort = ${cohort}`}
  order by supplier, ${cohort === null ? sql`` : sql`cohort,`} id
  limit 1`

/** Each failed import is looked up separately; the few with a lease are skipped. */
const examples = (sql: Sql, { at, cohort, supplier }: Query) => sql`
  array(
    select external_account_number from import_failures as failure, lateral (
      select external_account_number from import_processes
      where id = failure.import_id and ${isWaiting(sql, at)} offset 0
    ) as present
    where failure.supplier = ${supplier} and failure.code = tallies.name
      ${cohort === null ? sql`` : sql`and failure.cohort = ${cohort}`}
    limit ${examplesOfCode})`

const readFound = (sql: Sql, query: Query) =>
  foundRows(sql`
    with tallies as materialized (${tallies(sql, query)}),
    leased as materialized (${leased(sql, query)}),
    oldest as materialized (${oldest(sql, query)})
    select json_build_object(
      'tallies', (select coalesce(json_agg(tallies order by name collate "C"), '[]') from tallies),
      'leased', (select coalesce(json_agg(leased), '[]') from leased),
      'oldest', (select to_json(oldest) from oldest),
      'examples', (
        select coalesce(json_object_agg(name, ${examples(sql, query)}), '{}')
        from tallies where kind = 'code' and count > 0)
    ) as found`)

const statesOf = ({ leased, tallies }: Found): SupplierSummary["states"] => {
  const counted = (state: string) =>
    tallies.find(({ kind, name }) => kind === "state" && name === state)?.count ?? 0
  const live = leased.filter(({ isLive }) => isLive).length
  const hadFailed = leased.filter((each) => each.hadFailed).length
  return {
    PENDING: counted("PENDING") - (leased.length - hadFailed),
    FAILED: counted("FAILED") - hadFailed + (leased.length - live),
    IN_PROGRESS: live,
    SKIPPED: counted("SKIPPED"),
    IMPORTED: counted("IMPORTED"),
    ERASED: counted("ERASED")
  }
}

const brokenOff = "lease_expired"

/** Imports with a lease no longer count for the codes with which they had failed. */
const codesOf = ({ examples, leased, tallies }: Found): ReadonlyArray<CodeCount> => {
  const expired = leased.filter(({ isLive }) => !isLive).map(({ number }) => number)
  const counts = new Map(
    tallies.flatMap(({ count, kind, name }) => (kind === "code" ? [[name, count]] : []))
  )
  const add = (code: string, imports: number) => counts.set(code, (counts.get(code) ?? 0) + imports)
  for (const code of leased.flatMap(({ codes }) => codes)) add(code, -1)
  add(brokenOff, expired.length)
  return [...counts]
    .filter(([, imports]) => imports > 0)
    .map(([code, imports]) => {
      const known = [...(examples[code] ?? []), ...(code === brokenOff ? expired : [])]
      return { code, imports, examples: known.slice(0, examplesOfCode) }
    })
    .toSorted(byFrequency)
}

const summaryOf = (found: Found): SupplierSummary => {
  const { oldest, tallies } = found
  const ofKind = (wanted: (typeof Tally.Type)["kind"]) =>
    tallies.filter(({ kind }) => kind === wanted)
  const countOf = (kind: (typeof Tally.Type)["kind"]) =>
    ofKind(kind).reduce((total, { count }) => total + count, 0)
  const balanceOf = (part: string) =>
    sum(ofKind("balance").flatMap(({ amount, name }) => (name === part ? [amount] : [])))
  return {
    states: statesOf(found),
    reverted: countOf("reverted"),
    linesRefused: countOf("refused"),
    importedLastHour: countOf("imported"),
    oldestPending: oldest,
    codes: codesOf(found),
    balance: sum(ofKind("balance").map(({ amount }) => amount)),
    withoutLedger: balanceOf("transfer"),
    added: balanceOf("added"),
    ledgers: ofKind("ledger").map(({ amount, count, name }) => ({
      code: name,
      ledgers: count,
      balance: amount
    }))
  }
}

const lockRows = rowsOf(Schema.Struct({ isTaken: Schema.Boolean }))

const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/** Counts of accounts by the minute are needed for an hour; an instance's clock may be behind. */
const minutesKept = { hours: 3 }

/**
 * Has to run in a transaction. The new totals are also those of the present hour. A separate
 * statement takes the lock, so that the next one sees everything that the last holder has
 * committed.
 */
const fold = Effect.fnUntraced(function* (sql: Sql, { at, limit }: Parameters<Port["fold"]>[0]) {
  const [lock] = yield* lockRows(sql`
    select pg_try_advisory_xact_lock(hashtextextended('data-import import totals', 0))
      as "isTaken"`)
  if (lock?.isTaken !== true) return 0
  const now = DateTime.toDateUtc(at)
  const [folded] = yield* countRows(sql`
    with taken as (
      delete from import_differences
      where ctid = any(array(select ctid from import_differences limit ${limit}))
      returning *
    ),
    merged as (
      insert into import_totals as total (supplier, cohort, kind, name, count, amount)
      select supplier, cohort, kind, name, sum(count), sum(amount)
      from (
        select supplier, '' as cohort, kind, name, count, amount from taken
        union all
        select supplier, cohort, kind, name, count, amount from taken where cohort is not null
      ) as both_totals
      group by supplier, cohort, kind, name order by supplier, cohort, kind, name
      on conflict on constraint import_totals_pkey do update
      set count = total.count + excluded.count, amount = total.amount + excluded.amount
      returning supplier, cohort, kind, name, count
    ),
    history as (
      insert into import_history as past (supplier, cohort, kind, name, hour, count)
      select supplier, cohort, kind, name, date_trunc('hour', ${now}::timestamptz), count
      from merged where kind in ('state', 'code', 'balance') and supplier not like ' %'
      order by supplier, cohort, kind, name
      on conflict on constraint import_history_pkey do update set count = excluded.count
    ),
    activity as (
      insert into import_activity as past (supplier, changed_at, imported_at)
      select supplier, ${now}, case when sum(count) filter (where kind = 'balance') > 0
        then ${now}::timestamptz end
      from taken where supplier not like ' %' group by supplier order by supplier
      on conflict on constraint import_activity_pkey do update
      set changed_at = excluded.changed_at,
        imported_at = coalesce(excluded.imported_at, past.imported_at)
    )
    select count(*)::int as count from taken`)
  yield* sql`select settle_refused(${limit})`
  yield* sql`
    delete from import_totals
    where kind = 'imported' and name < ${minute(DateTime.subtract(at, minutesKept))}`
  return folded?.count ?? 0
})

const empty = summaryOf({ tallies: [], leased: [], oldest: null, examples: {} })

const read = ({ run, sql }: Database["Service"], query: Query) =>
  Effect.map(run(readFound(sql, query)), ([row]) =>
    row === undefined ? empty : summaryOf(row.found)
  )

export const layer: Layer.Layer<SupplierSummaries, never, Database> = Layer.effect(
  SupplierSummaries,
  Effect.map(Database, (database) =>
    SupplierSummaries.of({
      read: (query) =>
        isStorable(query.supplier) && isStorable(query.cohort ?? "")
          ? read(database, query)
          : Effect.succeed(empty),
      fold: (command) => database.run(database.sql.withTransaction(fold(database.sql, command)))
    })
  )
)
