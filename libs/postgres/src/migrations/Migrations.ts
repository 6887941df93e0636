/**
 * Migrations: the stored counts of all suppliers at once, and as they were at the end of each hour.
 * Nothing is recounted, and no statement reads more than a few thousand rows.
 */
import { Array, DateTime, Effect, Layer, Option, Schema } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { hourBefore } from "@data-import/domain/migrations/SupplierSummary"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import {
  failedLookedAt,
  hoursShown,
  type MigrationCounts,
  Migrations,
  noCounts,
  type StateCounts
} from "@data-import/domain/migrations/Migrations"
import { Database, isStorable, rowsOf } from "../connection/Database.ts"
import { hasNotFailed } from "../tables/ImportRow.ts"
import * as Records from "./MigrationRecords.ts"
import { history, pastCounts } from "./PastCounts.ts"

type Sql = Database["Service"]["sql"]
type Port = Migrations["Service"]
type Query<Name extends "cohorts" | "oldestOpen"> = Parameters<Port[Name]>[0]

const Instant = Schema.DateTimeUtcFromDate

const State = Schema.Literals(["PENDING", "FAILED", "IN_PROGRESS", "SKIPPED", "IMPORTED", "ERASED"])

const tallyRows = rowsOf(
  Schema.Struct({
    supplier: SupplierCode,
    cohort: Schema.NullOr(Schema.String),
    name: Schema.String,
    count: Schema.Int
  })
)

/**
 * An import with a lease is counted in the state that it had before. `moved` takes it from there to
 * its present state: in progress, or failed because its attempt was interrupted. A dry run that was
 * interrupted leaves it as it was.
 */
const moved = (sql: Sql, suppliers: ReadonlyArray<SupplierCode>, at: DateTime.Utc) => sql`
  select supplier, cohort, change.name, change.count
  from import_attempts as running cross join lateral (
    select supplier, cohort, lease_expires_at > ${DateTime.toDateUtc(at)} as is_live,
      coalesce(failed_staging = stagings, false) as had_failed
    from import_processes as present
    where present.id = running.import_id and supplier = any(${suppliers}::text[])
      and lease_attempt = running.id
      and (lease_expires_at > ${DateTime.toDateUtc(at)} or not lease_dry_run)
    offset 0
  ) as present cross join lateral (values
    (case when had_failed then 'FAILED' else 'PENDING' end, -1::bigint),
    (case when is_live then 'IN_PROGRESS' else 'FAILED' end, 1::bigint)
  ) as change (name, count)
  where ended_at is null`

/** Counts of all suppliers. */
const presentTallies = (sql: Sql, suppliers: ReadonlyArray<SupplierCode>, at: DateTime.Utc) =>
  tallyRows(sql`
    select supplier, null as cohort, name, sum(count)::float8 as count
    from (
      select supplier, name, count from import_totals
      where supplier = any(${suppliers}::text[]) and cohort = '' and kind = 'state'
      union all
      select supplier, 'last hour', count from import_totals
      where supplier = any(${suppliers}::text[]) and cohort = '' and kind = 'imported'
        and name >= ${DateTime.formatIso(hourBefore(at)).slice(0, 16)}
      union all
      select supplier, case when kind = 'state' then name else 'last hour' end, count
      from import_differences
      where supplier = any(${suppliers}::text[]) and (kind = 'state'
        or kind = 'imported' and name >= ${DateTime.formatIso(hourBefore(at)).slice(0, 16)})
      union all
      select supplier, 'refused', count from refused_counts
      where supplier = any(${suppliers}::text[])
      union all
      select supplier, name, count from (${moved(sql, suppliers, at)}) as moved
    ) as parts
    group by supplier, name`)

const isState = Schema.is(State)

const statesIn = (
  tallies: ReadonlyArray<{ readonly name: string; readonly count: number }>
): StateCounts => {
  const states = { ...noCounts }
  for (const { count, name } of tallies) if (isState(name)) states[name] += count
  return states
}

