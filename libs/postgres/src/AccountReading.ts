/** What is read of an account before a decision: where it is, and what the decision looks at. */
import { Effect, Option, Schema } from "effect"
import { AccountNumber } from "@data-import/domain/Account"
import type { AccountNote, AccountView, Looked } from "@data-import/domain/AccountChange"
import type { ImportKey } from "@data-import/domain/ImportProcess"
import { type Database, rowsOf } from "./Database.ts"
import {
  Day,
  Figure,
  firstTransactions,
  namedNotes,
  namedStatements,
  readNotes,
  readStatements,
  readTransactions
} from "./ItemReading.ts"

type Sql = Database["Service"]["sql"]

/** The instruction as it was asked for. */
export const Instruction = Schema.Struct({
  vendor: Schema.String,
  reference: Schema.String,
  type: Schema.Literals(["CARD", "DIRECT_DEBIT"])
})

const ofKey = (sql: Sql, { external_account_number, import_supplier }: ImportKey) => sql`
  from accounts join import_processes using (id)
  where supplier = ${import_supplier} and external_account_number = ${external_account_number}`

const viewRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    revision: Schema.Int,
    number: AccountNumber,
    balance: Figure,
    lastClosingDate: Schema.NullOr(Day),
    instruction: Schema.NullOr(Instruction)
  })
)

/** A note as it was sent: with its documents, but without what the store said of them. */
export const noteOf = ({ documents, note }: Effect.Success<ReturnType<typeof readNotes>>[number]) =>
  ({
    ...note,
    ...(documents && {
      document_paths: documents.map(({ document_path }) => ({ document_path }))
    })
  }) satisfies AccountNote

/** An account as it was at a revision. */
export interface Seen {
  readonly id: bigint
  readonly revision: number
  readonly view: AccountView
}

/**
 * The account that the import has become, as `look` names it: by a statement for itself, which
 * comes first, so that its revision is not newer than the rest, and one for each kind of thing.
 */
export const readAccount = Effect.fnUntraced(function* (sql: Sql, key: ImportKey, look: Looked) {
  const { noteBodies = [], notesWithoutBody = false } = look
  const { statementIds = [], transactionIds = [] } = look
  const [row] = yield* viewRows(sql`
    select accounts.id, revision, number, balance::text,
      (select to_char(max(last_statement_closing_date), 'YYYY-MM-DD') from ledgers
        where account_id = accounts.id) as "lastClosingDate",
      (select json_build_object('vendor', vendor, 'reference', reference, 'type', type)
        from payment_instructions
        where account_id = accounts.id and ended_at is null) as instruction
    ${ofKey(sql, key)}`)
  if (row === undefined) return Option.none<Seen>()
  const { id, revision, ...account } = row
  const notes =
    noteBodies.length > 0 || notesWithoutBody
      ? yield* readNotes(sql, namedNotes(sql, id, noteBodies, notesWithoutBody))
      : []
  const transactions =
    transactionIds.length > 0
      ? yield* readTransactions(sql, firstTransactions(sql, id, transactionIds))
      : []
  const statements =
    statementIds.length > 0
      ? yield* readStatements(sql, namedStatements(sql, id, statementIds))
      : []
  const view: AccountView = {
    ...account,
    notes: notes.map(noteOf),
    transactions: new Map(
      transactions.map(({ transaction }) => [transaction.transaction_id, transaction])
    ),
    statements: new Map(
      statements.map(({ origin, statement }) => [statement.statement_id, { origin, statement }])
    )
  }
  return Option.some<Seen>({ id, revision, view })
})
