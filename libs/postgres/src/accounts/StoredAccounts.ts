/**
 * Reads accounts back: the text of the payload as it was staged, and what was added. One statement
 * reads several small accounts whole. For a large one it reads only what can change: the balance
 * and the length of each list. Its text and lists are then read part by part up to that length; a
 * part holds no connection while it is sent. Rows are only ever added, so all parts agree.
 */
import { BigDecimal, Effect, Option, Schema, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type { AccountNumber } from "@data-import/domain/accounts/Account"
import type { AccountNote } from "@data-import/domain/accounts/AccountChange"
import type {
  AccountDescription,
  DescribedTransaction
} from "@data-import/domain/accounts/AccountDescription"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import {
  type Items,
  isWhole,
  type LedgerBalance,
  type NamedDocument,
  type StoredAccount
} from "@data-import/domain/accounts/StoredAccount"
import { zero } from "@data-import/domain/schema/Decimal"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
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
import { type Head, readHeads, type RowOf, type Rows } from "./StoredAccountHead.ts"

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
) =>
  Stream.paginate(
    from,
    Effect.fnUntraced(function* (start: number) {
      if (start >= end) return [[], Option.none()] as const
      const rows = yield* run(read(sql, id, { from: start, end }))
      const next = (rows.at(-1)?.sequence ?? end) + 1
      return [rows, next < end ? Option.some(next) : Option.none()] as const
    })
  )

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

/** The rows of the lists of an account that its head covers: already read, or page by page. */
const rowsIn = (database: Database["Service"], { id, lists: whole, ranges }: Head) => {
  const list = <Row extends { readonly sequence: number }>(
    read: ReadonlyArray<Row> | undefined,
    readPage: ReadPage<Row>,
    range: Range
  ): Items<Row> =>
    read ?? {
      count: range.end - range.from,
      elements: pagesOf(database, id, readPage, range)
    }
  const transactionsRead = whole?.transactions.map((row) => ({
    ...transactionOf(row),
    sequence: row.sequence
  }))
  return {
    notes: list(whole?.notes, notePage, ranges.notes),
    statements: list(whole?.statements, statementPage, ranges.statements),
    transactions: list(transactionsRead, transactionPage, ranges.transactions)
  }
}

const mapped = <A, B>(items: Items<A>, map: (item: A) => B): Items<B> =>
  isWhole(items)
    ? items.map(map)
    : { count: items.count, elements: Stream.map(items.elements, map) }

/** At most this many characters of a payload are read at once. Each slice decompresses the text. */
const sliceLength = 512 * 1024

const sliceRows = rowsOf(
  Schema.Struct({ slice: Schema.NullOr(Schema.String), length: Schema.NullOr(Schema.Int) })
)

const slicesOf = ({ run, sql }: Database["Service"], id: bigint) =>
  Stream.paginate(
    0,
    Effect.fnUntraced(function* (from: number) {
      const [row] = yield* run(
        sliceRows(sql`
          select slice, char_length(slice) as length from (
            select substr(payload::text, ${from + 1}, ${sliceLength}) as slice
            from accounts where id = ${id}) as read`)
      )
      if (row === undefined || row.slice === null) {
        return yield* Effect.die(new Error("An account was erased while it was read"))
      }
      const isLast = row.length !== sliceLength
      return [[row.slice], isLast ? Option.none() : Option.some(from + sliceLength)] as const
    })
  )

const payloadOf = (
  database: Database["Service"],
  { id, isErased, payload }: Head
): StoredAccount["payload"] => payload ?? (isErased ? null : slicesOf(database, id))

const documentColumns = itemTables.noteDocumentColumns

/** The finding of the store for a document that a row names. */
const namedDocument = (row: {
  readonly document_path: string
  readonly document_size?: number
  readonly document_etag?: string
  readonly document_checksum?: string
}): NamedDocument => {
  const { document_checksum: checksum = null, document_etag: etag = null } = row
  const { document_path: path, document_size: size } = row
  return { path, found: size === undefined ? null : { size, etag, checksum } }
}

const documentsOfPage = 200

const documentRows = rowsOf(
  Schema.Struct({ note: Schema.Int, position: Schema.Int, row: schemaOf(documentColumns) })
)

/** The documents of the first `notes` notes, page by page. */
const noteDocuments = ({ run, sql }: Database["Service"], id: bigint, notes: number) =>
  Stream.paginate(
    { note: 0, position: -1 },
    Effect.fnUntraced(function* ({ note, position }) {
      const rows = yield* run(
        documentRows(sql`
          select note_sequence as note, position,
            ${sql.literal(withoutNulls(documentColumns))} as row
          from note_documents
          where account_id = ${id} and (note_sequence, position) > (${note}, ${position})
            and note_sequence < ${notes}
          order by note_sequence, position limit ${documentsOfPage}`)
      )
      const last = rows.at(-1)
      const documents = rows.map(({ row }) => namedDocument(row))
      const next = last !== undefined && rows.length === documentsOfPage
      return [documents, next ? Option.some(last) : Option.none()] as const
    })
  )

