/**
 * Inserts of items that both an import and later requests add to an account: transactions with
 * their items, notes with their documents, statements. Each is a list of common table expressions
 * for a statement that has the account in `target`.
 */
import type { DateTime } from "effect"
import type { Statement } from "effect/sql"
import type { Note } from "@data-import/domain/accounts/Note"
import type { HistoricalStatement } from "@data-import/domain/accounts/Statement"
import type { FoundDocuments, StoredDocument } from "@data-import/domain/accounts/StoredDocument"
import type { Transaction } from "@data-import/domain/accounts/Transaction"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
import type { CalendarDate } from "@data-import/domain/schema/Field"
import type { Steps } from "@data-import/domain/support/Steps"
import type { Database } from "../connection/Database.ts"
import * as tables from "../tables/AccountItemTables.ts"
import * as Table from "../tables/Table.ts"
import { placed } from "../tables/Table.ts"
import { documentDigest, documentTextOf } from "./NoteLookup.ts"

type Sql = Database["Service"]["sql"]
type Inserts = Steps<ReadonlyArray<Statement.Fragment>>

/** The children of all parents, each with its parent's index and its own index. */
function* childRows<Parent, Child, Row>(
  parents: ReadonlyArray<Parent>,
  childrenOf: (parent: Parent) => ReadonlyArray<Child> | undefined,
  rowOf: (child: Child, parent: number, position: number) => Row
): Generator<Row, void> {
  for (const [index, parent] of parents.entries()) {
    for (const [position, child] of (childrenOf(parent) ?? []).entries()) {
      yield rowOf(child, index, position)
    }
  }
}

/** A transaction and its origin. One that was added after the import has no ledger. */
export interface Posting {
  readonly transaction: Transaction
  readonly origin: "historical_statement" | "current_statement" | "post_import"
  readonly ledgerPosition: number | undefined
  readonly movedFrom: CalendarDate | null
}

const transactionRow = (
  { ledgerPosition, movedFrom, origin, transaction }: Posting,
  sequence: number
) => ({
  ...transaction,
  sequence,
  origin,
  ledger_position: ledgerPosition,
  moved_from_date: movedFrom ?? undefined,
  line_item_count: transaction.line_items?.length,
  tax_item_count: transaction.tax_items?.length
})

const lineItemRows = (postings: ReadonlyArray<Posting>) =>
  childRows(
    postings,
    ({ transaction }) => transaction.line_items,
    (item, transaction_sequence, position) => ({
      ...item,
      transaction_sequence,
      position,
      reading_at_start: item.units?.[0],
      reading_at_end: item.units?.[1]
    })
  )

const taxItemRows = (postings: ReadonlyArray<Posting>) =>
  childRows(
    postings,
    ({ transaction }) => transaction.tax_items,
    (item, transaction_sequence, position) => ({ ...item, transaction_sequence, position })
  )

/** The `occurrence` of transactions whose ids are on the account for the first time. */
export const firstOccurrence = "1"

/**
 * The transactions of each account. `occurrence` is SQL that counts the transactions of one id on
 * the account, from 1.
 */
export function* transactionInserts(
  sql: Sql,
  accounts: ReadonlyArray<ReadonlyArray<Posting>>,
  occurrence: string
): Inserts {
  const rows = placed(accounts, (postings) => postings.values().map(transactionRow))
  return [
    yield* Table.inserting(sql, tables.transactions, rows, { occurrence }),
    yield* Table.inserting(sql, tables.lineItems, placed(accounts, lineItemRows)),
    yield* Table.inserting(sql, tables.taxItems, placed(accounts, taxItemRows))
  ]
}

/** Notes and statements with their origin. `documents` are those that exist in the store. */
export interface DocumentedItems {
  readonly notes: ReadonlyArray<Note>
  readonly statements: ReadonlyArray<HistoricalStatement>
  readonly completedStatements?: ReadonlyArray<HistoricalStatement>
  readonly origin: "account_payload" | "historical_statements"
  readonly documents: FoundDocuments
  /** The time of creation of a note without one. */
  readonly createdAt: DateTime.Utc
}

/** Into which tables notes and statements are written. */
export interface DocumentedTables {
  readonly notes: boolean
  readonly statements: "statements" | "addedStatements" | false
  readonly completedStatements: boolean
}

