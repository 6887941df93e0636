/** Planned waves in PostgreSQL, and what compares the waves of a supplier, from stored counts. */
import { DateTime, Effect, Layer, Schema } from "effect"
import { BatchId } from "@data-import/domain/batches/Batch"
import { decisionsLookedAt, GoNoGo } from "@data-import/domain/migrations/GoNoGo"
import {
  type DueStart,
  type PlannedWave,
  WavePlans,
  type WaveStart
} from "@data-import/domain/migrations/WavePlans"
import { CalendarDate } from "@data-import/domain/schema/Field"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]
type Port = WavePlans["Service"]

const Instant = Schema.DateTimeUtcFromDate

const startFields = {
  supplier: SupplierCode,
  cohort: Schema.String,
  at: Schema.NullOr(Instant),
  batch: Schema.NullOr(BatchId),
  team: Schema.NullOr(Schema.String),
  by: Schema.NullOr(Schema.String),
  outcome: Schema.NullOr(Schema.String)
}

const startColumns =
  "supplier, cohort, starts_at as at, start_batch as batch, start_team as team, start_by as by, " +
  "start_outcome as outcome"

interface StartRow {
  readonly at: DateTime.Utc | null
  readonly batch: BatchId | null
  readonly team: string | null
  readonly by: string | null
  readonly outcome: string | null
}

const startOf = ({ at, batch, by, outcome, team }: StartRow): WaveStart | null =>
  at === null || batch === null || team === null || by === null
    ? null
    : { at, batch, team, by, outcome }

const plannedRows = rowsOf(
  Schema.Struct({
    ...startFields,
    startsOn: Schema.NullOr(CalendarDate),
    owner: Schema.NullOr(Schema.String),
    accounts: Schema.NullOr(Schema.Int)
  })
)

const planned = (sql: Sql, suppliers: ReadonlyArray<SupplierCode>) =>
  plannedRows(sql`
    select ${sql.literal(startColumns)}, starts_on::text as "startsOn", owner, accounts
    from waves where supplier = any(${suppliers}::text[]) order by supplier, cohort`).pipe(
    Effect.map((rows) =>
      rows.map(({ accounts, cohort, owner, startsOn, supplier, ...row }): PlannedWave => ({
        supplier,
        cohort,
        startsOn,
        owner,
        accounts,
        start: startOf(row)
      }))
    )
  )

/** Whether the start of the present row is that which was seen, and nobody carries it out. */
const isAsSeen = (sql: Sql, before: WaveStart | null) => sql`
  present.start_batch is not distinct from ${before?.batch ?? null}::uuid
  and present.start_outcome is not distinct from ${before?.outcome ?? null}
  and (present.start_taken_at is null or present.start_outcome is not null)`

const plan = (sql: Sql, command: Parameters<Port["plan"]>[0]) => {
  const { at, before, caller, cohort, plan: wanted, supplier } = command
  const key = { import_supplier: supplier, external_account_number: null }
  const outcome = wanted === null ? "removed" : "set"
  const audited = auditEntry(sql, { at, caller, action: "plan_wave", outcome, key })
  const start = wanted?.start ?? null
  const change =
    wanted === null
      ? sql`delete from waves as present
          where supplier = ${supplier} and cohort = ${cohort} and ${isAsSeen(sql, before)}`
      : sql`insert into waves as present (supplier, cohort, starts_on, owner, accounts, starts_at,
            start_batch, start_team, start_by, start_outcome, set_at)
          values (${supplier}, ${cohort}, ${wanted.startsOn}::date, ${wanted.owner},
            ${wanted.accounts}::integer, ${start && DateTime.toDateUtc(start.at)}::timestamptz,
            ${start?.batch ?? null}::uuid, ${start?.team ?? null}, ${start?.by ?? null},
            ${start?.outcome ?? null}, ${DateTime.toDateUtc(at)})
          on conflict on constraint waves_pkey do update
          set starts_on = excluded.starts_on, owner = excluded.owner,
            accounts = excluded.accounts, starts_at = excluded.starts_at,
            start_batch = excluded.start_batch, start_team = excluded.start_team,
            start_by = excluded.start_by, start_outcome = excluded.start_outcome,
            start_taken_at = null, set_at = excluded.set_at
          where ${isAsSeen(sql, before)}`
  return Effect.map(
    sql`with changed as (${change} returning cohort) ${audited} returning outcome`,
    (rows) => rows.length > 0
  )
}

const dueRows = rowsOf(Schema.Struct(startFields))

/** After how long an instance that has taken a start, and said nothing, is taken for dead. */
const patience = { minutes: 1 }

const takeDue = (sql: Sql, at: DateTime.Utc) => {
  const takenBefore = DateTime.toDateUtc(DateTime.subtract(at, patience))
  return dueRows(sql`
    update waves set start_taken_at = ${DateTime.toDateUtc(at)}
    where starts_at <= ${DateTime.toDateUtc(at)} and start_outcome is null
      and (start_taken_at is null or start_taken_at <= ${takenBefore})
    returning ${sql.literal(startColumns)}`).pipe(
    Effect.map((rows) =>
      rows.flatMap(({ cohort, supplier, ...row }): ReadonlyArray<DueStart> => {
        const start = startOf(row)
        return start === null ? [] : [{ supplier, cohort, start }]
      })
    )
  )
}