const refusedIn = (
  tallies: ReadonlyArray<{ readonly name: string; readonly count: number }>
): number => tallies.find(({ name }) => name === "refused")?.count ?? 0

const hourlyRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, place: Schema.Int, count: Schema.Int })
)

/** The accounts before each of these instants. The names are those of `balance`. */
const accountsBefore = (
  sql: Sql,
  suppliers: ReadonlyArray<SupplierCode>,
  before: ReadonlyArray<DateTime.Utc>
) =>
  hourlyRows(sql`
    select wanted.supplier, place::int as place, sum(past.count)::float8 as count
    from unnest(${suppliers}::text[]) as wanted (supplier)
    cross join unnest(${before.map(DateTime.toDateUtc)}::timestamptz[])
      with ordinality as step (instant, place)
    cross join unnest(array['', 'transfer']) as part (name)
    cross join lateral (
      select count from import_history
      where supplier = wanted.supplier and cohort = '' and kind = 'balance'
        and name = part.name and hour < instant
      order by hour desc limit 1
    ) as past
    group by 1, 2`)

const hourRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, at: Instant, imported: Schema.Int })
)

/** Each count minus the previous one, even if that is older than `since`. */
const importedByHour = (sql: Sql, { since, suppliers }: Parameters<Port["importedByHour"]>[0]) =>
  hourRows(sql`
    select supplier, hour as at, sum(added)::float8 as imported
    from (
      select wanted.supplier, hour, count - coalesce(
        lag(count) over (partition by wanted.supplier, part.name order by hour), (
          select count from import_history
          where supplier = wanted.supplier and cohort = '' and kind = 'balance'
            and name = part.name and hour < ${DateTime.toDateUtc(since)}
          order by hour desc limit 1
        ), 0) as added
      from unnest(${suppliers}::text[]) as wanted (supplier)
      cross join unnest(array['', 'transfer']) as part (name)
      join import_history as present on present.supplier = wanted.supplier
        and present.cohort = '' and present.kind = 'balance' and present.name = part.name
        and hour >= ${DateTime.toDateUtc(since)}
    ) as changes
    group by supplier, hour having sum(added) <> 0
    order by supplier, hour`).pipe(
    Effect.map((rows) => Map.groupBy(rows, ({ supplier }) => supplier)),
    Effect.map(
      (bySupplier) =>
        new Map(
          [...bySupplier].map(([supplier, hours]) => [
            supplier,
            hours.map(({ at, imported }) => ({ at, imported }))
          ])
        )
    )
  )

const untiedRows = rowsOf(Schema.Struct({ supplier: SupplierCode }))

/**
 * Suppliers whose ledgers do not add up to the balances of the accounts with ledgers; see `ties`.
 */
const untied = (sql: Sql, suppliers: ReadonlyArray<SupplierCode>) =>
  untiedRows(sql`
    select supplier
    from (
      select supplier, kind, name, amount from import_totals
      where supplier = any(${suppliers}::text[]) and cohort = '' and kind in ('ledger', 'balance')
      union all
      select supplier, kind, name, amount from import_differences
      where supplier = any(${suppliers}::text[]) and kind in ('ledger', 'balance')
    ) as parts
    group by supplier
    having sum(case when kind = 'ledger' then amount when name = '' then -amount end) <> 0`)

const activityRows = rowsOf(
  Schema.Struct({
    supplier: SupplierCode,
    changedAt: Instant,
    importedAt: Schema.NullOr(Instant)
  })
)

const activities = (sql: Sql, suppliers: ReadonlyArray<SupplierCode>) =>
  activityRows(sql`
    select supplier, changed_at as "changedAt", imported_at as "importedAt"
    from import_activity where supplier = any(${suppliers}::text[])`)

