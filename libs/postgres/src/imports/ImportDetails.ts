/**
 * Imports with their details. A list with conditions reads a bounded part of the index in each
 * statement, so that no statement takes long, however few imports meet the conditions.
 */
import { DateTime, Effect, Option, Schema, Stream } from "effect"
import type { Statement } from "effect/sql"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportDetails } from "@data-import/domain/imports/ImportDetails"
import { AttemptId, type ImportKey, PayloadHash } from "@data-import/domain/imports/ImportProcess"
import {
  type DetailedList,
  errorsInList,
  type ImportListEntry,
  type ImportProcesses
} from "@data-import/domain/imports/ImportProcesses"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { type Database, isStorable, rowsOf } from "../connection/Database.ts"
import { AttemptError } from "../tables/AttemptError.ts"
import { brokenOff } from "../tables/ImportRow.ts"
import { startOf } from "./ImportList.ts"
import { hasCode, sourceOf, stateOf } from "./ImportSource.ts"

type Sql = Database["Service"]["sql"]
type List = ImportProcesses["Service"]["list"]
type ListQuery = Parameters<List>[0] & { readonly detailed: DetailedList }

const Instant = Schema.DateTimeUtcFromMillis

const Attempt = Schema.Struct({
  id: AttemptId,
  dryRun: Schema.Boolean,
  startedAt: Instant,
  endedAt: Schema.NullOr(Instant),
  outcome: Schema.NullOr(Schema.String),
  errors: Schema.Array(AttemptError)
})

export const Entry = Schema.Struct({
  number: ExternalAccountNumber,
  skipped: Schema.Boolean,
  erased: Schema.Boolean,
  lease: Schema.NullOr(
    Schema.Struct({ attempt: AttemptId, expiresAt: Instant, isDryRun: Schema.Boolean })
  ),
  account: Schema.NullOr(Schema.Struct({ number: AccountNumber, createdAt: Instant })),
  stagedAt: Instant,
  stagings: Schema.Int,
  hash: Schema.NullOr(PayloadHash),
  cohort: Schema.NullOr(Schema.String),
  hasFailed: Schema.Boolean,
  attempts: Schema.Array(Attempt),
  revertedAt: Schema.NullOr(Instant),
  reverted: Schema.Array(
    Schema.Struct({
      number: AccountNumber,
      createdAt: Instant,
      revertedAt: Instant,
      reason: Schema.NullOr(Schema.String)
    })
  )
})

const entryRows = rowsOf(Schema.Struct({ entry: Entry }))

const partRows = rowsOf(
  Schema.Struct({
    scanned: Schema.Int,
    last: Schema.NullOr(Schema.String),
    entry: Schema.NullOr(Entry)
  })
)

/** Milliseconds since the epoch. */
const millis = (column: string): string => `floor(extract(epoch from ${column}) * 1000)::float8`

/** The latest attempts of `present`, with their first errors. */
const latest = (sql: Sql, attempts: number, errors: number | null): Statement.Fragment =>
  attempts === 0
    ? sql`'[]'::json`
    : sql`coalesce((
        select json_agg(json_build_object('id', id, 'dryRun', dry_run,
          'startedAt', ${sql.literal(millis("started_at"))},
          'endedAt', ${sql.literal(millis("ended_at"))}, 'outcome', outcome,
          'errors', ${
            errors === null
              ? sql`errors`
              : sql`jsonb_path_query_array(errors,
            ${`$[0 to ${errors - 1}]`}::jsonpath)`
          }) order by sequence)
        from (
          select * from import_attempts where import_id = present.id
          order by sequence desc limit ${attempts}
        ) as latest), '[]'::json)`

/** The past accounts of `present`, which are looked up for those imports alone that have any. */
const reverted = (sql: Sql): Statement.Fragment => sql`
  case when present.reverted_at is null then '[]' else coalesce((
    select json_agg(json_build_object('number', number,
      'createdAt', ${sql.literal(millis("created_at"))},
      'revertedAt', ${sql.literal(millis("accounts.reverted_at"))}, 'reason', revert_reason)
      order by accounts.id)
    from accounts where import_id = present.id and accounts.reverted_at is not null), '[]') end`

/** JSON of `present` as `Entry` reads it. */
const entryOf = (sql: Sql, attempts: Statement.Fragment): Statement.Fragment => sql`
  json_build_object('number', external_account_number,
    'skipped', skipped and erased_at is null, 'erased', erased_at is not null,
    'lease', case when lease_attempt is not null then json_build_object(
      'attempt', lease_attempt, 'expiresAt', ${sql.literal(millis("lease_expires_at"))},
      'isDryRun', lease_dry_run) end,
    'account', case when account_number is not null then json_build_object(
      'number', account_number, 'createdAt', ${sql.literal(millis("account_created_at"))}) end,
    'stagedAt', ${sql.literal(millis("staged_at"))}, 'stagings', stagings,
    'hash', encode(payload_hash, 'hex'), 'cohort', cohort,
    'hasFailed', coalesce(failed_staging = stagings and not ${brokenOff(sql)}, false),
    'attempts', ${attempts},
    'revertedAt', ${sql.literal(millis("present.reverted_at"))}, 'reverted', ${reverted(sql)})`

