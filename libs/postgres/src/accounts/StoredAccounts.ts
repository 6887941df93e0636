/**
 * Reads an account back as it was sent, with what was added. One statement reads what changes: the
 * balance, and how long each list is. Lists are then read page by page up to that length; a page
 * holds no connection while it is sent. Rows are only ever added, so all pages agree.
 */
import { BigDecimal, Effect, Option, Schema, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { AccountNumber } from "@data-import/domain/account/Account"
import type { AccountNote } from "@data-import/domain/account/AccountChange"
import { isSent, sentCustomer, withoutOmitted } from "@data-import/domain/account/Omissions"
import type { Note } from "@data-import/domain/account/Note"
import type {
  Items,
  NamedDocument,
  PayloadLists,
  StoredAccount,
  StoredLedger
} from "@data-import/domain/ports/StoredAccount"
import { zero } from "@data-import/domain/schema/Decimal"
import { listElements } from "@data-import/domain/schema/Json"
import { type Database, rowsOf } from "../connection/Database.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import * as tables from "../tables/AccountTables.ts"
import { type Columns, schemaOf, selected, type Table, withoutNulls } from "../tables/Table.ts"
import {
  pageOfNotes,
  pageOfStatements,
  pageOfTransactions,
  type Range,
  readHeads,
  readNotes,
  readStatements,
  readTransactions
} from "./AccountItemReading.ts"
import { fieldsOf, type Head, OmittedNames, type Postings, readHead } from "./StoredAccountHead.ts"

type Sql = Database["Service"]["sql"]
type OfStatement = SqlError.SqlError | Schema.SchemaError

/** A row with its number in its list. */
interface Numbered<A> {
  readonly sequence: number
  readonly value: A
}

/** The pages of a range, one after the other. */
const pages = <A>(
  { run }: Database["Service"],
  range: Range,
  read: (range: Range) => Effect.Effect<ReadonlyArray<Numbered<A>>, OfStatement>
): Items<A> => ({
  count: range.end - range.from,
  elements: Stream.paginate(
    range.from,
    Effect.fnUntraced(function* (from: number) {
      if (from >= range.end) return [[], Option.none()] as const
      const rows = yield* run(read({ from, end: range.end }))
      const next = (rows.at(-1)?.sequence ?? range.end) + 1
      const values = rows.map(({ value }) => value)
      return [values, next < range.end ? Option.some(next) : Option.none()] as const
    })
  )
})

const rowsOfPage = 200

const mapped = <A, B>({ count, elements }: Items<A>, map: (element: A) => B): Items<B> => ({
  count,
  elements: Stream.map(elements, map)
})

const values = <A>(
  rows: ReadonlyArray<{ readonly sequence: number; readonly row: A }>
): ReadonlyArray<Numbered<A>> => rows.map(({ row, sequence }) => ({ sequence, value: row }))

/** The rows of a table that only the import fills, which are numbered by their position. */
const positioned = <C extends Columns>(
  table: Table<Columns>,
  columns: C,
  omitted = "null::text[]",
  atOnce = rowsOfPage
) => {
  const decode = rowsOf(
    Schema.Struct({ sequence: Schema.Int, omitted: OmittedNames, row: schemaOf(columns) })
  )
  return (sql: Sql, id: bigint, { end, from }: Range) =>
    decode(sql`
      select position as sequence, ${sql.literal(omitted)} as omitted,
        ${sql.literal(withoutNulls(columns))} as row
      from ${sql(table.name)} where account_id = ${id} and position >= ${from}
        and position < ${Math.min(end, from + atOnce)}
      order by position`)
}

const metadataRows = positioned(tables.metadata, tables.metadataColumns)
const addressRows = positioned(tables.supplyAddresses, tables.supplyAddressColumns)
/** A payload has at most so many. They are small, and read at once. */
const mostLedgers = listElements
const ledgerRows = positioned(tables.ledgers, tables.ledgerColumns, "omitted", mostLedgers)

const customerRows = rowsOf(
  Schema.Struct({
    sequence: Schema.Int,
    omitted: OmittedNames,
    row: schemaOf(tables.customerColumns),
    preferences: schemaOf(tables.preferenceColumns)
  })
)

const readCustomers = (sql: Sql, id: bigint, { end, from }: Range) =>
  customerRows(sql`
    select position as sequence, omitted,
      ${sql.literal(withoutNulls(tables.customerColumns))} as row,
      ${sql.literal(selected(tables.preferenceColumns))} as preferences
    from customers where account_id = ${id} and position >= ${from}
      and position < ${Math.min(end, from + rowsOfPage)}
    order by position`)

const readPostings = Effect.fnUntraced(function* (sql: Sql, id: bigint, range: Range) {
  const heads = yield* readHeads(sql, pageOfTransactions(sql, id, range))
  const read = yield* readTransactions(sql, id, heads)
  return heads.map(({ sequence }, index) => ({
    sequence,
    value: read[index] as (typeof read)[number]
  }))
})

/** The finding of the store for a document that a row names. */
const namedDocument = (
  path: string,
  row: {
    readonly document_size?: number
    readonly document_etag?: string
    readonly document_checksum?: string
  }
): NamedDocument => {
  const { document_checksum: checksum = null, document_etag: etag = null } = row
  const { document_size: size } = row
  return { path, found: size === undefined ? null : { size, etag, checksum } }
}

const documentRows = rowsOf(
  Schema.Struct({
    note: Schema.Int,
    position: Schema.Int,
    row: schemaOf(itemTables.noteDocumentColumns)
  })
)

/** The documents of so many notes. */
const noteDocuments = ({ run, sql }: Database["Service"], id: bigint, notes: number) =>
  Stream.paginate(
    { note: 0, position: -1 },
    Effect.fnUntraced(function* ({ note, position }) {
      const rows = yield* run(
        documentRows(sql`
          select note_sequence as note, position,
            ${sql.literal(withoutNulls(itemTables.noteDocumentColumns))} as row
          from note_documents
          where account_id = ${id} and (note_sequence, position) > (${note}, ${position})
            and note_sequence < ${notes}
          order by note_sequence, position limit ${rowsOfPage}`)
      )
      const last = rows.at(-1)
      const documents = rows.map(({ row }) => namedDocument(row.document_path, row))
      const next = last !== undefined && rows.length === rowsOfPage
      return [documents, next ? Option.some(last) : Option.none()] as const
    })
  )

type ReadNote = Effect.Success<ReturnType<typeof readNotes>>[number]
type ReadStatement = Effect.Success<ReturnType<typeof readStatements>>[number]
type ReadLedger = Effect.Success<ReturnType<typeof ledgerRows>>[number]

const documentPaths = ({ documents = [] }: ReadNote) =>
  documents.map(({ document_path }) => ({ document_path }))

/** A note of the payload, as it was sent. */
const sentNote = (row: ReadNote): Note =>
  withoutOmitted({ ...row.note, document_paths: documentPaths(row) }, row.omitted)

/** A note that was added, as it is stored. */
const addedNote = (row: ReadNote): AccountNote => ({
  ...row.note,
  ...(row.documents && { document_paths: documentPaths(row) })
})

/** The lists of an account but for its transactions. */
const listsOf = (database: Database["Service"], { counts, id, omitted }: Head) => {
  const { sql } = database
  const upTo = (end: number, from = 0): Range => ({ from, end })
  const sent = <A>(name: keyof PayloadLists, items: Items<A>) =>
    isSent(name, omitted) ? items : null
  const customers = pages(database, upTo(counts.customers), (range) =>
    Effect.map(readCustomers(sql, id, range), (rows) =>
      rows.map(({ omitted: names, preferences, row, sequence }) => ({
        sequence,
        value: sentCustomer({ ...row, customer_preferences: preferences }, names)
      }))
    )
  )
  const metadata = pages(database, upTo(counts.metadata), (range) =>
    Effect.map(metadataRows(sql, id, range), values)
  )
  const addresses = pages(database, upTo(counts.supplyAddresses), (range) =>
    Effect.map(addressRows(sql, id, range), values)
  )
  const notes = <A>(range: Range, noteOf: (row: ReadNote) => A) =>
    pages(database, range, (page) =>
      Effect.map(readNotes(sql, pageOfNotes(sql, id, page)), (rows) =>
        rows.map((row) => ({ sequence: row.sequence, value: noteOf(row) }))
      )
    )
  const statements = (range: Range) =>
    pages(database, range, (page) =>
      Effect.map(readStatements(sql, pageOfStatements(sql, id, page)), (rows) =>
        rows.map((row) => ({ sequence: row.sequence, value: row }))
      )
    )
  const payloadNotes = counts.payloadNotes ?? counts.notes
  const statementOf = ({ statement }: ReadStatement) => statement
  const payload: PayloadLists = {
    customers: sent("customers", customers),
    notes: sent("notes", notes(upTo(payloadNotes), sentNote)),
    statements: sent("statements", mapped(statements(upTo(counts.payloadStatements)), statementOf)),
    metadata: sent("metadata", metadata),
    supply_addresses: sent("supply_addresses", addresses)
  }
  const ofStatements = statements(upTo(counts.statements)).elements.pipe(
    Stream.filter(({ statement }) => statement.statement_path !== undefined),
    Stream.map(({ document, statement }) => namedDocument(statement.statement_path ?? "", document))
  )
  return {
    payload,
    notes: notes(upTo(counts.notes, payloadNotes), addedNote),
    statements: mapped(statements(upTo(counts.statements, counts.payloadStatements)), statementOf),
    documents: {
      count: counts.noteDocuments + counts.statementDocuments,
      elements: Stream.concat(
        counts.noteDocuments > 0 ? noteDocuments(database, id, counts.notes) : Stream.empty,
        counts.statementDocuments > 0 ? ofStatements : Stream.empty
      )
    }
  }
}

/** The transactions of the ledgers and those that were added. */
const postingsOf = (database: Database["Service"], { id, postings }: Head) => {
  const posted = (ledger: number | null, origin: Postings["origin"]) => {
    const found = postings.find((each) => each.ledger === ledger && each.origin === origin)
    const { count = 0, first = 0 } = found ?? {}
    const items = pages(database, { from: first, end: first + count }, (range) =>
      readPostings(database.sql, id, range)
    )
    return { items, effect: found?.effect ?? zero }
  }
  const ofLedger = ({ omitted, row, sequence }: ReadLedger): StoredLedger => {
    const current = posted(sequence, "current_statement")
    const historical = posted(sequence, "historical_statement")
    const sent = (name: string, { items }: typeof current) =>
      isSent(name, omitted) ? mapped(items, ({ transaction }) => transaction) : null
    return {
      fields: row,
      balance:
        row.ledger_balance ?? BigDecimal.sum(row.last_statement_balance ?? zero, current.effect),
      current_statement_transactions: sent("current_statement_transactions", current),
      historical_statement_transactions: sent("historical_statement_transactions", historical)
    }
  }
  return { ofLedger, added: posted(null, "post_import").items }
}

/** The account of this number; None if it does not exist. */
export const readStored = Effect.fnUntraced(function* (
  database: Database["Service"],
  number: AccountNumber
) {
  const { run, sql } = database
  const [head] = yield* run(readHead(sql, number))
  if (head === undefined) return Option.none<StoredAccount>()
  const { documents, notes, payload, statements } = listsOf(database, head)
  const { added, ofLedger } = postingsOf(database, head)
  const ledgers = isSent("ledgers", head.omitted)
    ? yield* run(ledgerRows(sql, head.id, { from: 0, end: mostLedgers }))
    : null
  return Option.some<StoredAccount>({
    key: { import_supplier: head.supplier, external_account_number: head.external_account_number },
    number,
    createdAt: head.created_at,
    operationsTeam: head.operations_team,
    balance: head.balance,
    fields: fieldsOf(head),
    lists: payload,
    ledgers: ledgers && ledgers.map(ofLedger),
    added: { transactions: added, notes, statements, payment_instructions: head.instructions },
    documents
  })
})
