/**
 * Reads the parts of accounts that decisions need. One statement reads several accounts, each with
 * everything that its lookup names except transactions, which may be large.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { AccountNumber } from "@data-import/domain/accounts/Account"
import {
  type AccountView,
  type Lookup,
  type Readable,
  readableOf,
  type SizedTransaction
} from "@data-import/domain/accounts/AccountChange"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { TransactionId } from "@data-import/domain/accounts/Transaction"
import { SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { type Database, rowsOf } from "../connection/Database.ts"
import { date } from "../tables/Column.ts"
import { instructionColumns } from "../tables/AccountItemTables.ts"
import { byPosition, position, recordSet } from "../tables/RecordSet.ts"
import { schemaOf, selected } from "../tables/Table.ts"
import {
  firstTransactions,
  readHeads,
  readTransactions,
  sizes,
  sizeSchema
} from "./AccountItemReading.ts"
import { namedStatements, statements } from "./AccountLists.ts"
import { foundNotes, lookedUpNotes, knownNotesOf } from "./NoteLookup.ts"

type Sql = Database["Service"]["sql"]

/** An account to read, by the import that created it. */
export interface SnapshotQuery {
  readonly key: ImportKey
  readonly lookup: Lookup
}

/** An account as it was at a revision, without transactions. */
export interface AccountSnapshot {
  readonly id: bigint
  readonly revision: number
  /** That of its supplier. */
  readonly status: SupplierStatus
  readonly view: Omit<AccountView, "transactions" | "unreadTransaction">
  /** The transactions of the lookup that it has, up to the size limit. */
  readonly readable: Readable
  /** The ids of the lookup that none of its transactions has. */
  readonly absent: ReadonlySet<TransactionId>
}

/** Lists are decoded separately, because they may be long. */
const elements = Schema.NullOr(Schema.Array(Schema.Unknown))

const seenRows = rowsOf(
  Schema.Struct({
    position: Schema.BigInt,
    id: Schema.BigInt,
    revision: Schema.Int,
    status: SupplierStatus,
    number: AccountNumber,
    balance: Schema.BigDecimalFromString,
    lastClosingDate: Schema.NullOr(date.schema),
    instruction: Schema.NullOr(schemaOf(instructionColumns)),
    sizes: elements,
    notes: elements,
    statements: elements
  })
)

const sizeRows = rowsOf(sizeSchema)
const statementRows = rowsOf(statements.schema)

const hasNotes = ({ lookup }: SnapshotQuery): boolean => (lookup.notes ?? []).length > 0
const hasStatements = ({ lookup }: SnapshotQuery): boolean => (lookup.statementIds ?? []).length > 0
const hasTransactions = ({ lookup }: SnapshotQuery): boolean =>
  (lookup.transactionIds ?? []).length > 0

/** How many items a lookup names. */
export const itemCount = ({ lookup }: SnapshotQuery): number =>
  (lookup.notes?.length ?? 0) +
  (lookup.statementIds?.length ?? 0) +
  (lookup.transactionIds?.length ?? 0)

const distinct = (lookup: Lookup): ReadonlyArray<TransactionId> => [
  ...new Set(lookup.transactionIds)
]

/** SQL for the texts of a JSON array of `sent`. */
const textsOf = (column: string) => `json_array_elements_text(sent.${column}::json)`

const notesOfAccount = foundNotes("account.id", "sent.notes::json")
const statementsOfAccount = namedStatements("account.id", textsOf("statement_ids"))

/** A list that no lookup names costs nothing. */
function* seeing(
  sql: Sql,
  wanted: ReadonlyArray<SnapshotQuery>
): Steps<Statement.Statement<unknown>> {
  const notes: Array<string> = []
  for (const { lookup } of wanted) notes.push(yield* lookedUpNotes(lookup.notes ?? []))
  const sent = recordSet(sql, "sent", wanted, {
    position,
    supplier: ["text", ({ key }) => key.import_supplier],
    external_account_number: ["text", ({ key }) => key.external_account_number],
    notes: ["text", (_, index) => notes[index]],
    statement_ids: ["text", ({ lookup }) => JSON.stringify(lookup.statementIds ?? [])],
    transaction_ids: ["text", ({ lookup }) => JSON.stringify(distinct(lookup))]
  })
  const ids = sql`${sql.literal(textsOf("transaction_ids"))}`
  const firsts = firstTransactions(sql, sql`account.id`, ids)
  const none = sql`null::json`
  return sql`
    select position, account.id, revision, number, balance::text,
      (select status from suppliers where code = sent.supplier) as status,
      (select to_char(max(last_statement_closing_date), 'YYYY-MM-DD') from ledgers
        where account_id = account.id) as "lastClosingDate",
      (select ${sql.literal(selected(instructionColumns))}
        from payment_instructions
        where account_id = account.id and ended_at is null) as instruction,
      ${wanted.some(hasTransactions) ? sql`(${sizes(sql, firsts)})` : none} as sizes,
      ${wanted.some(hasNotes) ? sql.literal(notesOfAccount) : none} as notes,
      ${wanted.some(hasStatements) ? sql.literal(statementsOfAccount) : none} as statements
    from ${sent} cross join lateral (
      select accounts.id, revision, number, balance
      from accounts join import_processes on account_id = accounts.id
      where supplier = sent.supplier and external_account_number = sent.external_account_number
        and account_number is not null
      limit 1) as account`
}

const sizesById = (sizes: ReadonlyArray<SizedTransaction>) =>
  new Map(sizes.map((size) => [size.id, size]))

const decoded = Effect.fnUntraced(function* (
  { lookup }: SnapshotQuery,
  row: Effect.Success<ReturnType<typeof seenRows>>[number]
) {
  const { balance, id, instruction, lastClosingDate, number, revision, status } = row
  const { notes, sizes: sized, statements: stored } = row
  const known = stored === null ? [] : yield* statementRows(Effect.succeed(stored))
  const sizeOfId = yield* Effect.map(sizeRows(Effect.succeed(sized ?? [])), sizesById)
  const ids = distinct(lookup)
  const seen: AccountSnapshot = {
    id,
    revision,
    status,
    readable: readableOf(
      ids.flatMap((each) => sizeOfId.get(each) ?? []),
      lookup
    ),
    absent: new Set(ids.filter((each) => !sizeOfId.has(each))),
    view: {
      number,
      balance,
      lastClosingDate,
      instruction,
      knownNotes: yield* knownNotesOf(lookup.notes ?? [], notes),
      statements: new Map(
        known.map(({ origin, statement }) => [statement.statement_id, { origin, statement }])
      )
    }
  }
  return seen
})

/** The imported accounts, each None if there is none. */
export const readSnapshots = Effect.fnUntraced(function* (
  sql: Sql,
  wanted: ReadonlyArray<SnapshotQuery>
) {
  const rows = yield* seenRows(Effect.flatten(inTimeSlices(() => seeing(sql, wanted))))
  return yield* Effect.all(
    byPosition(wanted, rows, (row, one) =>
      row === undefined ? Effect.succeedNone : Effect.asSome(decoded(one, row))
    )
  )
})

/** The readable transactions of the account, by their ids. */
export const readNamed = Effect.fnUntraced(function* (
  sql: Sql,
  { id, readable: { ids } }: AccountSnapshot
) {
  const named = firstTransactions(sql, id, sql`unnest(${ids}::text[])`)
  const read = yield* readTransactions(sql, id, yield* readHeads(sql, named))
  return new Map(read.map(({ transaction }) => [transaction.transaction_id, transaction] as const))
})
