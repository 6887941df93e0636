/**
 * The lists of imports, page by page, each where the one before it ended. A cursor would keep a
 * connection, and a statement, for as long as the slowest client takes to read. A page comes as one
 * text, because a thousand rows, each with its columns, cost both sides more than what is in them.
 */
import { DateTime, Effect, Option, Schema, Stream } from "effect"
import type { AccountNumber, ExternalAccountNumber } from "@data-import/domain/account/Account"
import type { ImportListEntry, ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { type Database, isStorable, rowsOf } from "../connection/Database.ts"

type List = ImportProcesses["Service"]["list"]
type ListQuery = Parameters<List>[0]

/** Larger ones are hardly faster, and keep more in memory. */
const pageSize = 1_000

/**
 * Greater than every number that sorts before or at `after`; no number holds a NUL, so it sorts as
 * if cut.
 */
const startOf = (after: string | null): string => (after ?? "").split("\0", 1)[0] ?? ""

const pageRows = rowsOf(Schema.Struct({ length: Schema.Int, lines: Schema.NullOr(Schema.String) }))

/** A line an import: its number and, where it has an account, the account's, and since when. */
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
  return pageRows(sql`
    select count(*)::integer as length, string_agg(external_account_number || coalesce(
        E'\\t' || account_number || E'\\t' || date_part('epoch', account_created_at), ''
      ), E'\\n' order by external_account_number) as lines
    from (
      select external_account_number, account_number, account_created_at
      from import_processes
      where supplier = ${supplier} and external_account_number > ${after} ${chosen[kind]}
      order by external_account_number limit ${size}
    ) as page`)
}

/** Digits of microseconds are exact in a number; a date has milliseconds. */
const instantOf = (seconds: string): DateTime.Utc =>
  DateTime.makeUnsafe(Math.floor(Math.round(Number(seconds) * 1e6) / 1e3))

/**
 * The numbers are not examined again: the columns are only written with numbers that have these
 * brands, and neither of them has a control character.
 */
const entryOf = (line: string): ImportListEntry => {
  const end = line.indexOf("\t")
  if (end === -1) {
    return {
      external_account_number: line as ExternalAccountNumber,
      kraken_account_number: null,
      account_created_at: null
    }
  }
  const since = line.indexOf("\t", end + 1)
  return {
    external_account_number: line.slice(0, end) as ExternalAccountNumber,
    kraken_account_number: line.slice(end + 1, since) as AccountNumber,
    account_created_at: instantOf(line.slice(since + 1))
  }
}

const entriesOf = (lines: string | null, length: number): ReadonlyArray<ImportListEntry> => {
  const entries = lines === null ? [] : lines.split("\n").map(entryOf)
  if (entries.length !== length) throw new Error("A number of an import holds a line break")
  return entries
}

/** One more than is asked for tells whether there is another page. */
const pages = (database: Database["Service"], query: ListQuery) =>
  Stream.paginate(
    { after: startOf(query.after), left: query.limit ?? Infinity },
    Effect.fnUntraced(function* ({ after, left }) {
      const size = Math.min(left, pageSize)
      const wanted = size < left ? size + 1 : size
      const rows = yield* database.run(page(database, query, after, wanted))
      const found = rows.flatMap(({ length, lines }) => entriesOf(lines, length))
      const entries = found.length > size ? found.slice(0, size) : found
      const last = entries.at(-1)
      const next =
        last === undefined || found.length <= size
          ? Option.none()
          : Option.some({ after: last.external_account_number, left: left - size })
      return [entries, next] as const
    })
  )

/** What the port asks for. */
export const list = (database: Database["Service"], query: ListQuery): ReturnType<List> =>
  isStorable(query.supplier) ? pages(database, query) : Stream.empty