const documentsOfStatement = ({ document, statement }: RowOf<"statements">) =>
  statement.statement_path === undefined
    ? []
    : [namedDocument({ document_path: statement.statement_path, ...document })]

const documentsOf = (
  database: Database["Service"],
  { documents: counts, id, lists: whole, ranges }: Head
): Items<NamedDocument> => {
  if (whole !== null) return whole.documents.map(namedDocument)
  const statements = pagesOf(database, id, statementPage, { from: 0, end: ranges.statements.end })
  return {
    count: counts.notes + counts.statements,
    elements: Stream.concat(
      counts.notes > 0 ? noteDocuments(database, id, ranges.notes.end) : Stream.empty,
      counts.statements > 0
        ? Stream.flatMap(statements, (row) => Stream.fromIterable(documentsOfStatement(row)))
        : Stream.empty
    )
  }
}

const noteOf = ({ documents, note }: RowOf<"notes">): AccountNote => ({
  ...note,
  ...(documents && { document_paths: documents.map(({ document_path }) => ({ document_path })) })
})

const balanceOf = ({ effect, row }: Head["ledgers"][number]): LedgerBalance => ({
  ledger_code: row.ledger_code,
  balance: row.ledger_balance ?? BigDecimal.sum(row.last_statement_balance ?? zero, effect)
})

const identityOf = (head: Head) => ({
  key: { import_supplier: head.supplier, external_account_number: head.external_account_number },
  number: head.number,
  createdAt: head.created_at,
  operationsTeam: head.operations_team,
  balance: head.balance
})

const storedAccount = (database: Database["Service"], head: Head): StoredAccount => {
  const rows = rowsIn(database, head)
  return {
    ...identityOf(head),
    revertedAt: head.reverted_at,
    ledgers: head.ledgers.map(balanceOf),
    payload: payloadOf(database, head),
    added: {
      transactions: rows.transactions,
      notes: mapped(rows.notes, noteOf),
      statements: mapped(rows.statements, ({ statement }) => statement),
      payment_instructions: head.instructions
    },
    documents: documentsOf(database, head)
  }
}

/** The heads of these accounts; a page of them is a chunk. */
const headsOf = (
  { run, sql }: Database["Service"],
  numbers: ReadonlyArray<AccountNumber>,
  rows: Rows
) =>
  Stream.paginate(
    numbers,
    Effect.fnUntraced(function* (wanted: ReadonlyArray<AccountNumber>) {
      const heads = yield* run(readHeads(sql, wanted, rows))
      const next = heads[0]?.next ?? null
      return [heads, next === null ? Option.none() : Option.some(wanted.slice(next - 1))] as const
    })
  )

/** The accounts of these numbers; a page of them is a chunk. */
export const readStored = (
  database: Database["Service"],
  numbers: ReadonlyArray<AccountNumber>
): Stream.Stream<StoredAccount, StorageUnavailable> =>
  Stream.map(headsOf(database, numbers, "added"), (head) => storedAccount(database, head))

/** The whole list in memory. */
const allOf = <A>(items: Items<A>) =>
  isWhole(items) ? Effect.succeed(items) : Stream.runCollect(items.elements)

const described = Effect.fnUntraced(function* (
  database: Database["Service"],
  head: Head
): Effect.fn.Return<AccountDescription, StorageUnavailable> {
  const rows = rowsIn(database, head)
  const payload = payloadOf(database, head)
  const statements = yield* allOf(rows.statements)
  const named = yield* allOf(documentsOf(database, head))
  return {
    ...identityOf(head),
    payload:
      payload === null || typeof payload === "string" ? payload : yield* Stream.mkString(payload),
    ledgers: head.ledgers.map(({ row }) => row),
    transactions: yield* allOf<DescribedTransaction>(rows.transactions),
    notes: (yield* allOf(rows.notes)).map(noteOf),
    statements: statements.map(({ origin, statement }) => ({ origin, statement })),
    instructions: head.instructions,
    documents: new Map(
      named.flatMap(({ found, path }) => (found === null ? [] : [[relativePath(path), found]]))
    )
  }
})

/** The accounts of these numbers with all their rows. */
export const describeStored = (
  database: Database["Service"],
  numbers: ReadonlyArray<AccountNumber>
): Stream.Stream<AccountDescription, StorageUnavailable> =>
  Stream.mapEffect(headsOf(database, numbers, "all"), (head) => described(database, head))
