/**
 * Days that have not been: a system that is an hour old has no course to draw, and no rate to
 * forecast from. Counts of these migrations come to what they are now from nothing four days ago;
 * everything is staged in the first two of them.
 */
import { borrow } from "@data-import/operator/LocalDatabase"
import { Database } from "@data-import/postgres/connection/Database"
import * as DatabaseAccess from "@data-import/testbed/DatabaseAccess"
import { Duration, Effect } from "effect"

const hours = 96

export const addPastDays = (codes: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { url } = yield* borrow
    const statementTimeout = Duration.seconds(60)
    const insert = Effect.flatMap(
      Database,
      ({ sql }) => sql`
        with present as materialized (
          select supplier, cohort, kind, name, count,
            sum(count) filter (where kind = 'state') over of_cohort as staged,
            sum(count) filter (where kind = 'state' and name <> 'PENDING') over of_cohort as tried
          from import_totals
          where supplier = any(${codes}::text[]) and kind in ('state', 'code', 'balance')
          window of_cohort as (partition by supplier, cohort)
        ),
        step as (
          select date_trunc('hour', now()) - ago * interval '1 hour' as hour,
            (${hours}::float8 - ago) / ${hours}::float8 as part
          from generate_series(1, ${hours}::int) as ago
        )
        insert into import_history (supplier, cohort, kind, name, hour, count)
        select supplier, cohort, kind, name, hour,
          case when kind = 'state' and name = 'PENDING'
            then round(staged * least(1, 2 * part)) - round(coalesce(tried, 0) * part)
            else round(count * part) end
        from present cross join step
        on conflict do nothing`
    )
    const access = DatabaseAccess.layer({ url, poolSize: 1, statementTimeout })
    yield* Effect.provide(insert, access)
  }).pipe(Effect.scoped)