/** The number of a document; undefined for one that is not in the store. */
type NumberOf = (path: string) => number | undefined

const noteRow = (note: Note, sequence: number, createdAt: DateTime.Utc) => ({
  ...note,
  sequence,
  created_at: note.created_at ?? createdAt,
  is_pinned: note.is_pinned ?? false,
  documents: documentTextOf(note)
})

const noteDocumentRows = ({ notes }: DocumentedItems, numberOf: NumberOf) =>
  childRows(
    notes,
    ({ document_paths }) => document_paths,
    ({ document_path }, note_sequence, position) => ({
      note_sequence,
      position,
      document_path,
      document: numberOf(document_path)
    })
  )

const statementRows = ({ origin, statements }: DocumentedItems, numberOf: NumberOf) =>
  statements.values().map((statement, sequence) => ({
    ...statement,
    document: statement.statement_path && numberOf(statement.statement_path),
    sequence,
    origin
  }))

const completionRows = ({ completedStatements = [] }: DocumentedItems, numberOf: NumberOf) =>
  completedStatements.values().map((statement) => ({
    ...statement,
    document: statement.statement_path && numberOf(statement.statement_path)
  }))

/** The fields that a statement may lack, and the findings for its document. */
const completed = [
  ...["issued_date", "number", "gross_amount", "statement_path"].map(
    (column) => `${column} = sent.${column}`
  ),
  ...Object.keys(tables.documentColumns).map(
    (column) => `${column} = coalesce(stored_documents.${column}, held.${column})`
  )
].join(", ")

const completing = (sql: Sql, sent: Statement.Fragment) => sql`
  completed_statements as (
    update statements held set ${sql.literal(completed)}
    from target join (${sent}) as sent using (place) left join stored_documents using (document)
    where held.account_id = target.id and held.statement_id = sent.statement_id
      and held.origin = 'historical_statements'
  )`

/** The finding for a document, with its number. */
const storedRow = ({ checksum, etag, size }: StoredDocument, document: number) => ({
  document,
  document_size: size,
  document_etag: etag ?? undefined,
  document_checksum: checksum ?? undefined
})

/**
 * For each account, the number of a document by its path. Documents of all accounts share one
 * numbering.
 */
const numberDocuments = (accounts: ReadonlyArray<DocumentedItems>): ReadonlyArray<NumberOf> => {
  let count = 0
  return accounts.map(({ documents }) => {
    const numbers = new Map(documents.keys().map((path) => [path, count++]))
    return (path) => numbers.get(relativePath(path))
  })
}

/**
 * The notes and statements of each account, into the tables of `into` only. Sends the finding for
 * each document once; notes and statements refer to it by number.
 */
export function* documentedInserts(
  sql: Sql,
  accounts: ReadonlyArray<DocumentedItems>,
  into: DocumentedTables = { notes: true, statements: "statements", completedStatements: false }
): Inserts {
  const numbers = numberDocuments(accounts)
  const numberAt = (place: number) => numbers[place] as NumberOf
  const stored = accounts
    .values()
    .flatMap(({ documents }) => documents.values())
    .map(storedRow)
  const notes = placed(accounts, (items) =>
    items.notes.values().map((note, sequence) => noteRow(note, sequence, items.createdAt))
  )
  const noteDocuments = placed(accounts, (items, place) => noteDocumentRows(items, numberAt(place)))
  const statements = placed(accounts, (items, place) => statementRows(items, numberAt(place)))
  return [
    sql`stored_documents as (${yield* Table.records(sql, tables.storedDocuments, stored)})`,
    ...(into.notes
      ? [
          yield* Table.inserting(sql, tables.notes, notes, { document_digest: documentDigest }),
          yield* Table.inserting(sql, tables.noteDocuments, noteDocuments)
        ]
      : []),
    ...(into.statements ? [yield* Table.inserting(sql, tables[into.statements], statements)] : []),
    ...(into.completedStatements
      ? [
          completing(
            sql,
            yield* Table.placedRecords(
              sql,
              tables.completionColumns,
              placed(accounts, (items, place) => completionRows(items, numberAt(place)))
            )
          )
        ]
      : [])
  ]
}