const endStart = (sql: Sql, { at, caller, due, outcome }: Parameters<Port["endStart"]>[0]) => {
  const { cohort, start, supplier } = due
  const key = { import_supplier: supplier, external_account_number: null }
  return sql`
    with changed as (
      update waves set start_outcome = ${outcome}
      where supplier = ${supplier} and cohort = ${cohort} and start_batch = ${start.batch}::uuid
        and start_outcome is null
      returning cohort
    )
    ${auditEntry(sql, { at, caller, action: "start_wave", outcome, key })}`
}

const decisionRows = rowsOf(
  Schema.Struct({
    cohort: Schema.String,
    decision: GoNoGo,
    by: Schema.String,
    at: Instant,
    rehearsal: Schema.NullOr(BatchId),
    note: Schema.NullOr(Schema.String)
  })
)

const decisions = (sql: Sql, supplier: SupplierCode) =>
  decisionRows(sql`
    select cohort, decision, decided_by as by, decided_at as at, rehearsal, note
    from (
      select *, row_number() over (partition by cohort order by id desc) as place
      from wave_decisions where supplier = ${supplier}
    ) as decided
    where place <= ${decisionsLookedAt} order by cohort, id desc`).pipe(
    Effect.map((rows) => Map.groupBy(rows, ({ cohort }) => cohort))
  )

const endedRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, cohort: Schema.String, endedAt: Instant })
)

/** Ended batches that have lines are found by index; an empty one imports nothing. */
const ended = (sql: Sql, { since, suppliers }: Parameters<Port["ended"]>[0]) => {
  const cohort = sql.literal("coalesce(cohort, pending ->> 'cohort')")
  return endedRows(sql`
    select supplier, cohort, finished_at as "endedAt"
    from (
      select distinct on (supplier, cohort) * from (
        select organisation, supplier, ${cohort} as cohort, finished_at, is_cancelled
        from batches
        where finished_at > ${DateTime.toDateUtc(since)} and lines_deleted_through < received
          and supplier = any(${suppliers}::text[]) and started_at is not null and not dry_run
          and operation in ('IMPORT', 'PROCESS')
      ) as ended
      where cohort is not null
      order by supplier, cohort, finished_at desc
    ) as last
    where not is_cancelled and not exists (
      select from batches as other
      where other.organisation = last.organisation and finished_at is null
        and other.supplier = last.supplier and not dry_run
        and operation in ('STAGE', 'IMPORT', 'PROCESS')
        and coalesce(other.cohort, other.pending ->> 'cohort') = last.cohort)
      and not exists (
        select from batches as undo
        where undo.finished_at > last.finished_at and lines_deleted_through < received
          and undo.supplier = last.supplier and operation = 'REVERT' and not dry_run
          and succeeded > 0 and imported ->> 'cohort' = last.cohort)`)
}

const untiedRows = rowsOf(Schema.Struct({ cohort: Schema.String }))

/** See `ties`. */
const untied = (sql: Sql, supplier: SupplierCode) =>
  untiedRows(sql`
    select cohort
    from (
      select cohort, kind, name, amount from import_totals
      where supplier = ${supplier} and cohort <> '' and kind in ('ledger', 'balance')
      union all
      select cohort, kind, name, amount from import_differences
      where supplier = ${supplier} and cohort is not null and kind in ('ledger', 'balance')
    ) as parts
    group by cohort
    having sum(case when kind = 'ledger' then amount when name = '' then -amount end) <> 0`).pipe(
    Effect.map((rows) => new Set(rows.map(({ cohort }) => cohort)))
  )

const problemRows = rowsOf(
  Schema.Struct({ batch: BatchId, code: Schema.String, attr: Schema.String, lines: Schema.Int })
)

const firstProblems = (sql: Sql, batches: ReadonlyArray<BatchId>) =>
  problemRows(sql`
    select distinct on (batch) batch, code, attr, lines from batch_problems
    where batch = any(${batches}::uuid[]) order by batch, lines desc, digest`).pipe(
    Effect.map((rows) => new Map(rows.map(({ batch, ...problem }) => [batch, problem])))
  )

export const layer: Layer.Layer<WavePlans, never, Database> = Layer.effect(
  WavePlans,
  Effect.map(Database, ({ run, sql }) =>
    WavePlans.of({
      planned: (suppliers) => run(planned(sql, suppliers)),
      plan: (command) => run(plan(sql, command)),
      takeDue: (at) => run(takeDue(sql, at)),
      endStart: (command) => run(Effect.asVoid(endStart(sql, command))),
      decisions: (supplier) => run(decisions(sql, supplier)),
      ended: (query) => run(ended(sql, query)),
      untied: (supplier) => run(untied(sql, supplier)),
      firstProblems: (batches) => run(firstProblems(sql, batches))
    })
  )
)