/** JSON of an import as `Entry` reads it, with its latest attempts; the import is `present`. */
export const detailedEntry = (sql: Sql, attempts: number): Statement.Fragment =>
  entryOf(sql, latest(sql, attempts, null))

export const detailsOf = (supplier: SupplierCode, entry: typeof Entry.Type): ImportDetails => {
  const { account, erased, lease, number, revertedAt, skipped, ...details } = entry
  const key = { import_supplier: supplier, external_account_number: number }
  return { process: { key, skipped, erased, lease, account, revertedAt }, ...details }
}

export const details = ({ sql }: Database["Service"], key: ImportKey, attempts: number) =>
  entryRows(sql`
    select ${detailedEntry(sql, attempts)} as entry from import_processes as present
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}`).pipe(
    Effect.map(([row]) =>
      row === undefined ? Option.none() : Option.some(detailsOf(key.import_supplier, row.entry))
    )
  )

/** How many imports a statement reads from the index; fewer with attempts, which may be large. */
const partSize = 2_000
const partSizeWithAttempts = 100

const conditions = (sql: Sql, { at, filter }: DetailedList): Statement.Fragment => {
  const { code, cohort, failed, stagedAfter, state } = filter
  const present = stateOf(sql, at)
  return sql`true
    ${state === undefined ? sql`` : sql`and ${present} = ${state}`}
    ${failed === undefined ? sql`` : sql`and (${present} = 'FAILED') = ${failed}`}
    ${code === undefined ? sql`` : sql`and ${present} = 'FAILED' and ${hasCode(sql, code)}`}
    ${cohort === undefined ? sql`` : sql`and cohort = ${cohort}`}
    ${stagedAfter === undefined ? sql`` : sql`and staged_at > ${DateTime.toDateUtc(stagedAfter)}`}`
}

/** The imports of a part that meet the conditions; one row without an entry if none does. */
const part = (
  { sql }: Database["Service"],
  { detailed, kind, supplier }: ListQuery,
  after: string,
  size: number
) => {
  const attempts = latest(sql, detailed.details === "with attempts" ? 1 : 0, errorsInList)
  return partRows(sql`
    with part(id, place) as materialized (
      ${sourceOf(sql, detailed.filter, { supplier, kind, after, size })}
    ),
    found as (
      select present.external_account_number, ${entryOf(sql, attempts)} as entry
      from part, lateral (
        select * from ${present(sql)} where id = part.id offset 0
      ) as present
      where ${conditions(sql, detailed)}
    )
    select scanned, last, entry
    from (
      select count(*)::integer as scanned, max(place) as last from part
    ) as scan left join found on true
    order by external_account_number`)
}

/** The columns that are readable for a service without access to payloads. */
export const present = (sql: Sql): Statement.Fragment => sql`(
  select id, supplier, external_account_number, skipped, lease_attempt, lease_expires_at,
    lease_dry_run, account_number, account_created_at, staged_at, stagings, payload_hash,
    failed_staging, cohort, erased_at, reverted_at
  from import_processes) as present`

const listEntry = (
  supplier: SupplierCode,
  entry: typeof Entry.Type,
  { details: wanted }: DetailedList
): ImportListEntry => {
  const details = detailsOf(supplier, entry)
  return {
    external_account_number: entry.number,
    kraken_account_number: entry.account?.number ?? null,
    account_created_at: entry.account?.createdAt ?? null,
    ...(wanted !== "none" && { details })
  }
}

const parts = (database: Database["Service"], query: ListQuery) => {
  const { detailed, supplier } = query
  const isFiltered = Object.keys(detailed.filter).length > 0
  const most = detailed.details === "with attempts" ? partSizeWithAttempts : partSize
  return Stream.paginate(
    { after: startOf(query.after), left: query.limit ?? Infinity },
    Effect.fnUntraced(function* ({ after, left }) {
      const size = isFiltered ? most : Math.min(left, most)
      const rows = yield* database.run(part(database, query, after, size))
      const found = rows.flatMap(({ entry }) => (entry === null ? [] : [entry])).slice(0, left)
      const { last = null, scanned = 0 } = rows[0] ?? {}
      const rest = left - found.length
      const isEnd = last === null || scanned < size || rest === 0
      const next = isEnd ? Option.none() : Option.some({ after: last, left: rest })
      return [found.map((entry) => listEntry(supplier, entry, detailed)), next] as const
    })
  )
}

export const detailedList = (
  database: Database["Service"],
  query: Parameters<List>[0]
): ReturnType<List> =>
  query.detailed && isStorable(query.supplier)
    ? parts(database, { ...query, detailed: query.detailed })
    : Stream.empty