const overview = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  { at, suppliers }: Parameters<Port["overview"]>[0]
) {
  const ends = Array.makeBy(hoursShown + 1, (index) =>
    DateTime.add(DateTime.startOf(at, "hour"), { hours: index + 1 - hoursShown })
  )
  const tallies = Array.groupBy(
    yield* run(presentTallies(sql, suppliers, at)),
    ({ supplier }) => supplier
  )
  const accounts = Array.groupBy(
    yield* run(accountsBefore(sql, suppliers, ends)),
    ({ supplier }) => supplier
  )
  const untieds = new Set((yield* run(untied(sql, suppliers))).map(({ supplier }) => supplier))
  const active = new Map((yield* run(activities(sql, suppliers))).map((row) => [row.supplier, row]))
  const undone = yield* run(Records.takenBack(sql, suppliers))
  return suppliers.map((supplier): MigrationCounts => {
    const own = tallies[supplier] ?? []
    const values = new Map((accounts[supplier] ?? []).map(({ count, place }) => [place, count]))
    const valueAt = (place: number) => values.get(place) ?? 0
    return {
      supplier,
      states: statesIn(own),
      linesRefused: refusedIn(own),
      importedLastHour: own.find(({ name }) => name === "last hour")?.count ?? 0,
      importedHourly: Array.makeBy(hoursShown, (index) => valueAt(index + 2) - valueAt(index + 1)),
      moneyTies: !untieds.has(supplier),
      changedAt: active.get(supplier)?.changedAt ?? null,
      importedAt: active.get(supplier)?.importedAt ?? null,
      takenBack: undone.get(supplier) ?? null
    }
  })
})

const beginningRows = rowsOf(Schema.Struct({ hour: Schema.NullOr(Instant) }))

const beginning = (
  { sql }: Database["Service"],
  { cohort, supplier }: Parameters<Port["beginning"]>[0]
) =>
  beginningRows(sql`
    select min(hour) as hour from unnest(${State.literals}::text[]) as state
    cross join lateral (
      select hour from import_history
      where supplier = ${supplier} and cohort = ${cohort ?? ""} and kind = 'state'
        and name = state
      order by hour limit 1
    ) as first`).pipe(Effect.map(([row]) => Option.fromNullishOr(row?.hour)))

/** Unlisted cohorts are reported as one with an empty name, with their number. */
const unlisted = ""
const cohortsCounted = "cohorts"

/** Imports without a cohort are the total less the counts of all cohorts. */
const cohorts = ({ sql }: Database["Service"], { at, limit, supplier }: Query<"cohorts">) =>
  tallyRows(sql`
    with parts as materialized (
      select cohort, name, sum(count)::float8 as count
      from (
        select cohort, name, count from import_totals
        where supplier = ${supplier} and kind = 'state'
        union all
        select unnest(case when cohort is null then array[''] else array['', cohort] end),
          name, count
        from import_differences where supplier = ${supplier} and kind = 'state'
        union all
        select unnest(case when cohort is null then array[''] else array['', cohort] end),
          name, count
        from (${moved(sql, [supplier], at)}) as moved
        union all
        select unnest(case when cohort is null then array[''] else array['', cohort] end),
          'refused', count
        from refused_counts where supplier = ${supplier}
      ) as all_parts
      group by cohort, name
    ),
    ranked as (
      select cohort, row_number() over (order by cohort collate "C") > ${limit} as is_unlisted
      from parts where cohort <> '' group by cohort having sum(count) > 0
    )
    select * from (
    select ${supplier} as supplier, null as cohort, name,
      sum(case when cohort = '' then count else -count end) as count
    from parts group by name
    union all
    select ${supplier}, case when is_unlisted then ${unlisted} else cohort end, name, count
    from parts join ranked using (cohort)
    union all
    select ${supplier}, ${unlisted}, ${cohortsCounted}, count(*) from ranked where is_unlisted
    ) as told order by cohort collate "C" nulls first`).pipe(
    Effect.map((rows) => {
      const byCohort = Map.groupBy(rows, ({ cohort }) => cohort)
      const counted = [...byCohort].map(([cohort, tallies]) => ({
        cohort,
        states: statesIn(tallies),
        linesRefused: tallies.reduce(
          (sum, { count, name }) => (name === "refused" ? sum + count : sum),
          0
        )
      }))
      const others = counted.find(({ cohort }) => cohort === unlisted)
      return {
        cohorts: counted.filter(
          ({ cohort, linesRefused, states }) =>
            cohort !== unlisted &&
            (linesRefused > 0 || Object.values(states).some((count) => count !== 0))
        ),
        others: {
          cohorts: rows.find(({ name }) => name === cohortsCounted)?.count ?? 0,
          states: others?.states ?? noCounts,
          linesRefused: others?.linesRefused ?? 0
        }
      }
    })
  )

