/** What is recorded of a migration: its plan, its status, its undo, and who has signed it off. */
import { DateTime, Effect, Option, type Result, Schema } from "effect"
import { CertificateId } from "@data-import/domain/certificates/Certificates"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import {
  statusOutcome,
  type Supplier,
  SupplierCode,
  SupplierStatus
} from "@data-import/domain/suppliers/Supplier"
import { itemsText } from "@data-import/domain/migrations/OpenItems"
import { BatchId } from "@data-import/domain/batches/Batch"
import { GoNoGo } from "@data-import/domain/migrations/GoNoGo"
import type { MigrationPlan, Migrations, SignOff } from "@data-import/domain/migrations/Migrations"
import { CalendarDate } from "@data-import/domain/schema/Field"
import { auditEntry, recordOperator } from "../audit/ChangeEntries.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { explain } from "./Comments.ts"

type Port = Migrations["Service"]

const Instant = Schema.DateTimeUtcFromDate

const planRows = rowsOf(
  Schema.Struct({
    supplier: SupplierCode,
    points: Schema.Array(Schema.Struct({ on: CalendarDate, accounts: Schema.Int }))
  })
)

export const plans = ({ sql }: Database["Service"], suppliers: ReadonlyArray<SupplierCode>) =>
  planRows(sql`
    select supplier, points from migration_plans where supplier = any(${suppliers}::text[])`).pipe(
    Effect.map(
      (rows): ReadonlyMap<SupplierCode, MigrationPlan> =>
        new Map(rows.map(({ points, supplier }) => [supplier, points]))
    )
  )

export const setPlan = Effect.fnUntraced(function* (
  { sql }: Database["Service"],
  { at, caller, plan, supplier }: Parameters<Port["setPlan"]>[0]
) {
  const setAt = DateTime.toDateUtc(at)
  yield* plan.length === 0
    ? sql`delete from migration_plans where supplier = ${supplier}`
    : sql`
        insert into migration_plans as present (supplier, points, set_at)
        values (${supplier}, ${JSON.stringify(plan)}::json, ${setAt})
        on conflict on constraint migration_plans_pkey do update
        set points = excluded.points, set_at = excluded.set_at`
  const key = { import_supplier: supplier, external_account_number: null }
  yield* sql`${auditEntry(sql, { at, caller, action: "set_plan", outcome: "set", key }, sql``)}`
})

const takenBackRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, cohort: Schema.String, at: Instant })
)

/** How many of the newest batches of each supplier are looked through. */
const batchesLookedAt = 20

export const takenBack = (
  sql: Database["Service"]["sql"],
  suppliers: ReadonlyArray<SupplierCode>
) =>
  takenBackRows(sql`
    select distinct on (supplier) supplier, cohort, finished_at as at
    from unnest(${suppliers}::text[]) as wanted (supplier) cross join lateral (
      select imported ->> 'cohort' as cohort, finished_at, operation, dry_run, succeeded
      from batches where batches.supplier = wanted.supplier
      order by number desc limit ${batchesLookedAt}
    ) as newest
    where operation = 'REVERT' and not dry_run and succeeded > 0 and cohort is not null
      and finished_at is not null
    order by supplier, finished_at desc`).pipe(
    Effect.map((rows) => new Map(rows.map(({ supplier, ...undone }) => [supplier, undone])))
  )

const decisionRows = rowsOf(
  Schema.Struct({
    decision: GoNoGo,
    by: Schema.String,
    at: Instant,
    rehearsal: Schema.NullOr(BatchId),
    note: Schema.NullOr(Schema.String)
  })
)

export const decisions = (
  { sql }: Database["Service"],
  { cohort, limit, supplier }: Parameters<Port["decisions"]>[0]
) =>
  decisionRows(sql`
    select decision, decided_by as by, decided_at as at, rehearsal, note from wave_decisions
    where supplier = ${supplier} and cohort = ${cohort} order by id desc limit ${limit}`)

