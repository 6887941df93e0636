/**
 * The tables of an account that its import and later requests fill: transactions, notes, statements
 * and payment instructions. Rows of a statement are numbered from 0; `target` has the account's
 * next numbers.
 */
import { Schema } from "effect"
import { transactionOrigins } from "@data-import/domain/accounts/AccountDescription"
import type { Note } from "@data-import/domain/accounts/Note"
import { PaymentInstruction } from "@data-import/domain/accounts/PaymentInstruction"
import { type HistoricalStatement, StatementId } from "@data-import/domain/accounts/Statement"
import type { StoredDocument } from "@data-import/domain/accounts/StoredDocument"
import {
  type LineItem,
  TaxItem,
  type Transaction,
  TransactionId,
  TransactionType
} from "@data-import/domain/accounts/Transaction"
import { DocumentPath } from "@data-import/domain/schema/DocumentPath"
import {
  bigint,
  boolean,
  type ColumnsFor,
  date,
  instant,
  integer,
  jsonb,
  numeric,
  optional,
  sentOnly,
  storedAs,
  text,
  textOf
} from "./Column.ts"
import * as Table from "./Table.ts"

/** The number of a row in a list of the account. */
const numberIn = (list: string, column = "sequence") =>
  storedAs(integer, `target.${list} + sent.${column}`)

const recordedAt = { recorded_at: "target.recorded_at" }

/** The items of a transaction are in separate tables. */
export const transactionColumns = {
  transaction_id: textOf(TransactionId),
  transaction_date: date,
  amount: numeric,
  type: textOf(TransactionType),
  reason: optional(text),
  display_note: optional(text),
  note: optional(text),
  reference: optional(text),
  payment_type: optional(text),
  product_code: optional(text)
} satisfies ColumnsFor<Omit<Transaction, "line_items" | "tax_items">>

export const transactionOrigin = textOf(Schema.Literals(transactionOrigins))

/**
 * A transaction that was added after the import has no ledger. A count is null if the list was not
 * sent. An insert computes `occurrence`.
 */
export const transactions = Table.make(
  "transactions",
  {
    sequence: numberIn("transactions"),
    ledger_position: optional(integer),
    origin: transactionOrigin,
    moved_from_date: optional(date),
    ...transactionColumns,
    line_item_count: optional(integer),
    tax_item_count: optional(integer)
  },
  { computed: recordedAt }
)

/** The two readings of a line item are separate columns. */
export const lineItemColumns = {
  rate_band: optional(text),
  start_date: date,
  end_date: date,
  number_of_units: numeric,
  net_amount: numeric,
  price_per_unit: optional(numeric)
} satisfies ColumnsFor<Omit<LineItem, "units">>

export const readingColumns = {
  reading_at_start: optional(numeric),
  reading_at_end: optional(numeric)
}

export const lineItems = Table.make("transaction_line_items", {
  transaction_sequence: numberIn("transactions", "transaction_sequence"),
  position: integer,
  ...lineItemColumns,
  ...readingColumns
})

export const taxItemColumns = {
  amount: numeric,
  tax_type: text,
  value_taxed: numeric,
  rate: numeric,
  unit_type: textOf(TaxItem.fields.unit_type)
} satisfies ColumnsFor<TaxItem>

export const taxItems = Table.make("transaction_tax_items", {
  transaction_sequence: numberIn("transactions", "transaction_sequence"),
  position: integer,
  ...taxItemColumns
})

/** The document store's findings; null if there was no lookup. */
export const documentColumns = {
  document_size: optional(bigint),
  document_etag: optional(text),
  document_checksum: optional(text)
} satisfies ColumnsFor<{
  readonly [Name in keyof StoredDocument as `document_${Name}`]: StoredDocument[Name]
}>

/**
 * The documents of a request, each once, because many notes may refer to the same one. A row refers
 * to a document by its number.
 */
export const storedDocuments = { document: integer, ...documentColumns }

const document = sentOnly(optional(integer))

const ofStoredDocument = {
  computed: Object.fromEntries(
    Object.keys(documentColumns).map((column) => [column, `stored_documents.${column}`])
  ),
  joined: "left join stored_documents using (document)"
}

/** The documents of a note are in a separate table. */
export const noteColumns = {
  body: optional(text),
  created_at: instant,
  is_pinned: boolean,
  unpin_at: optional(instant)
} satisfies ColumnsFor<Omit<Note, "document_paths">>

/** An insert computes `document_digest` from `documents`. */
export const notes = Table.make("notes", {
  sequence: numberIn("notes"),
  ...noteColumns,
  documents: sentOnly(optional(text))
})

export const noteDocumentColumns = { document_path: textOf(DocumentPath), ...documentColumns }

export const noteDocuments = Table.make(
  "note_documents",
  {
    note_sequence: numberIn("notes", "note_sequence"),
    position: integer,
    document_path: noteDocumentColumns.document_path,
    document
  },
  ofStoredDocument
)

export const statementColumns = {
  statement_id: textOf(StatementId),
  bill_period_from_date: date,
  bill_period_to_date: date,
  issued_date: optional(date),
  number: optional(text),
  gross_amount: optional(numeric),
  statement_path: optional(textOf(DocumentPath))
} satisfies ColumnsFor<HistoricalStatement>

const statementRowColumns = {
  sequence: numberIn("statements"),
  origin: textOf(Schema.Literals(["account_payload", "historical_statements"])),
  ...statementColumns,
  document
}

export const statements = Table.make("statements", statementRowColumns, {
  ...ofStoredDocument,
  computed: { ...recordedAt, ...ofStoredDocument.computed }
})

/**
 * Statements that are added after the import. One that completes a statement of the payload keeps
 * what was found of its document.
 */
export const addedStatements = Table.make("statements", statementRowColumns, {
  ...ofStoredDocument,
  computed: {
    ...recordedAt,
    ...Object.fromEntries(
      Object.keys(documentColumns).map((column) => [
        column,
        `coalesce(stored_documents.${column}, (select known.${column} from statements known
          where known.account_id = target.id and known.statement_id = sent.statement_id
            and known.statement_path = sent.statement_path))`
      ])
    )
  }
})

/** What completes a statement that was added after the import. */
export const completionColumns = { ...statementColumns, document: optional(integer) }

export const instructionColumns = {
  vendor: text,
  reference: text,
  type: textOf(PaymentInstruction.fields.type)
} satisfies ColumnsFor<PaymentInstruction>

/** The details that a vendor returned for an instruction. */
export const InstructionDetails = Schema.Union([
  Schema.TaggedStruct("Card", {
    brand: Schema.String,
    lastFour: Schema.String,
    expiryMonth: Schema.Number,
    expiryYear: Schema.Number
  }),
  Schema.TaggedStruct("DirectDebit", {
    bankName: Schema.NullOr(Schema.String),
    status: Schema.String
  })
])

export const paymentInstructions = Table.make(
  "payment_instructions",
  { ...instructionColumns, details: jsonb(InstructionDetails) },
  { computed: { sequence: "target.instructions", created_at: "target.recorded_at" } }
)
