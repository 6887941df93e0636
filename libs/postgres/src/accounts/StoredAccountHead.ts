/**
 * Reads accounts in one statement: what can change (the balance, the payment instructions and the
 * length of each list), the balances of the ledgers, and if they are small the text of the payload
 * and the lists.
 */
import { Effect, Option, Schema } from "effect"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { smallBytes } from "@data-import/domain/requests/WorkBudget"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { type Database, rowsOf } from "../connection/Database.ts"
import { instant } from "../tables/Column.ts"
import * as itemTables from "../tables/AccountItemTables.ts"
import * as tables from "../tables/AccountTables.ts"
import { schemaOf, selected, withoutNulls } from "../tables/Table.ts"
import { transactions } from "./AccountItemReading.ts"
import * as lists from "./AccountLists.ts"

type Sql = Database["Service"]["sql"]

/** Which rows are read: all, or those that the text of the payload does not repeat. */
export type Rows = "all" | "added"

/** The lists of an account by their names. */
const accountLists = { notes: lists.notes, statements: lists.statements, transactions }
type ListName = keyof typeof accountLists
export type RowOf<Name extends ListName> = (typeof accountLists)[Name]["schema"]["Type"]

const listNames = Object.keys(accountLists) as ReadonlyArray<ListName>

const Range = Schema.Struct({ from: Schema.Int, end: Schema.Int })

const headRows = rowsOf(
  Schema.Struct({
    place: Schema.Int,
    next: Schema.NullOr(Schema.Int),
    id: Schema.BigInt,
    number: AccountNumber,
    supplier: SupplierCode,
    external_account_number: ExternalAccountNumber,
    created_at: Schema.DateTimeUtcFromDate,
    reverted_at: Schema.NullOr(Schema.DateTimeUtcFromDate),
    operations_team: Schema.String,
    balance: Schema.BigDecimalFromString,
    /** Null if it is large, or erased. */
    payload: Schema.NullOr(Schema.String),
    isErased: Schema.Boolean,
    ranges: Schema.Struct({ notes: Range, statements: Range, transactions: Range }),
    documents: Schema.Struct({ notes: Schema.Int, statements: Schema.Int }),
    ledgers: Schema.Array(
      Schema.Struct({ row: schemaOf(tables.ledgerColumns), effect: Schema.BigDecimalFromString })
    ),
    instructions: Schema.Array(
      Schema.Struct({
        instruction: schemaOf(itemTables.instructionColumns),
        details: itemTables.InstructionDetails,
        endedAt: Schema.NullOr(instant.schema)
      })
    ),
    lists: Schema.NullOr(
      Schema.Struct({
        notes: Schema.Array(lists.notes.schema),
        statements: Schema.Array(lists.statements.schema),
        transactions: Schema.Array(transactions.schema),
        documents: Schema.Array(schemaOf(itemTables.noteDocumentColumns))
      })
    )
  })
)
export type Head = Effect.Success<ReturnType<typeof headRows>>[number]

const countOf = (table: string, condition = "true"): string =>
  `(select count(*) from ${table} where account_id = account.id and ${condition})`

/** SQL for the number of rows that the import added to a list; 0 for an erased account. */
const imported: Readonly<Record<ListName, string>> = {
  notes: "payload_notes",
  statements: `case when is_erased then 0
    else ${countOf("statements", "origin = 'account_payload'")} end`,
  transactions: `case when is_erased then 0
    else ${countOf("transactions", "origin <> 'post_import'")} end`
}

/** SQL for the first row that is read of a list of `account`, the count of rows and their bytes. */
const sizeOf = (rows: Rows) => (name: ListName) => {
  const { bytes, table } = accountLists[name]
  return `cross join lateral (
    select start, count(sequence) as count,
      coalesce(sum(${bytes}) filter (where sequence is not null), 0)::bigint as bytes
    from (select ${rows === "all" ? "0" : imported[name]} as start) as first
      left join ${table} as held on account_id = account.id and sequence >= start
    group by start) as "${name}"`
}

const ranges = `json_build_object(${listNames
  .map(
    (name) => `'${name}', json_build_object('from', "${name}".start,
    'end', "${name}".start + "${name}".count)`
  )
  .join(", ")})`

/** SQL for the bytes of an account without its payload and its lists. */
const accountBytes = "2000"

const bytes = [
  accountBytes,
  "coalesce(payload_bytes, 0)",
  ...listNames.map((name) => `"${name}".bytes`)
].join(" + ")

