/**
 * The end of an attempt: one statement sets the import Imported and creates the account with all
 * its items. Its parts depend on `changed`, the import that the attempt still holds. Without it,
 * nothing is stored.
 */
import { DateTime, Effect } from "effect"
import type { Statement } from "effect/sql"
import { customerEmailEvent } from "@data-import/domain/account/Event"
import { ReservationLost } from "@data-import/domain/ports/IdempotencyKeys"
import type { Completion, ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { accountInserts } from "./AccountInserts.ts"
import type { Database } from "../connection/Database.ts"
import { auditEntry, outboxEvent } from "../audit/ChangeEntries.ts"
import { isLost, answerClauses, type AnswerClauses } from "../idempotency/StoredAnswers.ts"
import { breaks } from "../connection/SqlFailure.ts"

type Sql = Database["Service"]["sql"]
type Command = Parameters<ImportProcesses["Service"]["complete"]>[0]

const imported = (
  sql: Sql,
  { attempt, key, newAccount }: Command,
  { guard }: AnswerClauses
): Statement.Fragment => sql`
  update import_processes
  set lease_attempt = null, lease_expires_at = null, account_number = ${newAccount.number},
    account_created_at = ${DateTime.toDateUtc(newAccount.createdAt)}, failed_staging = null
  where supplier = ${key.import_supplier}
    and external_account_number = ${key.external_account_number} and lease_attempt = ${attempt}
    ${guard}
  returning id`

const ended = (sql: Sql, { attempt, newAccount }: Command): Statement.Fragment => sql`
  update import_attempts
  set ended_at = ${DateTime.toDateUtc(newAccount.createdAt)}, outcome = 'created'
  from changed where import_id = changed.id and import_attempts.id = ${attempt}`

const completeEvent = "data_import.import_process.complete-v1"

/** One event, or two in this order where customers are to get an e-mail. */
const events = (
  sql: Sql,
  { createdAt: at, customerEmails }: Command["newAccount"]
): Statement.Fragment =>
  customerEmails
    ? sql`
      insert into outbox (at, name, import_id)
      select ${DateTime.toDateUtc(at)}, name, id
      from changed, (values (1, ${completeEvent}), (2, ${customerEmailEvent})) as due (step, name)
      order by step`
    : outboxEvent(sql, { at, name: completeEvent, codes: [] })

/**
 * Returns no row if the attempt no longer holds the import, and a row without an id if the
 * reservation of its key is lost.
 */
function* statement(sql: Sql, command: Command): Steps<Statement.Statement<unknown>> {
  const { caller, keep, key, newAccount } = command
  const { createdAt: at } = newAccount
  const kept = keep
    ? { reservation: keep.reservation, text: yield* keep.textOf(newAccount), at }
    : null
  const parts = answerClauses(sql, kept)
  const created = yield* accountInserts(sql, [newAccount])
  return sql`
    with ${parts.before}
    changed as (${imported(sql, command, parts)}),
    ended as (${ended(sql, command)}),
    target as (
      select id, ${DateTime.toDateUtc(at)}::timestamptz as recorded_at,
        0 as transactions, 0 as notes, 0 as statements
      from changed
    ),
    ${sql.csv(created)},
    events as (${events(sql, newAccount)}),
    audit as (${auditEntry(sql, { at, caller, action: "process", outcome: "created", key })})
    ${parts.after}
    select id from changed ${parts.lost}`
}

export const complete = ({ sql }: Database["Service"], command: Command) =>
  inTimeSlices(() => statement(sql, command)).pipe(
    Effect.flatten,
    Effect.filterOrFail(
      (rows) => !isLost(rows),
      () => new ReservationLost()
    ),
    Effect.map((rows): Completion => ({ _tag: rows.length > 0 ? "Completed" : "LeaseLost" })),
    Effect.catchIf(breaks("accounts_number_once"), () =>
      Effect.succeed<Completion>({ _tag: "NumberTaken" })
    )
  )

/** Fails a transaction to roll it back, with its outcome. */
interface RolledBack {
  readonly _tag: "RolledBack"
  readonly outcome: Completion
}

/** A dry run keeps no response, so it cannot lose a reservation. */
export const dryRun = (database: Database["Service"], command: Omit<Command, "keep">) =>
  complete(database, command).pipe(
    Effect.flatMap((outcome) => Effect.fail<RolledBack>({ _tag: "RolledBack", outcome })),
    database.sql.withTransaction,
    Effect.catchTags({
      RolledBack: ({ outcome }) => Effect.succeed(outcome),
      ReservationLost: Effect.die
    })
  )
