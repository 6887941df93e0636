/**
 * The balances of the accounts of a supplier, read page by page in the order of the numbers. Each
 * page reads a bounded part of an index, however few of its accounts are in the cohort.
 */
import { type Effect, Schema, Stream } from "effect"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { AccountBalance, ImportSearch } from "@data-import/domain/migrations/ImportSearch"
import { type Database, rowsOf } from "../connection/Database.ts"
import { numeric } from "../tables/Column.ts"
import { foundInPart, partByPart, sourceOf } from "../imports/ImportSource.ts"

type Balances = ImportSearch["Service"]["balances"]
type Query = Parameters<Balances>[0]

/** How many accounts a statement looks at. */
const pageSize = 1_000

const Instant = Schema.DateTimeUtcFromDate

const balanceRows = rowsOf(
  Schema.Struct({
    scanned: Schema.Int,
    last: Schema.NullOr(Schema.String),
    number: Schema.NullOr(ExternalAccountNumber),
    accountNumber: Schema.NullOr(AccountNumber),
    cohort: Schema.NullOr(Schema.String),
    createdAt: Schema.NullOr(Instant),
    balance: Schema.NullOr(numeric.schema)
  })
)

/**
 * One statement reads imported and erased accounts, so that an account that is erased meanwhile
 * appears exactly once.
 */
const page = (
  { sql }: Database["Service"],
  { cohort, supplier }: Query,
  after: string,
  size: number
) => {
  const part = { supplier, after, size }
  return balanceRows(sql`
    with part as materialized (
      select id, external_account_number as place from (
        (${sourceOf(sql, {}, { ...part, kind: "imported" })})
        union all (${sourceOf(sql, { state: "ERASED" }, { ...part, kind: "all" })})
      ) as imports
      order by external_account_number limit ${size}
    ),
    found as (
      select place as number, account_number as "accountNumber", cohort,
        account_created_at as "createdAt", balance::text as balance
      from part cross join lateral (
        select account_id, cohort, account_number, account_created_at from import_processes
        where id = part.id offset 0
      ) as present cross join lateral (
        select balance from accounts where id = present.account_id offset 0
      ) as account
      ${cohort === null ? sql`` : sql`where cohort = ${cohort}`}
    )
    ${sql.literal(foundInPart)}`)
}

type Row = Effect.Success<ReturnType<typeof page>>[number]

const balanceOf = (row: Row): ReadonlyArray<AccountBalance> => {
  const { accountNumber, balance, cohort, createdAt, number } = row
  if (number === null || balance === null) return []
  const account =
    accountNumber === null || createdAt === null
      ? null
      : { externalNumber: number, number: accountNumber, cohort, createdAt }
  return [{ account, balance }]
}

/** Reads the balances in pages of this size. */
export const pagesOf = (size: number) => (database: Database["Service"], query: Query) =>
  partByPart(size, (after) => database.run(page(database, query, after, size))).pipe(
    Stream.flatMap((row) => Stream.fromIterable(balanceOf(row)))
  )

export const balances = pagesOf(pageSize)
