/**
 * What a revert of the imported accounts of a supplier would end, read page by page in the order of
 * the numbers. Each page reads a bounded part of an index, however few of its accounts are in the
 * cohort.
 */
import { DateTime, Schema, Stream } from "effect"
import { AdditionCounts } from "@data-import/domain/additions/AdditionCounts"
import type { ImportSearch } from "@data-import/domain/migrations/ImportSearch"
import { type Database, rowsOf } from "../connection/Database.ts"
import { partByPart, sourceOf } from "../imports/ImportSource.ts"
import { numeric } from "../tables/Column.ts"

type Query = Parameters<ImportSearch["Service"]["wave"]>[0]

/** How many accounts a statement looks at. */
const pageSize = 1_000

const Group = Schema.Struct({
  isClosed: Schema.Boolean,
  hasAdditions: Schema.Boolean,
  hasPayload: Schema.Boolean,
  vendor: Schema.NullOr(Schema.String),
  accounts: Schema.Int,
  firstCreatedAt: Schema.DateTimeUtcFromMillis,
  lastCreatedAt: Schema.DateTimeUtcFromMillis,
  balance: numeric.schema,
  added: numeric.schema,
  additions: AdditionCounts
})

const pageRows = rowsOf(
  Schema.Struct({
    scanned: Schema.Int,
    last: Schema.NullOr(Schema.String),
    groups: Schema.Array(Group)
  })
)

/** The accounts of the part, with the facts that `account_to_revert` tells of one. */
const accounts = ({ sql }: Database["Service"], { closedThrough, cohort }: Query) => sql`
  select created_at <= ${DateTime.toDateUtc(closedThrough)} as is_closed, created_at, balance,
    transactions + notes + statements + instructions > 0 as has_additions, vendor,
    has_payload
      or coalesce(payload_hash = sha256(convert_to(payload::text, 'UTF8')), false) as has_payload,
    transactions, added, notes, statements, instructions
  from part cross join lateral (
    select account_id, payload is not null as has_payload, payload_hash from import_processes
    where id = part.id ${cohort === null ? sql`` : sql`and cohort = ${cohort}`} offset 0
  ) as present cross join lateral (
    select created_at, balance, payload, payload_notes from accounts
    where id = present.account_id offset 0
  ) as account cross join lateral (
    select count(*) as transactions, coalesce(sum(effect_on_balance), 0) as added
    from transactions where account_id = present.account_id and origin = 'post_import'
  ) as of_transactions cross join lateral (
    select count(*) - account.payload_notes as notes from notes
    where account_id = present.account_id
  ) as of_notes cross join lateral (
    select count(*) as statements from statements
    where account_id = present.account_id and origin = 'historical_statements'
  ) as of_statements cross join lateral (
    select count(*) as instructions, min(vendor) filter (where ended_at is null) as vendor
    from payment_instructions where account_id = present.account_id
  ) as of_instructions`

const page = (database: Database["Service"], query: Query, after: string) => {
  const { sql } = database
  const part = { supplier: query.supplier, kind: "imported", after, size: pageSize } as const
  return pageRows(sql`
    with part(id, place) as materialized (${sourceOf(sql, {}, part)}),
    accounts_of_part as (${accounts(database, query)}),
    groups as (
      select json_build_object('isClosed', is_closed, 'hasAdditions', has_additions,
        'hasPayload', has_payload, 'vendor', vendor, 'accounts', count(*),
        'firstCreatedAt', floor(extract(epoch from min(created_at)) * 1000)::float8,
        'lastCreatedAt', floor(extract(epoch from max(created_at)) * 1000)::float8,
        'balance', sum(balance)::text, 'added', sum(added)::text,
        'additions', json_build_object('transactions', sum(transactions), 'notes', sum(notes),
          'statements', sum(statements), 'payment_instructions', sum(instructions))) as told
      from accounts_of_part group by is_closed, has_additions, has_payload, vendor
    )
    select count(*)::integer as scanned, max(place) as last,
      (select coalesce(json_agg(told), '[]') from groups) as groups
    from part`)
}

export const wave = (database: Database["Service"], query: Query) =>
  partByPart(pageSize, (after) => database.run(page(database, query, after))).pipe(
    Stream.flatMap(({ groups }) => Stream.fromIterable(groups))
  )