const openRows = rowsOf(
  Schema.Struct({
    number: ExternalAccountNumber,
    stagedAt: Instant,
    since: Instant,
    code: Schema.NullOr(Schema.String)
  })
)

/**
 * An import with a lease is no longer waiting, unless its attempt was interrupted, or is a dry run.
 */
const oldestOpen = (sql: Sql, { failedBefore, limit, supplier }: Query<"oldestOpen">) => {
  const before = DateTime.toDateUtc(failedBefore)
  const isOpen = sql`supplier = ${supplier} and account_number is null and not skipped`
  return openRows(sql`
    select external_account_number as number, staged_at as "stagedAt", since, code from (
      (
        select id, external_account_number, staged_at, staged_at as since, null as code
        from import_processes
        where ${isOpen} and ${hasNotFailed(sql)}
          and (lease_attempt is null or lease_dry_run)
        order by supplier, id limit ${limit}
      ) union all (
        select failed.*, ended_at, outcome
        from (
          select id, external_account_number, staged_at from import_processes
          where ${isOpen} and failed_staging > 0
            and (lease_attempt is null or lease_dry_run)
          order by external_account_number limit ${failedLookedAt}
        ) as failed cross join lateral (
          select ended_at, outcome from import_attempts
          where import_id = failed.id and not dry_run
          order by sequence desc limit 1
        ) as latest
        where ended_at < ${before}
      ) union all (
        select present.*, 'lease_expired'
        from import_attempts as running cross join lateral (
          select id, external_account_number, staged_at, lease_expires_at from import_processes
          where id = running.import_id and ${isOpen} and lease_attempt = running.id
            and not lease_dry_run offset 0
        ) as present
        where ended_at is null and lease_expires_at < ${before}
      )
    ) as waiting
    order by since, id limit ${limit}`)
}

export const layer: Layer.Layer<Migrations, never, Database> = Layer.effect(
  Migrations,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    return Migrations.of({
      overview: (query) => overview(database, query),
      history: (query) =>
        isStorable(query.cohort ?? "")
          ? run(history(database, query))
          : Effect.succeed(pastCounts([], query.before.length)),
      importedByHour: (query) => run(importedByHour(sql, query)),
      beginning: (query) =>
        isStorable(query.cohort ?? "") ? run(beginning(database, query)) : Effect.succeedNone,
      cohorts: (query) => run(cohorts(database, query)),
      oldestOpen: (query) => run(oldestOpen(sql, query)),
      plans: (suppliers) => run(Records.plans(database, suppliers)),
      setPlan: (command) => run(sql.withTransaction(Records.setPlan(database, command))),
      decisions: (query) => run(Records.decisions(database, query)),
      recordDecision: (command) => Effect.asVoid(run(Records.recordDecision(database, command))),
      signOff: (supplier) => run(Records.signOff(database, supplier)),
      changeStatus: (command, decide) =>
        run(sql.withTransaction(Records.changeStatus(database, command, decide))),
      recordSignOff: (command) => run(sql.withTransaction(Records.recordSignOff(database, command)))
    })
  })
)
