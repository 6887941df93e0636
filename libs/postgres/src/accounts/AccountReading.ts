/** Reads what a decision needs of an account. */
import { Data, Effect, Option, Schema } from "effect"
import { AccountNumber } from "@data-import/domain/account/Account"
import {
  type AccountView,
  type Lookup,
  readableOf,
  type SizedTransaction
} from "@data-import/domain/account/AccountChange"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import type { TransactionId } from "@data-import/domain/account/Transaction"
import { type Database, rowsOf } from "../connection/Database.ts"
import { date } from "../tables/Column.ts"
import { instructionColumns } from "../tables/AccountItemTables.ts"
import { schemaOf, selected } from "../tables/Table.ts"
import {
  firstTransactions,
  readHeads,
  readTransactions,
  sizes,
  sizesSchema
} from "./AccountItemReading.ts"
import { namedStatements, readStatements } from "./AccountLists.ts"
import { readNoteTimes } from "./NoteLookup.ts"

type Sql = Database["Service"]["sql"]

const ofKey = (sql: Sql, { external_account_number, import_supplier }: ImportKey) => sql`
  from accounts join import_processes using (id)
  where supplier = ${import_supplier} and external_account_number = ${external_account_number}
    and account_number is not null`

const viewRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    revision: Schema.Int,
    number: AccountNumber,
    balance: Schema.BigDecimalFromString,
    lastClosingDate: Schema.NullOr(date.schema),
    instruction: Schema.NullOr(schemaOf(instructionColumns)),
    sizes: sizesSchema
  })
)

/** An account as it was at a revision. */
export interface AccountSnapshot {
  readonly id: bigint
  readonly revision: number
  readonly view: AccountView
  /** The transactions of the lookup that the account does not have at this revision. */
  readonly absent: ReadonlySet<TransactionId>
}

/** The read needs more memory than the given room. */
export class RoomNeeded extends Data.TaggedError("RoomNeeded")<{ readonly bytes: number }> {}

/**
 * The transactions that `lookup` names, up to the size limit. `sized` are those that the account
 * has.
 */
const namedTransactions = Effect.fnUntraced(function* (
  sql: Sql,
  id: bigint,
  sized: ReadonlyArray<SizedTransaction>,
  lookup: Lookup,
  room: number
) {
  const named = [...new Set(lookup.transactionIds)]
  const sizeById = new Map(sized.map((size) => [size.id, size]))
  const inOrder = named.flatMap((each) => sizeById.get(each) ?? [])
  const { bytes, ids, unread: unreadTransaction } = readableOf(inOrder, lookup)
  if (bytes > room) return yield* new RoomNeeded({ bytes })
  const absent = new Set(named.filter((each) => !sizeById.has(each)))
  if (ids.length === 0) return { absent, found: { transactions: new Map(), unreadTransaction } }
  const heads = yield* readHeads(sql, firstTransactions(sql, id, ids))
  const read = yield* readTransactions(sql, id, heads)
  const transactions = new Map(
    read.map(({ transaction }) => [transaction.transaction_id, transaction] as const)
  )
  return { absent, found: { transactions, unreadTransaction } }
})

/**
 * Reads the imported account as `lookup` names it: first its row and the sizes of its transactions,
 * so that its revision is not newer than the rest, then each kind of item. Fails without reading
 * transactions that are larger than `room` bytes.
 */
export const readAccount = Effect.fnUntraced(function* (
  sql: Sql,
  key: ImportKey,
  lookup: Lookup,
  room: number
) {
  const { notes = [], statementIds = [], transactionIds = [] } = lookup
  const named = firstTransactions(sql, sql`accounts.id`, [...new Set(transactionIds)])
  const [row] = yield* viewRows(sql`
    select accounts.id, revision, number, balance::text,
      (select to_char(max(last_statement_closing_date), 'YYYY-MM-DD') from ledgers
        where account_id = accounts.id) as "lastClosingDate",
      (select ${sql.literal(selected(instructionColumns))}
        from payment_instructions
        where account_id = accounts.id and ended_at is null) as instruction,
      ${transactionIds.length > 0 ? sql`(${sizes(sql, named)})` : sql`null::json`} as sizes
    ${ofKey(sql, key)}`)
  if (row === undefined) return Option.none<AccountSnapshot>()
  const { id, revision, sizes: sized, ...account } = row
  const { absent, found } = yield* namedTransactions(sql, id, sized ?? [], lookup, room)
  const statements =
    statementIds.length > 0
      ? yield* readStatements(sql, namedStatements(sql, id, statementIds))
      : []
  const view: AccountView = {
    ...account,
    ...found,
    noteTimes: notes.length > 0 ? yield* readNoteTimes(sql, id, notes) : [],
    statements: new Map(
      statements.map(({ origin, statement }) => [statement.statement_id, { origin, statement }])
    )
  }
  return Option.some<AccountSnapshot>({ id, revision, view, absent })
})