export const recordDecision = (
  { sql }: Database["Service"],
  { at, caller, cohort, decided, supplier }: Parameters<Port["recordDecision"]>[0]
) => {
  const { decision, note, rehearsal } = decided
  const key = { import_supplier: supplier, external_account_number: null }
  const outcome = decision === "GO" ? "go" : "no_go"
  return sql`
    with decided as (
      insert into wave_decisions
        (supplier, cohort, decision, rehearsal, note, decided_by, decided_at)
      values (${supplier}, ${cohort}, ${decision}, ${rehearsal}::uuid, ${note}, ${caller.apiKey},
        ${DateTime.toDateUtc(at)})
    )
    ${auditEntry(sql, { at, caller, action: "decide_wave", outcome, key }, sql``)}`
}

const signOffRows = rowsOf(
  Schema.Struct({ by: Schema.String, at: Instant, certificate: Schema.NullOr(CertificateId) })
)

export const signOff = ({ sql }: Database["Service"], supplier: SupplierCode) =>
  signOffRows(sql`
    select signed_by as by, signed_at as at, certificate from migration_sign_offs
    where supplier = ${supplier}`).pipe(Effect.map(([row]) => Option.fromUndefinedOr(row)))

const statusRows = rowsOf(
  Schema.Struct({ code: SupplierCode, status: SupplierStatus, organisation: OrganisationName })
)

/** The lock serialises concurrent changes of the status. */
const lockedStatus = Effect.fnUntraced(function* (
  { sql }: Database["Service"],
  supplier: SupplierCode
) {
  const [row] = yield* statusRows(sql`
    select code, status, organisation from suppliers where code = ${supplier} for no key update`)
  return row ?? (yield* Effect.die(new Error("There is no such supplier")))
})

/**
 * Writes the status of a supplier that is locked, for the operator and for the board. The reason of
 * the status before ends with it, and so does a sign-off.
 */
export const setStatus = Effect.fnUntraced(function* (
  sql: Database["Service"]["sql"],
  { code, organisation, status: before }: Pick<Supplier, "code" | "organisation" | "status">,
  status: SupplierStatus
) {
  const key = { import_supplier: code, external_account_number: null }
  yield* sql`
    update suppliers set status = ${status},
      status_comment = case when status = ${status} then status_comment end
    where code = ${code}`
  if (before === "Complete" && status !== "Complete") {
    yield* sql`delete from migration_sign_offs where supplier = ${code}`
  }
  const outcome = statusOutcome(before, status)
  yield* recordOperator(sql, { action: "change_supplier_status", outcome, organisation, key })
})

export const changeStatus = Effect.fnUntraced(function* <E>(
  database: Database["Service"],
  { reason, ...command }: Parameters<Port["changeStatus"]>[0],
  decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
) {
  const present = yield* lockedStatus(database, command.supplier)
  const status = yield* Effect.fromResult(decide(present.status))
  yield* setStatus(database.sql, present, status)
  if (reason !== null) yield* explain(database.sql, { ...command, reason })
  return status
})

export const recordSignOff = Effect.fnUntraced(function* (
  database: Database["Service"],
  { at, caller, certificate, reason, supplier }: Parameters<Port["recordSignOff"]>[0]
) {
  const { sql } = database
  const key = { import_supplier: supplier, external_account_number: null }
  const before = yield* lockedStatus(database, supplier)
  const present = yield* signOff(database, supplier)
  if (before.status === "Complete" && Option.isSome(present)) return present.value
  yield* setStatus(sql, before, "Complete")
  const signed = certificate === null ? "signed without_certificate" : `signed ${certificate}`
  const accepted = reason === null ? "" : ` accepting ${itemsText(reason.open)}`
  const write = { at, caller, action: "sign_off", outcome: `${signed}${accepted}`, key } as const
  yield* sql`
    with signed as (
      insert into migration_sign_offs as present (supplier, signed_by, signed_at, certificate)
      values (${supplier}, ${caller.apiKey}, ${DateTime.toDateUtc(at)}, ${certificate}::uuid)
      on conflict on constraint migration_sign_offs_pkey do update
      set signed_by = excluded.signed_by, signed_at = excluded.signed_at,
        certificate = excluded.certificate
    )
    ${auditEntry(sql, write, sql``)}`
  if (reason !== null) yield* explain(sql, { supplier, caller, at, about: "sign_off", reason })
  return { by: caller.apiKey, at, certificate } satisfies SignOff
})
