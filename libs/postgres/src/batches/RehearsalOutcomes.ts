/**
 * What became of the lines of a rehearsal: each line's attempt of the rehearsal and the first one
 * after it that was no dry run. Imports are looked up one by one, because plans are kept while
 * tables grow.
 */
import { DateTime, Effect, Layer, Schema } from "effect"
import {
  OutcomeLine,
  type OutcomeQuery,
  RehearsalOutcomes
} from "@data-import/domain/batches/RehearsalOutcomes"
import { missingDocument } from "@data-import/domain/migrations/SupplierSummary"
import { Database, rowsOf } from "../connection/Database.ts"
import { stateOf } from "../imports/ImportSource.ts"

type Sql = Database["Service"]["sql"]

const lineRows = rowsOf(OutcomeLine)

const { finally: _, ...counted } = OutcomeLine.fields
const countRows = rowsOf(
  Schema.Struct({
    predicted: counted.predicted,
    happened: counted.happened,
    finally: OutcomeLine.fields.finally,
    lines: Schema.Int
  })
)

/** The codes of an attempt in order, however often each was found. */
const codesOf = (sql: Sql, attempt: string) => sql`array(
  select ${sql.literal(attempt)}.outcome union
  select error ->> 'code' from jsonb_array_elements(${sql.literal(attempt)}.errors) as error
  order by 1)`

/** A document that came or went in between is a change like any other. */
const lacksDocument = (sql: Sql, attempt: string) => sql`coalesce(
  ${sql.literal(attempt)}.errors @> ${JSON.stringify([{ code: missingDocument }])}::jsonb, false)`

const attempt = "sequence, outcome, errors, started_at, payload_hash, judged_by"

const compared = (
  sql: Sql,
  { afterLine, at, lines, rehearsal: { finishedAt, id, settings, started } }: OutcomeQuery
) => sql`
  select of_line.line, of_line.number as external_account_number, of_line.predicted,
    case when present.id is null then 'NOT_TRIED'
      when present.erased_at is not null then 'ERASED'
      when happened.outcome is null then case when present.skipped then 'SKIPPED'
        else 'NOT_TRIED' end
      when rehearsed.sequence is null and of_line.predicted <> 'SUCCEEDED' then 'CHANGED'
      when rehearsed.sequence is not null and (rehearsed.payload_hash, rehearsed.judged_by)
        is distinct from (happened.payload_hash, happened.judged_by) then 'CHANGED'
      when ${lacksDocument(sql, "rehearsed")} <> ${lacksDocument(sql, "happened")} then 'CHANGED'
      when happened.outcome = 'created' then 'CREATED'
      when ${codesOf(sql, "rehearsed")} = ${codesOf(sql, "happened")} then 'FAILED_AS_PREDICTED'
      else 'FAILED_OTHERWISE'
    end as happened,
    case when present.id is null then 'NEVER_STAGED'
      when present.account_number is null and present.reverted_at > happened.started_at
        then 'REVERTED'
      else ${stateOf(sql, at)}
    end as finally
  from (
    select first_line + place::integer - 1 as line, number, outcome as predicted
    from batch_chunks, unnest(numbers, outcomes) with ordinality
      as each(number, outcome, place)
    where batch = ${id} and first_line <= ${afterLine + lines}
      and first_line + line_count - 1 > ${afterLine} and outcome is not null
  ) as of_line
  left join lateral (
    select id, skipped, erased_at, reverted_at, account_number, lease_attempt, lease_expires_at,
      lease_dry_run, failed_staging, stagings
    from import_processes
    where supplier = ${settings.supplier} and external_account_number = number offset 0
  ) as present on true
  left join lateral (
    select ${sql.literal(attempt)} from import_attempts
    where import_id = present.id and dry_run
      and started_at between ${started && DateTime.toDateUtc(started.at)}
        and ${DateTime.toDateUtc(finishedAt ?? at)}
    order by sequence desc limit 1
  ) as rehearsed on true
  left join lateral (
    select ${sql.literal(attempt)} from import_attempts
    where import_id = present.id and not dry_run
      and started_at >= ${started && DateTime.toDateUtc(started.at)}
      and sequence > coalesce(rehearsed.sequence, 0)
    order by sequence limit 1
  ) as happened on true
  where of_line.line > ${afterLine} and of_line.line <= ${afterLine + lines}`

export const layer: Layer.Layer<RehearsalOutcomes, never, Database> = Layer.effect(
  RehearsalOutcomes,
  Effect.map(Database, ({ run, sql }) =>
    RehearsalOutcomes.of({
      counts: (query) =>
        run(
          countRows(sql`
            select predicted, happened, finally, count(*)::integer as lines
            from (${compared(sql, query)}) as compared group by 1, 2, 3`)
        ),
      lines: (query) => run(lineRows(sql`${compared(sql, query)} order by line`))
    })
  )
)
