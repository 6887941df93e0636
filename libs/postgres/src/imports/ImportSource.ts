/**
 * Where a list finds its imports: by index in the order of their numbers, a bounded part at a time.
 * Failed imports and those in progress are few among many, so they have separate sources.
 */
import { DateTime, Effect, Option, Stream } from "effect"
import type { Statement } from "effect/sql"
import type { DetailedState, ImportFilter } from "@data-import/domain/imports/ImportDetails"
import type { ImportListKind } from "@data-import/domain/imports/ImportProcesses"
import type { SearchFilter } from "@data-import/domain/migrations/ImportSearch"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import type { Database } from "../connection/Database.ts"
import { brokenOff } from "../tables/ImportRow.ts"

type Sql = Database["Service"]["sql"]

/** A part of a list: at most `size` imports after a number. */
export interface Part {
  readonly supplier: SupplierCode
  readonly kind: ImportListKind
  readonly after: string
  readonly size: number
}

/**
 * The end of a statement whose `part` has the `place` of each import that was looked at: the rows
 * of `found` by `number`, each with how many were looked at and the last place. If nothing was
 * found it is one row, so that a list continues after the part.
 */
export const foundInPart = `
  select scanned, last, found.*
  from (select count(*)::integer as scanned, max(place) as last from part) as scan
  left join found on true
  order by number`

/** The rows of a whole list, whose parts of `size` imports are read one after the other. */
export const partByPart = <
  Row extends { readonly scanned: number; readonly last: string | null },
  E,
  R
>(
  size: number,
  read: (after: string) => Effect.Effect<ReadonlyArray<Row>, E, R>
) =>
  Stream.paginate(
    "",
    Effect.fnUntraced(function* (after) {
      const rows = yield* read(after)
      const { last = null, scanned = 0 } = rows[0] ?? {}
      const next = last === null || scanned < size ? Option.none() : Option.some(last)
      return [rows, next] as const
    })
  )

/** The condition of each kind, written as in its index. */
export const kindConditions = (sql: Sql): Readonly<Record<ImportListKind, Statement.Fragment>> => ({
  all: sql``,
  pending: sql`and account_number is null and not skipped`,
  imported: sql`and account_number is not null`
})

const inRange = (
  sql: Sql,
  { after, kind, size, supplier }: Part,
  more: Statement.Fragment
): Statement.Fragment => sql`
  select id, external_account_number from import_processes
  where supplier = ${supplier} and external_account_number > ${after}
    ${kindConditions(sql)[kind]} ${more}
  order by external_account_number limit ${size}`

/** Imports whose attempt is running, or was interrupted and not ended yet; these are few. */
const withLease = (sql: Sql, part: Part): Statement.Fragment => sql`
  select present.id, external_account_number
  from import_attempts as running, lateral (
    select id, external_account_number from import_processes as present
    where present.id = running.import_id and supplier = ${part.supplier}
      and external_account_number > ${part.after} and lease_attempt = running.id
      ${kindConditions(sql)[part.kind]}
    offset 0
  ) as present
  where ended_at is null
  order by external_account_number limit ${part.size}`

const narrowest: Partial<Record<DetailedState, ImportListKind>> = {
  PENDING: "pending",
  IMPORTED: "imported"
}

/** `id` and `external_account_number` of the part of the list that may meet the conditions. */
export const sourceOf = (
  sql: Sql,
  { code, failed, state }: ImportFilter,
  part: Part
): Statement.Fragment => {
  if (state === "IN_PROGRESS") return withLease(sql, part)
  if (state === "ERASED") return inRange(sql, part, sql`and erased_at is not null`)
  if (failed === true || code !== undefined || state === "FAILED") {
    return sql`
      select id, external_account_number from (
        (${inRange(sql, part, sql`and failed_staging is not null`)})
        union (${withLease(sql, part)})
      ) as failed
      order by external_account_number limit ${part.size}`
  }
  const kind = part.kind === "all" && state !== undefined ? narrowest[state] : undefined
  return inRange(sql, { ...part, kind: kind ?? part.kind }, sql``)
}

/** The state of `present` at an instant, by the rules of the domain. */
export const stateOf = (sql: Sql, at: DateTime.Utc): Statement.Fragment => sql`
  case when erased_at is not null then 'ERASED'
    when account_number is not null then 'IMPORTED'
    when skipped then 'SKIPPED'
    when lease_expires_at > ${DateTime.toDateUtc(at)} then 'IN_PROGRESS'
    when ${brokenOff(sql)} or failed_staging = stagings then 'FAILED'
    else 'PENDING'
  end`

/** The same whether or not an attempt has a lease, so that it changes only when the import does. */
export const settledStateOf = (sql: Sql): Statement.Fragment => sql`
  case when erased_at is not null then 'ERASED'
    when account_number is not null then 'IMPORTED'
    when skipped then 'SKIPPED'
    when failed_staging = stagings then 'FAILED'
    else 'PENDING'
  end`

/** Whether `present` has failed, and was not imported since: it may have been staged again. */
export const hasFailed = (sql: Sql, at: DateTime.Utc): Statement.Fragment => sql`
  (${stateOf(sql, at)} in ('FAILED', 'PENDING')
    and (present.failed_staging is not null or ${brokenOff(sql)}))`

/** Whether the latest attempt of `present` that was no dry run ended with this code, or has an error with it. */
export const hasCode = (sql: Sql, code: string): Statement.Fragment => sql`
  exists (
    select from (
      select outcome, errors from import_attempts where import_id = present.id and not dry_run
      order by sequence desc limit 1
    ) as latest
    where coalesce(outcome, 'lease_expired') = ${code} or exists (
      select from jsonb_array_elements(errors) as error where error ->> 'code' = ${code}))`

/** What `present` is selected by, in lists and in batches of pending imports alike. */
export const selectedBy = (
  sql: Sql,
  { code, cohort, corrected, state }: Pick<SearchFilter, "code" | "cohort" | "corrected" | "state">,
  at: DateTime.Utc
): Statement.Fragment => {
  const present = stateOf(sql, at)
  return sql`true
    ${state === undefined ? sql`` : sql`and ${present} = ${state}`}
    ${cohort === undefined ? sql`` : sql`and present.cohort is not distinct from ${cohort}::text`}
    ${corrected === undefined ? sql`` : sql`and ${present} = 'PENDING' and ${hasFailed(sql, at)}`}
    ${code === undefined ? sql`` : sql`and ${hasFailed(sql, at)} and ${hasCode(sql, code)}`}`
}
