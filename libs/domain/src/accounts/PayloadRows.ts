/**
 * Compares the rows of an account with the text of the payload that it was imported from. Both are
 * written by one statement, so that only a fault or a change by hand makes them differ.
 */
import { Struct } from "effect"
import { type Account, accountOfText, accountTextInSteps } from "./Account.ts"
import type { AccountNote } from "./AccountChange.ts"
import {
  type AccountDescription,
  type DescribedRows,
  type DescribedTransaction,
  rowsOf
} from "./AccountDescription.ts"
import { Ledger } from "./Ledger.ts"
import { Note } from "./Note.ts"
import { HistoricalStatement } from "./Statement.ts"
import { AccountTransaction } from "./Transaction.ts"
import type { AddedItems } from "../certificates/AccountEntry.ts"
import { canonicalTextOf } from "../schema/CanonicalJson.ts"
import type { Steps } from "../support/Steps.ts"

/** The rows of the payload: notes have the same table as later ones, and come first. */
const ofPayload = (account: Account, described: AccountDescription): DescribedRows => ({
  ledgers: described.ledgers,
  transactions: described.transactions.filter(({ origin }) => origin !== "post_import"),
  notes: described.notes.slice(0, account.notes?.length ?? 0),
  statements: described.statements.filter(({ origin }) => origin === "account_payload")
})

/** The rows of what was added to the account. */
const addedTo = (account: Account, described: AccountDescription): AddedItems => ({
  transactions: described.transactions.filter(({ origin }) => origin === "post_import"),
  notes: described.notes.slice(account.notes?.length ?? 0),
  statements: described.statements.flatMap(({ origin, statement }) =>
    origin === "historical_statements" ? [statement] : []
  ),
  instructions: described.instructions.map(({ instruction }) => instruction)
})

/** Rows do not tell an empty list and an unpinned note from members that were left out. */
const storedNote = ({ document_paths = [], is_pinned, ...note }: AccountNote): Note => ({
  ...note,
  ...(document_paths.length > 0 && { document_paths }),
  ...(is_pinned === true && { is_pinned })
})

const ledgerText = canonicalTextOf(Ledger)
const noteText = canonicalTextOf(Note)
const statementText = canonicalTextOf(HistoricalStatement)
const transactionText = canonicalTextOf(AccountTransaction)

function* describedText({ ledgerCode, origin, transaction }: DescribedTransaction): Steps<string> {
  return `${ledgerCode} ${origin} ${yield* transactionText(transaction)}`
}

function* areEqual<Row>(
  rows: ReadonlyArray<Row>,
  expected: ReadonlyArray<Row>,
  write: (row: Row) => Steps<string>
): Steps<boolean> {
  if (rows.length !== expected.length) return false
  for (const [index, row] of rows.entries()) {
    if ((yield* write(row)) !== (yield* write(expected[index] as Row))) return false
    yield
  }
  return true
}

/** The lists whose rows are not those of the payload. */
function* differingFrom(
  account: Account,
  rows: DescribedRows,
  { createdAt }: AccountDescription
): Steps<ReadonlyArray<keyof DescribedRows>> {
  const expected = rowsOf(account, createdAt)
  const areSame = {
    ledgers: yield* areEqual(rows.ledgers, expected.ledgers, ledgerText),
    transactions: yield* areEqual(rows.transactions, expected.transactions, describedText),
    notes: yield* areEqual(rows.notes, expected.notes, (note) => noteText(storedNote(note))),
    statements: yield* areEqual(rows.statements, expected.statements, ({ statement }) =>
      statementText(statement)
    )
  }
  return Struct.keys(areSame).filter((list) => !areSame[list])
}

const withRows = (account: Account, rows: DescribedRows): Account => ({
  ...account,
  ledgers: rows.ledgers.map((ledger) => {
    const of = (wanted: DescribedTransaction["origin"]) =>
      rows.transactions.flatMap(({ ledgerCode, origin, transaction }) =>
        origin === wanted && ledgerCode === ledger.ledger_code ? [transaction] : []
      )
    return {
      ...ledger,
      historical_statement_transactions: of("historical_statement"),
      current_statement_transactions: of("current_statement")
    }
  }),
  notes: rows.notes,
  statements: rows.statements.map(({ statement }) => statement)
})

/** An account as it is stored. */
export interface Stored {
  /** The payload, with its rows where they differ from its text. */
  readonly account: Account
  /** The text of the account. */
  readonly text: string
  /** The lists whose rows are not those of the payload; none unless the account was altered. */
  readonly differing: ReadonlyArray<keyof DescribedRows>
  readonly added: AddedItems
}

/** Null if the account was erased. Throws if its payload was altered into no valid account. */
export function* storedIn(described: AccountDescription): Steps<Stored | null> {
  const { payload } = described
  if (payload === null) return null
  const account = yield* accountOfText(payload)
  const added = addedTo(account, described)
  const rows = ofPayload(account, described)
  const differing = yield* differingFrom(account, rows, described)
  if (differing.length === 0) return { account, text: payload, differing, added }
  const altered = withRows(account, rows)
  return { account: altered, text: yield* accountTextInSteps(altered), differing, added }
}
