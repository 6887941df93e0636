/**
 * What is added to an account after its import, in one statement: the new balance, the rows, the
 * audit entry and the event.
 */
import { DateTime } from "effect"
import type { AccountChange, AddedTransaction } from "@data-import/domain/account/AccountChange"
import type { AccountSnapshot } from "./AccountReading.ts"
import type { Database } from "../connection/Database.ts"
import { auditEntry, type AuditedWrite, outboxEvent } from "../audit/ChangeEntries.ts"
import { noteAndStatementInserts, transactionInserts } from "./ItemInserts.ts"
import { keeping, type KeptAnswer } from "../idempotency/KeptAnswers.ts"
import {
  decimalText,
  jsonTexts,
  noteRows,
  type Posting,
  statementRows,
  transactionRows
} from "./ItemRows.ts"

type Sql = Database["Service"]["sql"]

const postingOf = ({ movedFrom, transaction }: AddedTransaction): Posting => ({
  transaction,
  origin: "post_import",
  ledger_position: null,
  moved_from_date: movedFrom
})

const addedEvent = "data_import.import_process.post_import.completed-v1"

/** Each id is counted on from those that are there, in the order in which they are sent. */
const occurrence = (sql: Sql) => sql`
  coalesce((select max(known.occurrence) from transactions known
    where known.account_id = target.id and known.transaction_id = sent.transaction_id), 0)
  + row_number() over (partition by transaction_id order by sequence)`

/**
 * Stores the change on the account, as the write that the audit log then has, with the answer that
 * is to be kept of it. Stores nothing where the account has changed since it was seen or another
 * transaction has it locked, and gives no row; or where the reservation of the answer is lost, and
 * gives a row without an id.
 */
export const addToAccount = (
  sql: Sql,
  { id, revision }: Pick<AccountSnapshot, "id" | "revision">,
  change: AccountChange,
  write: Omit<AuditedWrite, "outcome">,
  kept: KeptAnswer | null
) => {
  const { balance, documents, instruction, notes, statements, transactions } = change
  const { at } = write
  const recordedAt = DateTime.toDateUtc(at)
  const parts = keeping(sql, kept)
  const rows = jsonTexts({
    ...transactionRows(transactions.map(postingOf)),
    ...noteRows(notes, documents, at),
    ...statementRows(statements, documents),
    instructions:
      instruction === null ? [] : [{ ...instruction.instruction, details: instruction.details }]
  })
  return sql`
    with ${parts.before}
    seen as (
      select id from accounts where id = ${id} and revision = ${revision}
      for no key update skip locked
    ),
    changed as (
      update accounts set balance = ${decimalText(balance)}::numeric
      from seen where accounts.id = seen.id ${parts.guard} returning accounts.id
    ),
    target as (
      select id,
        (select coalesce(max(sequence) + 1, 0) from transactions where account_id = id)
          as transactions,
        (select coalesce(max(sequence) + 1, 0) from notes where account_id = id) as notes,
        (select coalesce(max(sequence) + 1, 0) from statements where account_id = id)
          as statements,
        (select coalesce(max(sequence) + 1, 0) from payment_instructions where account_id = id)
          as instructions
      from changed
    ),
    ${transactionInserts(sql, rows, recordedAt, occurrence(sql))},
    ${noteAndStatementInserts(sql, rows, recordedAt, "historical_statements")},
    new_instructions as (
      insert into payment_instructions (account_id, sequence, vendor, reference, type, details,
        created_at)
      select target.id, target.instructions, vendor, reference, type, details, ${recordedAt}
      from target, json_to_recordset(${rows.instructions}::json) as sent(
        vendor text, reference text, type text, details jsonb)
    ),
    event as (${outboxEvent(sql, { at, name: addedEvent, codes: [] })}),
    audit as (${auditEntry(sql, { ...write, outcome: "created" })})
    ${parts.after}
    select id from changed ${parts.lost}`
}
