/**
 * What an import and later requests alike bring onto an account, as rows: transactions with their
 * items, notes with their documents, statements. Each list is numbered from 0; where it goes on is
 * for the statement to say. Figures travel as text, so that no digit is lost.
 */
import type { FoundDocuments } from "@data-import/domain/account/StoredDocument"
import { BigDecimal, DateTime } from "effect"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
import type { CalendarDate } from "@data-import/domain/schema/Field"
import type { Note } from "@data-import/domain/account/Note"
import type { HistoricalStatement } from "@data-import/domain/account/Statement"
import type { LineItem, TaxItem, Transaction } from "@data-import/domain/account/Transaction"
import { documentTextOf } from "./NoteLookup.ts"

/** Columns by name; what is undefined is null. */
export type Row = object
export type Rows = ReadonlyArray<Row>

export const decimalText = (value: BigDecimal.BigDecimal | undefined): string | undefined =>
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

/** The rows of all children, each with the index of its parent and its own within it. */
const childRows = <Parent, Child>(
  parents: ReadonlyArray<Parent>,
  childrenOf: (parent: Parent) => ReadonlyArray<Child> | undefined,
  rowOf: (child: Child, parent: number, position: number) => Row
): Rows =>
  parents.flatMap((parent, index) =>
    (childrenOf(parent) ?? []).map((child, position) => rowOf(child, index, position))
  )

/** A transaction, and how it came onto the account; on no ledger where it came after the import. */
export interface Posting {
  readonly transaction: Transaction
  readonly origin: "historical_statement" | "current_statement" | "post_import"
  readonly ledger_position: number | null
  readonly moved_from_date: CalendarDate | null
}

const transactionRow = (
  { ledger_position, moved_from_date, origin, transaction }: Posting,
  sequence: number
): Row => ({
  sequence,
  ledger_position,
  origin,
  transaction_id: transaction.transaction_id,
  transaction_date: transaction.transaction_date,
  moved_from_date,
  amount: decimalText(transaction.amount),
  type: transaction.type,
  reason: transaction.reason,
  display_note: transaction.display_note,
  note: transaction.note,
  reference: transaction.reference,
  payment_type: transaction.payment_type,
  product_code: transaction.product_code,
  line_item_count: transaction.line_items?.length,
  tax_item_count: transaction.tax_items?.length
})

const lineItemRow = (item: LineItem, transaction_sequence: number, position: number): Row => ({
  transaction_sequence,
  position,
  start_date: item.start_date,
  end_date: item.end_date,
  rate_band: item.rate_band,
  number_of_units: decimalText(item.number_of_units),
  price_per_unit: decimalText(item.price_per_unit),
  net_amount: decimalText(item.net_amount),
  reading_at_start: decimalText(item.units?.[0]),
  reading_at_end: decimalText(item.units?.[1])
})

const taxItemRow = (item: TaxItem, transaction_sequence: number, position: number): Row => ({
  transaction_sequence,
  position,
  amount: decimalText(item.amount),
  tax_type: item.tax_type,
  value_taxed: decimalText(item.value_taxed),
  rate: decimalText(item.rate),
  unit_type: item.unit_type
})

export const transactionRows = (postings: ReadonlyArray<Posting>) => ({
  transactions: postings.map(transactionRow),
  lineItems: childRows(postings, ({ transaction }) => transaction.line_items, lineItemRow),
  taxItems: childRows(postings, ({ transaction }) => transaction.tax_items, taxItemRow)
})

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
    unpin_at: instant(note.unpin_at),
    documents: documentTextOf(note)
  })),
  noteDocuments: childRows(
    notes,
    ({ document_paths }) => document_paths,
    ({ document_path }, note_sequence, position) => ({
      note_sequence,
      position,
      document_path,
      ...documentColumns(documents, document_path)
    })
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
    gross_amount: decimalText(statement.gross_amount)
  }))
})
