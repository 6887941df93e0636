/**
 * The lists of imports, read page by page. A cursor would hold a connection for as long as the
 * slowest client takes to read. A page is one text, because decoding a thousand rows costs more
 * than splitting it.
 */
import { DateTime, Effect, Option, Schema, Stream } from "effect"
import type { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportListEntry, ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { type Database, isStorable, rowsOf } from "../connection/Database.ts"
import { kindConditions } from "./ImportSource.ts"

type List = ImportProcesses["Service"]["list"]
type ListQuery = Parameters<List>[0]

/** Larger pages are hardly faster and take more memory. */
const pageSize = 1_000

/**
 * The number after which the list continues. Numbers contain no NUL, so the text is cut at the
 * first one.
 */
export const startOf = (after: string | null): string => (after ?? "").split("\0", 1)[0] ?? ""

const pageRows = rowsOf(Schema.Struct({ length: Schema.Int, lines: Schema.NullOr(Schema.String) }))

/** One line for each import: its number, and its account's number and creation time if any. */
const page = (
  { sql }: Database["Service"],
  { kind, supplier }: ListQuery,
  after: string,
  size: number
) => {
  return pageRows(sql`
    select count(*)::integer as length, string_agg(external_account_number || coalesce(
        E'\\t' || account_number || E'\\t' || date_part('epoch', account_created_at), ''
      ), E'\\n' order by external_account_number) as lines
    from (
      select external_account_number, account_number, account_created_at
      from import_processes
      where supplier = ${supplier} and external_account_number > ${after}
        ${kindConditions(sql)[kind]}
      order by external_account_number limit ${size}
    ) as page`)
}

/** A double holds microseconds exactly; an instant has milliseconds. */
const instantOf = (seconds: string): DateTime.Utc =>
  DateTime.makeUnsafe(Math.floor(Math.round(Number(seconds) * 1e6) / 1e3))

/**
 * Numbers are not validated again. The columns only hold validated numbers, and these have no
 * control characters.
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

/** Reads one entry more than a page has, to know whether there is another page. */
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

export const list = (database: Database["Service"], query: ListQuery): ReturnType<List> =>
  isStorable(query.supplier) ? pages(database, query) : Stream.empty
