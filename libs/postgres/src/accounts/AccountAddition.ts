/**
 * Stores what is added to an account after its import, in one statement: the new balance, the rows,
 * the audit entry and the event.
 */
import { BigDecimal, DateTime, Effect } from "effect"
import type { Statement } from "effect/sql"
import type { AccountChange, AddedTransaction } from "@data-import/domain/account/AccountChange"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { auditEntry, type AuditedWrite, outboxEvent } from "../audit/ChangeEntries.ts"
import type { Database } from "../connection/Database.ts"
import { answerClauses, type StoredAnswer } from "../idempotency/StoredAnswers.ts"
import * as tables from "../tables/AccountItemTables.ts"
import * as Table from "../tables/Table.ts"
import { placed } from "../tables/Table.ts"
import type { AccountSnapshot } from "./AccountReading.ts"
import {
  documentedInserts,
  firstOccurrence,
  type Posting,
  transactionInserts
} from "./AccountItemInserts.ts"

type Sql = Database["Service"]["sql"]

const postingOf = (added: AddedTransaction): Posting => ({
  ...added,
  origin: "post_import",
  ledgerPosition: undefined
})

const addedEvent = "data_import.import_process.post_import.completed-v1"

/**
 * Continues the count of transactions with the same id on the account, in the order of the request.
 */
const nextOccurrence = `
  coalesce((select max(known.occurrence) from transactions known
    where known.account_id = target.id and known.transaction_id = sent.transaction_id), 0)
  + row_number() over (partition by transaction_id order by sequence)`

/** SQL that counts the transactions of an id, which is 1 for those that the account has not yet. */
const occurrenceOf = (
  transactions: ReadonlyArray<AddedTransaction>,
  { absent }: AccountSnapshot
): string => {
  const ids = new Set(transactions.map(({ transaction }) => transaction.transaction_id))
  return ids.size === transactions.length && ids.isSubsetOf(absent)
    ? firstOccurrence
    : nextOccurrence
}

/** Only of what is added, so that a request pays for no other table. */
function* inserts(
  sql: Sql,
  snapshot: AccountSnapshot,
  change: AccountChange,
  createdAt: DateTime.Utc
): Steps<ReadonlyArray<Statement.Fragment>> {
  const { documents, instruction, notes, statements, transactions } = change
  const origin = "historical_statements"
  return [
    ...(transactions.length > 0
      ? yield* transactionInserts(
          sql,
          [transactions.map(postingOf)],
          occurrenceOf(transactions, snapshot)
        )
      : []),
    ...(notes.length > 0 || statements.length > 0
      ? yield* documentedInserts(sql, [{ notes, statements, origin, documents, createdAt }])
      : []),
    ...(instruction === null
      ? []
      : [
          yield* Table.inserting(
            sql,
            tables.paymentInstructions,
            placed([{ ...instruction.instruction, details: instruction.details }], (row) => [row])
          )
        ])
  ]
}

/** The next number in a list of the account; any if nothing is added to it. */
const nextIn = (sql: Sql, table: string, isAdded: boolean): Statement.Fragment =>
  isAdded
    ? sql`(select coalesce(max(sequence) + 1, 0) from ${sql(table)} where account_id = id)`
    : sql`0`

/**
 * Stores the change on the account with its audit entry and its kept answer. If the account was
 * modified concurrently or is locked, it stores nothing and returns no row. If the reservation of
 * the answer is lost, it stores nothing and returns a row without an id.
 */
export const addToAccount = Effect.fnUntraced(function* (
  sql: Sql,
  snapshot: AccountSnapshot,
  change: AccountChange,
  write: Omit<AuditedWrite, "outcome">,
  kept: StoredAnswer | null
) {
  const { at } = write
  const { id, revision } = snapshot
  const added = yield* inTimeSlices(() => inserts(sql, snapshot, change, at))
  const parts = answerClauses(sql, kept)
  return yield* sql`
    with ${parts.before}
    present as (
      select id from accounts where id = ${id} and revision = ${revision}
      for no key update skip locked
    ),
    changed as (
      update accounts set balance = ${BigDecimal.format(change.balance)}::numeric
      from present where accounts.id = present.id ${parts.guard} returning accounts.id
    ),
    target as (
      select id, ${DateTime.toDateUtc(at)}::timestamptz as recorded_at,
        ${nextIn(sql, "transactions", change.transactions.length > 0)} as transactions,
        ${nextIn(sql, "notes", change.notes.length > 0)} as notes,
        ${nextIn(sql, "statements", change.statements.length > 0)} as statements,
        ${nextIn(sql, "payment_instructions", change.instruction !== null)} as instructions
      from changed
    ),
    ${sql.csv(added)},
    event as (${outboxEvent(sql, { at, name: addedEvent, codes: [] })}),
    audit as (${auditEntry(sql, { ...write, outcome: "created" })})
    ${parts.after}
    select id from changed ${parts.lost}`
})
