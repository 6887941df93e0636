/**
 * Invents past days, because a system that is an hour old has no history to draw, and no rate to
 * forecast from. The counts of these migrations grow from zero four days ago to their present
 * values; everything is staged in the first half of that time. The imports of the last hour are
 * those of this history, not those of the hour in which the demo was filled.
 */
import { borrow } from "@data-import/operator/LocalDatabase"
import { Database } from "@data-import/postgres/connection/Database"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { Duration, Effect, Schedule } from "effect"

const hours = 96

export interface PastMigration {
  readonly code: string
  /** How long ago the counts reached their present values; 0 if the migration is still running. */
  readonly endedHoursAgo: number
}

/** The share that had happened `ago` hours ago; `ended` is how many hours ago the last part did. */
const part = `least(1, (${hours}::float8 - ago) / (${hours} - ended))`

/** Waits until the counts include everything, because they lag behind. */
const untilCounted = (codes: ReadonlyArray<string>) =>
  Effect.flatMap(Database, ({ sql }) =>
    Effect.repeat(
      sql`select from import_differences where supplier = any(${codes}::text[]) limit 1`,
      { schedule: Schedule.spaced("200 millis"), while: ({ length }) => length > 0 }
    )
  )

/** Writes the past hours; the present one follows from the stored data. */
const writeHours = (codes: ReadonlyArray<string>, ends: ReadonlyArray<number>) =>
  Effect.flatMap(
    Database,
    ({ sql }) => sql`
      with present as materialized (
        select supplier, cohort, kind, name, count, ended,
          sum(count) filter (where kind = 'state') over of_cohort as staged,
          sum(count) filter (where kind = 'state' and name <> 'PENDING') over of_cohort as tried
        from import_totals
        join unnest(${codes}::text[], ${ends}::int[]) as wanted (code, ended) on code = supplier
        where kind in ('state', 'code', 'balance')
        window of_cohort as (partition by supplier, cohort)
      )
      insert into import_history as past (supplier, cohort, kind, name, hour, count)
      select supplier, cohort, kind, name, date_trunc('hour', now()) - ago * interval '1 hour',
        case when kind = 'state' and name = 'PENDING'
          then round(staged * least(1, 2 * part)) - round(coalesce(tried, 0) * part)
          else round(count * part) end
      from present cross join generate_series(1, ${hours}) as ago
      cross join lateral (select ${sql.literal(part)} as part) as course
      on conflict do nothing`
  )

/** Writes the accounts of the last hour, as in the history, and the time of the last change. */
const writeLastHour = (codes: ReadonlyArray<string>, ends: ReadonlyArray<number>) =>
  Effect.flatMap(Database, ({ sql }) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`
          delete from import_totals where kind = 'imported' and supplier = any(${codes}::text[])`
        yield* sql`
          insert into import_totals (supplier, cohort, kind, name, count, amount)
          select supplier, cohort, 'imported',
            to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI'),
            sum(count) - sum(round(count * ${sql.literal(part)})), 0
          from import_totals
          join unnest(${codes}::text[], ${ends}::int[]) as wanted (code, ended) on code = supplier
          cross join (values (1)) as last_hour (ago)
          where kind = 'balance' and ended = 0
          group by supplier, cohort`
        yield* sql`
          update import_activity set changed_at = changed_at - ended * interval '1 hour',
            imported_at = imported_at - ended * interval '1 hour'
          from unnest(${codes}::text[], ${ends}::int[]) as wanted (code, ended)
          where code = supplier`
      })
    )
  )

export const pastDays = Effect.fnUntraced(function* (migrations: ReadonlyArray<PastMigration>) {
  const codes = migrations.map(({ code }) => code)
  const ends = migrations.map(({ endedHoursAgo }) => endedHoursAgo)
  yield* untilCounted(codes)
  yield* writeHours(codes, ends)
  yield* writeLastHour(codes, ends)
})

/** Adds the past days on the database of the running system. */
export const addPastDays = (migrations: ReadonlyArray<PastMigration>) =>
  Effect.gen(function* () {
    const { url } = yield* borrow
    const statementTimeout = Duration.seconds(60)
    const access = DatabaseAccess.layer({ url, poolSize: 1, statementTimeout })
    yield* Effect.provide(pastDays(migrations), access)
  }).pipe(Effect.scoped)
