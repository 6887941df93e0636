/**
 * What an import and later requests alike bring onto an account, as rows: transactions with their
 * items, notes with their documents, statements. Each list is numbered from 0; where it goes on is
 * for the statement to say. Figures travel as text, so that no digit is lost.
 */
import { BigDecimal, DateTime } from "effect"
import type { FoundDocuments } from "@data-import/domain/AccountChange"
import { relativePath } from "@data-import/domain/Document"
import type { CalendarDate } from "@data-import/domain/Field"
import type { Note } from "@data-import/domain/Note"
import type { HistoricalStatement } from "@data-import/domain/Statement"
import type { LineItem, TaxItem, Transaction } from "@data-import/domain/Transaction"

/** Columns by name; what is undefined is null. */
export type Row = object
export type Rows = ReadonlyArray<Row>

export const figure = (value: BigDecimal.BigDecimal | undefined): string | undefined =>
  value && BigDecimal.format(value)

export const instant = (value: DateTime.Utc | undefined): string | undefined =>
  value && DateTime.formatIso(value)

export const numbered = (rows: Rows | undefined): Rows =>
  (rows ?? []).map((row, position) => ({ position, ...row }))

/** Each table's rows as one JSON text. */
export const jsonTexts = <Tables extends { readonly [table: string]: Row | Rows }>(
  tables: Tables
) =>
  Object.fromEntries(
    Object.entries(tables).map(([table, rows]) => [table, JSON.stringify(rows)])
  ) as { readonly [Table in keyof Tables]: string }

/**
 * The rows of all children, numbered within their parent, which `parentColumn` names by its index.
 */
const childRows = <Parent>(
  parents: ReadonlyArray<Parent>,
  parentColumn: string,
  childrenOf: (parent: Parent) => Rows | undefined
): Rows =>
  parents.flatMap((parent, index) =>
    numbered(childrenOf(parent)).map((child) => ({ [parentColumn]: index, ...child }))
  )

/** A transaction, and how it came onto the account; on no ledger where it came after the import. */
export interface Posting {
  readonly transaction: Transaction
  readonly origin: "historical_statement" | "current_statement" | "post_import"
  readonly ledger_position: number | null
  readonly moved_from_date: CalendarDate | null
}

const transactionRow = ({ transaction, ...posting }: Posting, sequence: number): Row => {
  const { amount, line_items, tax_items, ...fields } = transaction
  return {
    ...fields,
    ...posting,
    sequence,
    amount: figure(amount),
    line_item_count: line_items?.length,
    tax_item_count: tax_items?.length
  }
}

const lineItemRow = ({ units, ...item }: LineItem): Row => ({
  ...item,
  number_of_units: figure(item.number_of_units),
  price_per_unit: figure(item.price_per_unit),
  net_amount: figure(item.net_amount),
  reading_at_start: figure(units?.[0]),
  reading_at_end: figure(units?.[1])
})

const taxItemRow = (item: TaxItem): Row => ({
  ...item,
  amount: figure(item.amount),
  value_taxed: figure(item.value_taxed),
  rate: figure(item.rate)
})

export const transactionRows = (postings: ReadonlyArray<Posting>) => {
  const itemsOf = (rows: (transaction: Transaction) => Rows | undefined) =>
    childRows(postings, "transaction_sequence", ({ transaction }) => rows(transaction))
  return {
    transactions: postings.map(transactionRow),
    lineItems: itemsOf(({ line_items }) => line_items?.map(lineItemRow)),
    taxItems: itemsOf(({ tax_items }) => tax_items?.map(taxItemRow))
  }
}

/** What the document store said of the file at a path, as far as it was asked. */
const documentColumns = (documents: FoundDocuments, path: string | undefined): Row => {
  const stored = path === undefined ? undefined : documents.get(relativePath(path))
  return {
    document_size: stored?.size,
    document_etag: stored?.etag,
    document_checksum: stored?.checksum
  }
}

/** A note without a time of creation has that of `createdAt`. */
export const noteRows = (
  notes: ReadonlyArray<Note>,
  documents: FoundDocuments,
  createdAt: DateTime.Utc
) => ({
  notes: notes.map((note, sequence) => ({
    sequence,
    body: note.body,
    created_at: instant(note.created_at ?? createdAt),
    is_pinned: note.is_pinned ?? false,
    unpin_at: instant(note.unpin_at)
  })),
  noteDocuments: childRows(notes, "note_sequence", ({ document_paths }) =>
    document_paths?.map((document) => ({
      ...document,
      ...documentColumns(documents, document.document_path)
    }))
  )
})

export const statementRows = (
  statements: ReadonlyArray<HistoricalStatement>,
  documents: FoundDocuments
) => ({
  statements: statements.map((statement, sequence) => ({
    ...statement,
    ...documentColumns(documents, statement.statement_path),
    sequence,
    gross_amount: figure(statement.gross_amount)
  }))
})