/** The documents of the notes first, then those of the statements. */
const wholeDocuments = `coalesce((
  select json_agg(document order by list, sequence, position) from (
    select 1 as list, note_sequence as sequence, position,
      ${withoutNulls(itemTables.noteDocumentColumns)} as document
    from note_documents where account_id = account.id
    union all
    select 2, sequence, 0, ${withoutNulls(itemTables.noteDocumentColumns)}
    from (
      select *, statement_path as document_path from statements
      where account_id = account.id and statement_path is not null) as naming
  ) as named), '[]')`

const wholeLists = `json_build_object(${listNames
  .map((name) => {
    const from = `(ranges #>> '{${name}, from}')::integer`
    return `'${name}', ${lists.wholeList(accountLists[name], "account.id", from)}`
  })
  .join(", ")}, 'documents', ${wholeDocuments})`

/** The effect of a ledger is that of its current transactions. */
const ledgers = `coalesce((
  select json_agg(json_build_object('row', ${withoutNulls(tables.ledgerColumns)},
    'effect', coalesce(effect, 0)::text) order by position)
  from ledgers left join (
    select ledger_position, sum(effect_on_balance) as effect from transactions
    where account_id = account.id and origin = 'current_statement' group by ledger_position
  ) as posted on ledger_position = position
  where account_id = account.id), '[]')`

const instructions = `coalesce((
  select json_agg(json_build_object('instruction', ${selected(itemTables.instructionColumns)},
    'details', details, 'endedAt', ended_at) order by sequence)
  from payment_instructions where account_id = account.id), '[]')`

/**
 * The accounts one after the other, each with its size, until they fill a page. A large account is
 * thus measured once, and not again with every page before it.
 */
const sized = (sql: Sql, numbers: ReadonlyArray<AccountNumber>, rows: Rows) => sql`
  sized (place, id, ranges, account_bytes, earlier_bytes) as (
      select 0, null::bigint, null::json, 0::bigint, 0::bigint
    union all
      select sized.place + 1, found.id, found.ranges, coalesce(found.bytes, 0),
        sized.earlier_bytes + sized.account_bytes
      from sized left join lateral (
        select account.id, ${sql.literal(ranges)} as ranges, ${sql.literal(bytes)} as bytes
        from (
          select id, payload_bytes, payload_notes, payload is null as is_erased from accounts
          where number = (${numbers}::text[])[sized.place + 1] limit 1) as account
        ${sql.literal(listNames.map(sizeOf(rows)).join("\n"))}
      ) as found on true
      where sized.place < ${numbers.length}
        and sized.earlier_bytes + sized.account_bytes < ${lists.pageBytes}
  )`

/**
 * The first accounts of these numbers: at least one, and as many as fill a page. `next` is the
 * position of the next number, from 1; null if there is none. Each account is a separate lookup;
 * see `firstTransactions`.
 */
export const readHeads = (sql: Sql, numbers: ReadonlyArray<AccountNumber>, rows: Rows) =>
  headRows(sql`
    with recursive ${sized(sql, numbers, rows)}
    select place, (select max(place) + 1 from sized having max(place) < ${numbers.length}) as next,
      account.id, number, supplier, external_account_number, created_at, reverted_at,
      operations_team, balance::text, payload is null as "isErased", ranges,
      case when payload_bytes <= ${smallBytes} then payload::text end as payload,
      json_build_object('notes', ${sql.literal(countOf("note_documents"))},
        'statements', ${sql.literal(countOf("statements", "statement_path is not null"))}
      ) as documents,
      ${sql.literal(ledgers)} as ledgers, ${sql.literal(instructions)} as instructions,
      case when account_bytes <= ${smallBytes} then ${sql.literal(wholeLists)} end as lists
    from sized
    cross join lateral (select * from accounts where id = sized.id limit 1) as account
    cross join lateral (
      select supplier, external_account_number from import_processes
      where id = account.import_id limit 1) as process
    order by place`)

const locatedRows = rowsOf(
  Schema.Struct({ supplier: SupplierCode, external_account_number: ExternalAccountNumber })
)

/** The import that created the account, which may have been reverted, unless it was erased. */
export const locate = (sql: Sql, number: AccountNumber) =>
  Effect.map(
    locatedRows(sql`
      select supplier, external_account_number
      from accounts join import_processes on import_processes.id = import_id
      where number = ${number} and import_processes.erased_at is null`),
    ([row]) =>
      Option.map(Option.fromUndefinedOr(row), ({ external_account_number, supplier }) => ({
        import_supplier: supplier,
        external_account_number
      }))
  )
