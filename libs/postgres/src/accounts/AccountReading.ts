/** What is read of an account before a decision: where it is, and what the decision looks at. */
import { Data, Effect, Option, Schema } from "effect"
import { AccountNumber } from "@data-import/domain/account/Account"
import {
  type AccountView,
  type Lookup,
  readableOf
} from "@data-import/domain/account/AccountChange"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { type Database, rowsOf } from "../connection/Database.ts"
import { date } from "../tables/Column.ts"
import { instructionColumns } from "../tables/AccountItemTables.ts"
import { schemaOf, selected } from "../tables/Table.ts"
import {
  firstTransactions,
  namedStatements,
  readHeads,
  readSizes,
  readStatements,
  readTransactions
} from "./AccountItemReading.ts"
import { readNoteTimes } from "./NoteLookup.ts"

type Sql = Database["Service"]["sql"]

const ofKey = (sql: Sql, { external_account_number, import_supplier }: ImportKey) => sql`
  from accounts join import_processes using (id)
  where supplier = ${import_supplier} and external_account_number = ${external_account_number}`

const viewRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    revision: Schema.Int,
    number: AccountNumber,
    balance: Schema.BigDecimalFromString,
    lastClosingDate: Schema.NullOr(date.schema),
    instruction: Schema.NullOr(schemaOf(instructionColumns))
  })
)

/** An account as it was at a revision. */
export interface AccountSnapshot {
  readonly id: bigint
  readonly revision: number
  readonly view: AccountView
}

/** What is to be read needs more memory than there is room for. */
export class RoomNeeded extends Data.TaggedError("RoomNeeded")<{ readonly bytes: number }> {}

/** The transactions that `lookup` names, as far as they are not too large. */
const namedTransactions = Effect.fnUntraced(function* (
  sql: Sql,
  id: bigint,
  lookup: Lookup,
  room: number
) {
  const named = [...new Set(lookup.transactionIds)]
  const sizes = named.length > 0 ? yield* readSizes(sql, firstTransactions(sql, id, named)) : []
  const sizeById = new Map(sizes.map((size) => [size.id, size]))
  const inOrder = named.flatMap((each) => sizeById.get(each) ?? [])
  const { bytes, ids, unread: unreadTransaction } = readableOf(inOrder, lookup)
  if (bytes > room) return yield* new RoomNeeded({ bytes })
  if (ids.length === 0) return { transactions: new Map(), unreadTransaction }
  const heads = yield* readHeads(sql, firstTransactions(sql, id, ids))
  const read = yield* readTransactions(sql, id, heads)
  const transactions = new Map(
    read.map(({ transaction }) => [transaction.transaction_id, transaction] as const)
  )
  return { transactions, unreadTransaction }
})

/**
 * The account that the import has become, as `lookup` names it: by a statement for itself, which
 * comes first, so that its revision is not newer than the rest, and one for each kind of thing.
 * Where its transactions are larger than there is `room` for, in bytes, none is read, and it fails.
 */
export const readAccount = Effect.fnUntraced(function* (
  sql: Sql,
  key: ImportKey,
  lookup: Lookup,
  room: number
) {
  const { notes = [], statementIds = [] } = lookup
  const [row] = yield* viewRows(sql`
    select accounts.id, revision, number, balance::text,
      (select to_char(max(last_statement_closing_date), 'YYYY-MM-DD') from ledgers
        where account_id = accounts.id) as "lastClosingDate",
      (select ${sql.literal(selected(instructionColumns))}
        from payment_instructions
        where account_id = accounts.id and ended_at is null) as instruction
    ${ofKey(sql, key)}`)
  if (row === undefined) return Option.none<AccountSnapshot>()
  const { id, revision, ...account } = row
  const transactions = yield* namedTransactions(sql, id, lookup, room)
  const statements =
    statementIds.length > 0
      ? yield* readStatements(sql, namedStatements(sql, id, statementIds))
      : []
  const view: AccountView = {
    ...account,
    ...transactions,
    noteTimes: notes.length > 0 ? yield* readNoteTimes(sql, id, notes) : [],
    statements: new Map(
      statements.map(({ origin, statement }) => [statement.statement_id, { origin, statement }])
    )
  }
  return Option.some<AccountSnapshot>({ id, revision, view })
})
