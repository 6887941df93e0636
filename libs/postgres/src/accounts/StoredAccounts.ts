/**
 * Reads accounts back as they were sent, with what was added. One statement reads several small
 * accounts whole. For a large one it reads only what can change: the balance and the length of each
 * list. Its lists are then read page by page up to that length; a page holds no connection while it
 * is sent. Rows are only ever added, so all pages agree.
 */
import { BigDecimal, Effect, Option, Schema, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { AccountNumber } from "@data-import/domain/accounts/Account"
import type { AccountNote } from "@data-import/domain/accounts/AccountChange"
import { isSent, sentCustomer, withoutOmitted } from "@data-import/domain/accounts/Omissions"
import type { Note } from "@data-import/domain/accounts/Note"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type {
  Items,
  NamedDocument,
  Pages,
  PayloadLists,
  StoredAccount,
  StoredLedger
} from "@data-import/domain/accounts/StoredAccount"
import { zero } from "@data-import/domain/schema/Decimal"
import { type Database, rowsOf } from "../connection/Database.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import { schemaOf, withoutNulls } from "../tables/Table.ts"
import {
  readHeads as readTransactionHeads,
  readTransactions,
  transactionOf,
  transactions
} from "./AccountItemReading.ts"
import * as lists from "./AccountLists.ts"
import { fieldsOf, type Head, type Postings, readHeads, type RowOf } from "./StoredAccountHead.ts"

type Sql = Database["Service"]["sql"]
type Range = lists.Range

/** Reads the first rows of a range. */
type ReadPage<Row> = (
  sql: Sql,
  id: bigint,
  range: Range
) => Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError | Schema.SchemaError>

/** The rows of a range, page by page. */
const pagesOf = <Row extends { readonly sequence: number }>(
  { run, sql }: Database["Service"],
  id: bigint,
  read: ReadPage<Row>,
  { end, from }: Range
): Pages<Row> => ({
  count: end - from,
  elements: Stream.paginate(
    from,
    Effect.fnUntraced(function* (start: number) {
      if (start >= end) return [[], Option.none()] as const
      const rows = yield* run(read(sql, id, { from: start, end }))
      const next = (rows.at(-1)?.sequence ?? end) + 1
      return [rows, next < end ? Option.some(next) : Option.none()] as const
    })
  )
})

/** The rows of a range of a list, mapped. */
type ItemsOf<Row> = <A>(range: Range, map: (row: Row) => A) => Items<A>

/** The list if it has already been read; otherwise it is read page by page. */
const listIn =
  (database: Database["Service"], id: bigint) =>
  <Row extends { readonly sequence: number }>(
    whole: ReadonlyArray<Row> | undefined,
    read: ReadPage<Row>
  ): ItemsOf<Row> =>
  (range, map) => {
    if (whole !== undefined) return whole.slice(range.from, range.end).map(map)
    const { count, elements } = pagesOf(database, id, read, range)
    return { count, elements: Stream.map(elements, map) }
  }

const customerPage = lists.pageReader(lists.customers)
const metadataPage = lists.pageReader(lists.metadata)
const addressPage = lists.pageReader(lists.supplyAddresses)
const ledgerPage = lists.pageReader(lists.ledgers)
const notePage = lists.pageReader(lists.notes)
const statementPage = lists.pageReader(lists.statements)

/** A transaction of a large account may have many items, so they are read separately. */
const transactionPage = Effect.fnUntraced(function* (sql: Sql, id: bigint, range: Range) {
  const heads = yield* readTransactionHeads(sql, lists.pageOf(sql, transactions, id, range))
  const read = yield* readTransactions(sql, id, heads)
  return heads.map(({ sequence }, index) => ({
    ...(read[index] as (typeof read)[number]),
    sequence
  }))
})

const upTo = (end: number, from = 0): Range => ({ from, end })

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

const documentsOfPage = 200

const documentRows = rowsOf(
  Schema.Struct({
    note: Schema.Int,
    position: Schema.Int,
    row: schemaOf(itemTables.noteDocumentColumns)
  })
)

/** The documents of the first `notes` notes, page by page. */
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
          order by note_sequence, position limit ${documentsOfPage}`)
      )
      const last = rows.at(-1)
      const documents = rows.map(({ row }) => namedDocument(row.document_path, row))
      const next = last !== undefined && rows.length === documentsOfPage
      return [documents, next ? Option.some(last) : Option.none()] as const
    })
  )

type ReadNote = RowOf<"notes">
type ReadStatement = RowOf<"statements">
type ReadLedger = RowOf<"ledgers">

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

const statementOf = ({ statement }: ReadStatement) => statement

const documentsOfStatement = ({ document, statement }: ReadStatement) =>
  statement.statement_path === undefined ? [] : [namedDocument(statement.statement_path, document)]

const documentsOf = (
  database: Database["Service"],
  { counts, id, lists: whole }: Head
): Items<NamedDocument> => {
  if (whole !== null) {
    const ofNotes = whole.notes.flatMap(({ documents = [] }) =>
      documents.map((document) => namedDocument(document.document_path, document))
    )
    return [...ofNotes, ...whole.statements.flatMap(documentsOfStatement)]
  }
  const { noteDocuments: ofNotes, statementDocuments: ofStatements } = counts
  const statements = pagesOf(database, id, statementPage, upTo(counts.statements)).elements
  return {
    count: ofNotes + ofStatements,
    elements: Stream.concat(
      ofNotes > 0 ? noteDocuments(database, id, counts.notes) : Stream.empty,
      ofStatements > 0
        ? Stream.flatMap(statements, (row) => Stream.fromIterable(documentsOfStatement(row)))
        : Stream.empty
    )
  }
}

/** The lists of an account except its transactions. */
const listsOf = (database: Database["Service"], head: Head) => {
  const { counts, id, lists: whole, omitted } = head
  const list = listIn(database, id)
  const notes = list(whole?.notes, notePage)
  const statements = list(whole?.statements, statementPage)
  const row = <A>({ row: read }: { readonly row: A }) => read
  const sent = <A>(name: keyof PayloadLists, items: () => Items<A>) =>
    isSent(name, omitted) ? items() : null
  const payload: PayloadLists = {
    customers: sent("customers", () =>
      list(whole?.customers, customerPage)(
        upTo(counts.customers),
        ({ omitted: names, preferences, row: customer }) =>
          sentCustomer({ ...customer, customer_preferences: preferences }, names)
      )
    ),
    notes: sent("notes", () => notes(upTo(counts.payloadNotes), sentNote)),
    statements: sent("statements", () => statements(upTo(counts.payloadStatements), statementOf)),
    metadata: sent("metadata", () =>
      list(whole?.metadata, metadataPage)(upTo(counts.metadata), row)
    ),
    supply_addresses: sent("supply_addresses", () =>
      list(whole?.supplyAddresses, addressPage)(upTo(counts.supplyAddresses), row)
    )
  }
  return {
    payload,
    notes: notes(upTo(counts.notes, counts.payloadNotes), addedNote),
    statements: statements(upTo(counts.statements, counts.payloadStatements), statementOf),
    documents: documentsOf(database, head)
  }
}

/** The transactions of the ledgers and those that were added. */
const postingsOf = (database: Database["Service"], { id, lists: whole, postings }: Head) => {
  const read = whole?.transactions.map((row) => ({ ...transactionOf(row), sequence: row.sequence }))
  const items = listIn(database, id)(read, transactionPage)
  const posted = (ledger: number | null, origin: Postings["origin"]) => {
    const found = postings.find((each) => each.ledger === ledger && each.origin === origin)
    const { count = 0, first = 0 } = found ?? {}
    return { range: upTo(first + count, first), effect: found?.effect ?? zero }
  }
  const ofLedger = ({ omitted, row, sequence }: ReadLedger): StoredLedger => {
    const current = posted(sequence, "current_statement")
    const historical = posted(sequence, "historical_statement")
    const sent = (name: string, { range }: typeof current) =>
      isSent(name, omitted) ? items(range, ({ transaction }) => transaction) : null
    return {
      fields: row,
      balance:
        row.ledger_balance ?? BigDecimal.sum(row.last_statement_balance ?? zero, current.effect),
      current_statement_transactions: sent("current_statement_transactions", current),
      historical_statement_transactions: sent("historical_statement_transactions", historical)
    }
  }
  const added = items(posted(null, "post_import").range, (transaction) => transaction)
  return { ofLedger, added }
}

/** Ledgers are small, and a payload has a bounded number of them. */
const ledgersOf = (database: Database["Service"], { counts, id, lists: whole, omitted }: Head) => {
  if (!isSent("ledgers", omitted)) return Effect.succeed(null)
  if (whole !== null) return Effect.succeed(whole.ledgers)
  return Stream.runCollect(pagesOf(database, id, ledgerPage, upTo(counts.ledgers)).elements)
}

const storedAccount = Effect.fnUntraced(function* (database: Database["Service"], head: Head) {
  const { documents, notes, payload, statements } = listsOf(database, head)
  const { added, ofLedger } = postingsOf(database, head)
  const ledgers = yield* ledgersOf(database, head)
  return {
    key: { import_supplier: head.supplier, external_account_number: head.external_account_number },
    number: head.number,
    createdAt: head.created_at,
    revertedAt: head.reverted_at,
    operationsTeam: head.operations_team,
    balance: head.balance,
    fields: fieldsOf(head),
    lists: payload,
    ledgers: ledgers && ledgers.map(ofLedger),
    added: { transactions: added, notes, statements, payment_instructions: head.instructions },
    documents
  } satisfies StoredAccount
})

/** The accounts of these numbers; a page of them is a chunk. */
export const readStored = (
  database: Database["Service"],
  numbers: ReadonlyArray<AccountNumber>
): Stream.Stream<StoredAccount, StorageUnavailable> =>
  Stream.paginate(
    numbers,
    Effect.fnUntraced(function* (wanted: ReadonlyArray<AccountNumber>) {
      const heads = yield* database.run(readHeads(database.sql, wanted))
      const accounts = yield* Effect.forEach(heads, (head) => storedAccount(database, head))
      const next = heads[0]?.next ?? null
      return [
        accounts,
        next === null ? Option.none() : Option.some(wanted.slice(next - 1))
      ] as const
    })
  )
