/**
 * The lists of imports, page by page, each where the one before it ended. A cursor would keep a
 * connection, and a statement, for as long as the slowest client takes to read.
 */
import { Effect, Option, Schema, Stream } from "effect"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/Account"
import type { ImportListEntry, ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { type Database, isStorable, rowsOf } from "./Database.ts"

type List = ImportProcesses["Service"]["list"]
type ListQuery = Parameters<List>[0]

const Instant = Schema.DateTimeUtcFromDate

const listRows = rowsOf(
  Schema.Struct({
    external_account_number: ExternalAccountNumber,
    kraken_account_number: Schema.NullOr(AccountNumber),
    account_created_at: Schema.NullOr(Instant)
  })
)

const pageSize = 1_000

/**
 * Greater than every number that sorts before or at `after`; no number holds a NUL, so it sorts as
 * if cut.
 */
const startOf = (after: string | null): string => (after ?? "").split("\0", 1)[0] ?? ""

const page = (
  { sql }: Database["Service"],
  { kind, supplier }: ListQuery,
  after: string,
  size: number
) => {
  const chosen = {
    all: sql``,
    pending: sql`and account_number is null and not skipped`,
    imported: sql`and account_number is not null`
  }
  return listRows(sql`
    select external_account_number, account_number as kraken_account_number, account_created_at
    from import_processes
    where supplier = ${supplier} and external_account_number > ${after} ${chosen[kind]}
    order by external_account_number limit ${size}`)
}

const pages = (database: Database["Service"], query: ListQuery) =>
  Stream.paginate(
    { after: startOf(query.after), left: query.limit ?? Infinity },
    Effect.fnUntraced(function* ({ after, left }) {
      const size = Math.min(left, pageSize)
      const entries: ReadonlyArray<ImportListEntry> = yield* database.run(
        page(database, query, after, size)
      )
      const last = entries.at(-1)
      const next =
        last === undefined || entries.length < size || left === size
          ? Option.none()
          : Option.some({ after: last.external_account_number, left: left - size })
      return [entries, next] as const
    })
  )

/** What the port asks for. */
export const list = (database: Database["Service"], query: ListQuery): ReturnType<List> =>
  isStorable(query.supplier) ? pages(database, query) : Stream.empty
