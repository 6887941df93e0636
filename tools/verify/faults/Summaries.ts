/**
 * Checks that the summary of a supplier equals a count of the rows.
 * Source: docs/contract/queries.md#summary.
 */
import { isDeepStrictEqual } from "node:util"
import { Duration, Effect, Schema } from "effect"
import { type Database, rowsOf } from "@data-import/postgres/connection/Database"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"
import type { Findings } from "./Findings.ts"
import { summary } from "./Requests.ts"
import * as Session from "./Session.ts"

const Counts = Schema.Struct({
  total: Schema.Int,
  states: Schema.Record(Schema.String, Schema.Int),
  lines_refused: Schema.Int,
  imported_last_hour: Schema.Int,
  codes: Schema.Array(Schema.Struct({ code: Schema.String, imports: Schema.Int })),
  documents_missing: Schema.Int,
  balance: Schema.String,
  ledger_balances: Schema.Array(
    Schema.Struct({ ledger_code: Schema.String, ledgers: Schema.Int, balance: Schema.String })
  )
})
const Answered = Schema.Struct({ ...Counts.fields, at: Schema.String })

const decodeAnswer = Schema.decodeUnknownEffect(Answered)

const read = Effect.fnUntraced(function* (
  session: Session.Session,
  tenant: Tenant,
  cohort: string | null
) {
  const { answer } = yield* session.settle(summary(tenant, cohort))
  return yield* decodeAnswer(answer.json)
})

const recountRows = rowsOf(Schema.Struct({ counts: Counts }))

/** The lines that were refused and have no import, with the cohorts of their batches. */
const refusedLines = (sql: Database["Service"]["sql"], supplier: string) => sql`
    select distinct on (identity) identity, cohort
    from batches join batch_chunks on batch = id cross join lateral (
      select number as named, outcome, coalesce(number, encode(line, 'hex')) as identity
      from unnest(lines, numbers, outcomes) as of_line(line, number, outcome)
    ) as of_line
    where supplier = ${supplier} and finished_at is not null and not dry_run
      and operation in ('STAGE', 'IMPORT', 'PROCESS') and outcome = 'FAILED'
      and not exists (select from import_processes
        where supplier = ${supplier} and external_account_number = named)
    order by identity, batches.number`

/** Counts the rows of the supplier's imports; null for those of all cohorts. */
const recount = Effect.fnUntraced(function* (
  { supplier }: Tenant,
  cohort: string | null,
  at: string
) {
  const { run, sql } = (yield* System).database
  const [row] = yield* run(
    recountRows(sql`
      with mine as (
        select id, account_id, account_number, account_created_at,
          case when account_number is not null then 'IMPORTED' when skipped then 'SKIPPED'
            when lease_expires_at > ${at}::timestamptz then 'IN_PROGRESS'
            when lease_attempt is not null and not lease_dry_run
              or failed_staging = stagings then 'FAILED'
            else 'PENDING' end as state
        from import_processes
        where supplier = ${supplier} and (${cohort}::text is null or cohort = ${cohort})
      ),
      failed as (
        select distinct mine.id, code from mine, lateral (
          select outcome, errors from import_attempts where import_id = mine.id
          order by sequence desc limit 1
        ) as last, lateral (
          select coalesce(last.outcome, 'lease_expired') as code
          union all
          select error ->> 'code' from jsonb_array_elements(last.errors) as error
        ) as told
        where state = 'FAILED'
      ),
      codes as (
        select code, count(*) as imports from failed group by code
        order by count(*) desc, code collate "C" limit 10
      ),
      ledger_sums as (
        select ledger_code, count(*) as ledgers, round(sum(coalesce(ledger_balance,
          coalesce(last_statement_balance, 0) + coalesce((
            select sum(effect_on_balance) from transactions
            where transactions.account_id = mine.account_id and ledger_position = ledgers.position
              and origin = 'current_statement'), 0))), 2)::text as balance
        from mine join ledgers using (account_id)
        group by ledger_code order by ledger_code collate "C"
      ),
      refused as (${refusedLines(sql, supplier)})
      select json_build_object(
        'lines_refused', (select count(*) from refused
          where ${cohort}::text is null or cohort = ${cohort}),
        'total', (select count(*) from mine),
        'states', (
          select json_object_agg(state, (select count(*) from mine where mine.state = known.state))
          from unnest(array['PENDING', 'FAILED', 'IN_PROGRESS', 'SKIPPED', 'IMPORTED', 'ERASED'])
            as known(state)),
        'imported_last_hour', (select count(*) from mine
          where account_created_at >= date_trunc('minute', ${at}::timestamptz - interval '1 hour')),
        'codes', (select coalesce(json_agg(codes), '[]') from codes),
        'documents_missing', (select count(*) from failed
          where code = 'path_does_not_exist_in_file_store'),
        'balance', (select round(coalesce(sum(balance), 0), 2)::text
          from mine join accounts on accounts.id = account_id),
        'ledger_balances', (select coalesce(json_agg(ledger_sums), '[]') from ledger_sums)
      ) as counts`)
  )
  return row?.counts
})

const cohortRows = rowsOf(Schema.Struct({ cohort: Schema.String }))

const cohortsOf = Effect.fnUntraced(function* ({ supplier }: Tenant) {
  const { run, sql } = (yield* System).database
  const rows = yield* run(
    cohortRows(sql`
      select distinct cohort from import_processes
      where supplier = ${supplier} and cohort is not null order by cohort`)
  )
  return rows.map(({ cohort }) => cohort)
})

/** A lease may end between the two counts, so that they differ once. */
const comparisons = 3

/** Compares the summary of all imports, and of each cohort, with a count of the rows. */
export const verifySummaries = Effect.fnUntraced(function* (tenant: Tenant, findings: Findings) {
  const session = yield* Session.open(tenant, 1)
  for (const cohort of [null, ...(yield* cohortsOf(tenant))]) {
    for (let left = comparisons; left > 0; left--) {
      const { at, ...answered } = yield* read(session, tenant, cohort)
      const counted = yield* recount(tenant, cohort, at)
      if (isDeepStrictEqual(answered, counted)) break
      if (left > 1) {
        yield* Effect.sleep(Duration.seconds(1))
        continue
      }
      const [said, is] = [answered, counted].map((counts) => JSON.stringify(counts))
      findings.add("wrong", `the summary of ${cohort ?? "all cohorts"} says ${said}, and not ${is}`)
    }
  }
}, Effect.scoped)
