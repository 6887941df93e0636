/**
 * Inserts of what an import and later requests alike bring onto an account: transactions with their
 * items, notes with their documents, statements. Each is a list of common table expressions for a
 * statement that has the account in `target`.
 */
import type { DateTime } from "effect"
import type { Statement } from "effect/sql"
import type { Note } from "@data-import/domain/account/Note"
import type { HistoricalStatement } from "@data-import/domain/account/Statement"
import type { FoundDocuments } from "@data-import/domain/account/StoredDocument"
import type { Transaction } from "@data-import/domain/account/Transaction"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
import type { CalendarDate } from "@data-import/domain/schema/Field"
import type { Database } from "../connection/Database.ts"
import * as tables from "../tables/AccountItemTables.ts"
import * as Table from "../tables/Table.ts"
import { documentDigest, documentTextOf } from "./NoteLookup.ts"

type Sql = Database["Service"]["sql"]
type Inserts = ReadonlyArray<Statement.Fragment>

/** The children of all parents, each with the index of its parent and its own within it. */
const childRows = <Parent, Child, Row>(
  parents: ReadonlyArray<Parent>,
  childrenOf: (parent: Parent) => ReadonlyArray<Child> | undefined,
  rowOf: (child: Child, parent: number, position: number) => Row
): ReadonlyArray<Row> =>
  parents.flatMap((parent, index) =>
    (childrenOf(parent) ?? []).map((child, position) => rowOf(child, index, position))
  )

/** A transaction, and how it came onto the account; on no ledger where it came after the import. */
export interface Posting {
  readonly transaction: Transaction
  readonly origin: "historical_statement" | "current_statement" | "post_import"
  readonly ledgerPosition: number | undefined
  readonly movedFrom: CalendarDate | null
}

/** `occurrence` is SQL that counts the transactions of one id on the account, from 1. */
export const transactionInserts = (
  sql: Sql,
  postings: ReadonlyArray<Posting>,
  occurrence: string
): Inserts => [
  Table.inserting(
    sql,
    tables.transactions,
    postings.map(({ ledgerPosition, movedFrom, origin, transaction }, sequence) => ({
      ...transaction,
      sequence,
      origin,
      ledger_position: ledgerPosition,
      moved_from_date: movedFrom ?? undefined,
      line_item_count: transaction.line_items?.length,
      tax_item_count: transaction.tax_items?.length
    })),
    { occurrence }
  ),
  Table.inserting(
    sql,
    tables.lineItems,
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
  ),
  Table.inserting(
    sql,
    tables.taxItems,
    childRows(
      postings,
      ({ transaction }) => transaction.tax_items,
      (item, transaction_sequence, position) => ({ ...item, transaction_sequence, position })
    )
  )
]

/** What the document store answered for the file at a path, if it was asked. */
const documentColumns = (documents: FoundDocuments, path: string | undefined) => {
  const stored = path === undefined ? undefined : documents.get(relativePath(path))
  return {
    document_size: stored?.size,
    document_etag: stored?.etag ?? undefined,
    document_checksum: stored?.checksum ?? undefined
  }
}

/** A note without a time of creation gets `createdAt`. */
export const noteInserts = (
  sql: Sql,
  notes: ReadonlyArray<Note>,
  documents: FoundDocuments,
  createdAt: DateTime.Utc
): Inserts => [
  Table.inserting(
    sql,
    tables.notes,
    notes.map((note, sequence) => ({
      ...note,
      sequence,
      created_at: note.created_at ?? createdAt,
      is_pinned: note.is_pinned ?? false,
      documents: documentTextOf(note)
    })),
    { document_digest: documentDigest }
  ),
  Table.inserting(
    sql,
    tables.noteDocuments,
    childRows(
      notes,
      ({ document_paths }) => document_paths,
      ({ document_path }, note_sequence, position) => ({
        note_sequence,
        position,
        document_path,
        ...documentColumns(documents, document_path)
      })
    )
  )
]

export const statementInserts = (
  sql: Sql,
  statements: ReadonlyArray<HistoricalStatement>,
  documents: FoundDocuments,
  origin: "account_payload" | "historical_statements"
): Inserts => [
  Table.inserting(
    sql,
    tables.statements,
    statements.map((statement, sequence) => ({
      ...statement,
      ...documentColumns(documents, statement.statement_path),
      sequence,
      origin
    }))
  )
]
