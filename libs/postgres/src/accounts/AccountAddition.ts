/**
 * Stores what is added to accounts after their import, in one statement: the new balances, the
 * rows, the audit entries and the events. Concurrent additions are stored in batches.
 */
import { BigDecimal, DateTime, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import type { AccountChange, AddedTransaction } from "@data-import/domain/accounts/AccountChange"
import type { TransactionId } from "@data-import/domain/accounts/Transaction"
import { ReservationLost } from "@data-import/domain/idempotency/IdempotencyKeys"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import type { AuditedWrite } from "../audit/ChangeEntries.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { contended } from "../connection/SqlFailure.ts"
import { answerClauses, type BatchAnswers } from "../idempotency/StoredAnswers.ts"
import { isOngoing } from "../tables/SupplierStatus.ts"
import * as tables from "../tables/AccountItemTables.ts"
import { byPosition, position, recordSet } from "../tables/RecordSet.ts"
import * as Table from "../tables/Table.ts"
import { placed } from "../tables/Table.ts"
import {
  type DocumentedItems,
  documentedInserts,
  firstOccurrence,
  type Posting,
  transactionInserts
} from "./AccountItemInserts.ts"

type Sql = Database["Service"]["sql"]

/** A change to store on the account, provided that it still has the revision. */
export interface Addition {
  readonly id: bigint
  readonly revision: number
  readonly change: AccountChange
  /** The requested ids that no transaction of the account had at this revision. */
  readonly absent: ReadonlySet<TransactionId>
  readonly write: Omit<AuditedWrite, "key" | "outcome"> & {
    readonly key: { readonly import_supplier: string; readonly external_account_number: string }
  }
  readonly kept: BatchAnswers | null
}

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
  + row_number() over (partition by target.id, transaction_id order by sequence)`

/** Whether the account has none of the transactions, and each is added once. */
const addsNewIds = ({ change: { transactions }, absent }: Addition): boolean => {
  const ids = new Set(transactions.map(({ transaction }) => transaction.transaction_id))
  return ids.size === transactions.length && ids.isSubsetOf(absent)
}

/** The lists to which any of the changes adds something. */
const listsOf = (changes: ReadonlyArray<AccountChange>) => ({
  transactions: changes.some(({ transactions }) => transactions.length > 0),
  notes: changes.some(({ notes }) => notes.length > 0),
  statements: changes.some(({ statements }) => statements.length > 0),
  completed: changes.some(({ completedStatements }) => completedStatements.length > 0),
  payment_instructions: changes.some(({ instruction }) => instruction !== null)
})

const instructionRows = ({ instruction: added }: AccountChange) =>
  added === null ? [] : [{ ...added.instruction, details: added.details }]

const documentedOf = ({ change, write }: Addition): DocumentedItems => ({
  notes: change.notes,
  statements: change.statements,
  completedStatements: change.completedStatements,
  origin: "historical_statements",
  documents: change.documents,
  createdAt: write.at
})

/** Inserts only into tables that get rows, so that no request pays for others. */
function* inserts(
  sql: Sql,
  additions: ReadonlyArray<Addition>
): Steps<ReadonlyArray<Statement.Fragment>> {
  const changes = additions.map(({ change }) => change)
  const added = listsOf(changes)
  const postings = () => changes.map(({ transactions }) => transactions.map(postingOf))
  const occurrence = additions.every(addsNewIds) ? firstOccurrence : nextOccurrence
  return [
    ...(added.transactions ? yield* transactionInserts(sql, postings(), occurrence) : []),
    ...(added.notes || added.statements || added.completed
      ? yield* documentedInserts(sql, additions.map(documentedOf), {
          notes: added.notes,
          statements: added.statements && "addedStatements",
          completedStatements: added.completed
        })
      : []),
    ...(added.payment_instructions
      ? [yield* Table.inserting(sql, tables.paymentInstructions, placed(changes, instructionRows))]
      : [])
  ]
}

const sent = (sql: Sql, additions: ReadonlyArray<Addition>): Statement.Fragment =>
  recordSet(sql, "sent", additions, {
    position,
    place: ["integer", (_, place) => place],
    account: ["bigint", ({ id }) => id],
    seen_revision: ["integer", ({ revision }) => revision],
    new_balance: ["numeric", ({ change }) => BigDecimal.format(change.balance)],
    at: ["timestamptz", ({ write }) => DateTime.toDateUtc(write.at)],
    action: ["text", ({ write }) => write.action],
    organisation: ["text", ({ write }) => write.caller.organisation],
    api_key: ["text", ({ write }) => write.caller.apiKey],
    request_id: ["text", ({ write }) => write.caller.requestId],
    supplier: ["text", ({ write }) => write.key.import_supplier],
    external_account_number: ["text", ({ write }) => write.key.external_account_number]
  })

/**
 * Returns no row for an account that was modified concurrently or is locked, or whose supplier is
 * not Ongoing; it never waits for such a lock. Audit entries are written in the order in which
 * batches of stagings write them, so that two batches never deadlock.
 */
function* adding(
  sql: Sql,
  additions: ReadonlyArray<Addition>
): Steps<Statement.Statement<unknown>> {
  const rows = yield* inserts(sql, additions)
  const added = listsOf(additions.map(({ change }) => change))
  /** The next number in a list of the account; any if nothing is added to such a list. */
  const nextIn = (table: Exclude<keyof typeof added, "completed">) =>
    added[table]
      ? sql`(select coalesce(max(sequence) + 1, 0) from ${sql(table)} where account_id = id)`
      : sql`0`
  const keeping = answerClauses(
    sql,
    additions.map(({ kept }) => kept)
  )
  return sql`
    with sent as (select * from ${sent(sql, additions)}),
    ${keeping.before}
    present as (
      select position from sent, lateral (
        select from accounts where id = sent.account and revision = sent.seen_revision
          and ${isOngoing(sql, "sent.supplier")}
        for no key update skip locked
      ) as held
    ),
    changed as (
      update accounts set balance = new_balance from sent
      where accounts.id = sent.account and position in (select position from present)
        ${keeping.guard}
      returning position, accounts.id, import_id
    ),
    stored as (select position, import_id as id, id as account_id, 1 as times from changed),
    target as (
      select sent.*, id, import_id, at as recorded_at, ${nextIn("transactions")} as transactions,
        ${nextIn("notes")} as notes, ${nextIn("statements")} as statements,
        ${nextIn("payment_instructions")} as instructions
      from changed join sent using (position)
    ),
    ${sql.csv(rows)},
    event as (
      insert into outbox (at, name, import_id)
      select at, ${addedEvent}, import_id from target order by place
    ),
    audit as (
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select at, organisation, api_key, request_id, action, 'created', supplier,
        external_account_number
      from target order by supplier, external_account_number
    )
    ${keeping.after}
    select position, 1 as stored from changed ${keeping.lost}`
}

/** A row for each stored addition; `stored` is null if its reservation is lost. */
const addedRows = rowsOf(
  Schema.Struct({ position: Schema.BigInt, stored: Schema.NullOr(Schema.Int) })
)

type Outcome = "Added" | "Contended" | "ReservationLost"

const outcomeOf = (row: { readonly stored: number | null } | undefined): Outcome => {
  if (row === undefined) return "Contended"
  return row.stored === null ? "ReservationLost" : "Added"
}

const addAll = (sql: Sql, additions: ReadonlyArray<Addition>) =>
  inTimeSlices(() => adding(sql, additions)).pipe(
    Effect.flatMap(addedRows),
    Effect.map((rows) => byPosition(additions, rows, outcomeOf))
  )

/** How many rows are added, apart from those of items and documents. */
const sizeOf = ({ change }: Addition): number =>
  change.transactions.length +
  change.notes.length +
  change.statements.length +
  change.completedStatements.length

/** Stores additions. Fails as contended if the account was modified concurrently or is locked. */
export const makeAdd = ({ batched, runOnce, sql }: Database["Service"]) => {
  const store = batched({
    identity: ({ id }: Addition) => String(id),
    weight: sizeOf,
    run: (additions: ReadonlyArray<Addition>) => addAll(sql, additions),
    limits: { slots: 2, commands: 32, weight: 500 },
    // A contended change has to be decided again, so the caller repeats it.
    alone: runOnce
  })
  return Effect.fnUntraced(function* (addition: Addition) {
    const outcome = yield* store(addition)
    if (outcome === "ReservationLost") return yield* new ReservationLost()
    if (outcome === "Contended") return yield* contended
  })
}
