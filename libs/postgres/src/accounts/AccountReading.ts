/**
 * Reads what decisions need of accounts. One statement reads several accounts, and of each all that
 * a lookup names but its transactions, which may be large.
 */
import { Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { AccountNumber } from "@data-import/domain/account/Account"
import {
  type AccountView,
  type Lookup,
  type Readable,
  readableOf,
  type SizedTransaction
} from "@data-import/domain/account/AccountChange"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import type { Transaction, TransactionId } from "@data-import/domain/account/Transaction"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { type Database, rowsOf } from "../connection/Database.ts"
import { date } from "../tables/Column.ts"
import { instructionColumns } from "../tables/AccountItemTables.ts"
import { recordSet } from "../tables/RecordSet.ts"
import { schemaOf, selected } from "../tables/Table.ts"
import {
  firstTransactions,
  readHeads,
  readTransactions,
  sizes,
  sizeSchema
} from "./AccountItemReading.ts"
import { namedStatements, statements } from "./AccountLists.ts"
import { foundNotes, lookedUpNotes, noteTimesOf } from "./NoteLookup.ts"

type Sql = Database["Service"]["sql"]

/** An account to read, by the import that created it. */
export interface Wanted {
  readonly key: ImportKey
  readonly lookup: Lookup
}

/** An account as it was at a revision, without transactions. */
export interface SeenAccount {
  readonly id: bigint
  readonly revision: number
  readonly view: Omit<AccountView, "transactions" | "unreadTransaction">
  /** Those transactions of the lookup that the account had at this revision. */
  readonly sizes: ReadonlyArray<SizedTransaction>
}

/** Lists are decoded by themselves, because they may be long. */
const elements = Schema.NullOr(Schema.Array(Schema.Unknown))

const seenRows = rowsOf(
  Schema.Struct({
    place: Schema.Int,
    id: Schema.BigInt,
    revision: Schema.Int,
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

const hasNotes = ({ lookup }: Wanted): boolean => (lookup.notes ?? []).length > 0
const hasStatements = ({ lookup }: Wanted): boolean => (lookup.statementIds ?? []).length > 0
const hasTransactions = ({ lookup }: Wanted): boolean => (lookup.transactionIds ?? []).length > 0

const namesNoteWithoutBody = ({ lookup }: Wanted): boolean =>
  (lookup.notes ?? []).some(({ body }) => body === undefined)

/** How many items a lookup names. */
export const itemsOf = ({ lookup }: Wanted): number =>
  (lookup.notes?.length ?? 0) +
  (lookup.statementIds?.length ?? 0) +
  (lookup.transactionIds?.length ?? 0)

const distinct = (lookup: Lookup): ReadonlyArray<TransactionId> => [
  ...new Set(lookup.transactionIds)
]

/** SQL for the texts of a JSON array of `sent`. */
const textsOf = (column: string) => `json_array_elements_text(sent.${column}::json)`

/** A list that none of the accounts is asked for costs nothing. */
function* seeing(sql: Sql, wanted: ReadonlyArray<Wanted>): Steps<Statement.Statement<unknown>> {
  const notes: Array<string> = []
  for (const { lookup } of wanted) notes.push(yield* lookedUpNotes(lookup.notes ?? []))
  const sent = recordSet(sql, "sent", wanted, {
    place: ["integer", (_, place) => place],
    supplier: ["text", ({ key }) => key.import_supplier],
    external_account_number: ["text", ({ key }) => key.external_account_number],
    notes: ["text", (_, place) => notes[place]],
    statement_ids: ["text", ({ lookup }) => JSON.stringify(lookup.statementIds ?? [])],
    transaction_ids: ["text", ({ lookup }) => JSON.stringify(distinct(lookup))]
  })
  const ids = sql.literal(textsOf("transaction_ids"))
  const firsts = firstTransactions(sql, sql`account.id`, sql`${ids}`)
  const sought = foundNotes("account.id", "sent.notes::json", wanted.some(namesNoteWithoutBody))
  const named = namedStatements("account.id", textsOf("statement_ids"))
  const none = sql`null::json`
  return sql`
    select place, account.id, revision, number, balance::text,
      (select to_char(max(last_statement_closing_date), 'YYYY-MM-DD') from ledgers
        where account_id = account.id) as "lastClosingDate",
      (select ${sql.literal(selected(instructionColumns))}
        from payment_instructions
        where account_id = account.id and ended_at is null) as instruction,
      ${wanted.some(hasTransactions) ? sql`(${sizes(sql, firsts)})` : none} as sizes,
      ${wanted.some(hasNotes) ? sql.literal(sought) : none} as notes,
      ${wanted.some(hasStatements) ? sql.literal(named) : none} as statements
    from ${sent} cross join lateral (
      select accounts.id, revision, number, balance
      from accounts join import_processes using (id)
      where supplier = sent.supplier and external_account_number = sent.external_account_number
        and account_number is not null
      limit 1) as account`
}

const decoded = Effect.fnUntraced(function* (
  { lookup }: Wanted,
  row: Effect.Success<ReturnType<typeof seenRows>>[number]
) {
  const { balance, id, instruction, lastClosingDate, number, revision } = row
  const { notes, sizes: sized, statements: stored } = row
  const known = stored === null ? [] : yield* statementRows(Effect.succeed(stored))
  const seen: SeenAccount = {
    id,
    revision,
    sizes: sized === null ? [] : yield* sizeRows(Effect.succeed(sized)),
    view: {
      number,
      balance,
      lastClosingDate,
      instruction,
      noteTimes: yield* noteTimesOf(lookup.notes ?? [], notes),
      statements: new Map(
        known.map(({ origin, statement }) => [statement.statement_id, { origin, statement }])
      )
    }
  }
  return seen
})

/** The imported accounts, each None if there is none. */
export const seeAccounts = Effect.fnUntraced(function* (sql: Sql, wanted: ReadonlyArray<Wanted>) {
  const rows = yield* seenRows(Effect.flatten(inTimeSlices(() => seeing(sql, wanted))))
  const byPlace = new Map(rows.map((row) => [row.place, row]))
  return yield* Effect.forEach(wanted, (one, place) => {
    const row = byPlace.get(place)
    return row === undefined ? Effect.succeedNone : Effect.asSome(decoded(one, row))
  })
})

/** The ids of the lookup that no transaction of the account had. */
export const absentFrom = ({ sizes: sized }: SeenAccount, lookup: Lookup) =>
  new Set(lookup.transactionIds).difference(new Set(sized.map(({ id }) => id)))

/** The transactions of the lookup that the account has, up to the size limit. */
export const readableIn = ({ sizes: sized }: SeenAccount, lookup: Lookup): Readable => {
  const sizeById = new Map(sized.map((size) => [size.id, size]))
  return readableOf(
    distinct(lookup).flatMap((each) => sizeById.get(each) ?? []),
    lookup
  )
}

/** These transactions of the account, by their ids. */
export const readNamed = Effect.fnUntraced(function* (
  sql: Sql,
  { id }: SeenAccount,
  { ids }: Readable
) {
  if (ids.length === 0) return new Map<TransactionId, Transaction>()
  const named = firstTransactions(sql, id, sql`unnest(${ids}::text[])`)
  const read = yield* readTransactions(sql, id, yield* readHeads(sql, named))
  return new Map(read.map(({ transaction }) => [transaction.transaction_id, transaction] as const))
})
