/**
 * The end of attempts: one statement sets their imports Imported and creates the accounts with all
 * their items. Its parts depend on `changed`, the imports that the attempts still hold. If an
 * attempt no longer holds its import, nothing of its account is stored. Concurrent attempts end in
 * batches.
 */
import { DateTime, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { customerEmailEvent } from "@data-import/domain/events/Event"
import { currentTransactions, historicalTransactions } from "@data-import/domain/accounts/Ledger"
import { ReservationLost } from "@data-import/domain/idempotency/IdempotencyKeys"
import type { Completion, ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { inTimeSlices, type Steps } from "@data-import/domain/support/Steps"
import { accountInserts } from "./AccountInserts.ts"
import { type Database, rowsOf } from "../connection/Database.ts"
import { answerClauses, type BatchAnswers } from "../idempotency/StoredAnswers.ts"
import { breaks } from "../connection/SqlFailure.ts"
import { byPosition, position, recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]
type Command = Parameters<ImportProcesses["Service"]["complete"]>[0]

/** A row for each stored command; `stored` is null if its reservation is lost. */
const rows = rowsOf(Schema.Struct({ position: Schema.BigInt, stored: Schema.NullOr(Schema.Int) }))

const sent = (sql: Sql, commands: ReadonlyArray<Command>): Statement.Fragment =>
  recordSet(sql, "sent", commands, {
    position,
    place: ["integer", (_, index) => index],
    supplier: ["text", ({ key }) => key.import_supplier],
    external_account_number: ["text", ({ key }) => key.external_account_number],
    attempt: ["text", ({ attempt }) => attempt],
    account_number: ["text", ({ newAccount }) => newAccount.number],
    at: ["timestamptz", ({ newAccount }) => DateTime.toDateUtc(newAccount.createdAt)],
    customer_emails: ["boolean", ({ newAccount }) => newAccount.customerEmails],
    organisation: ["text", ({ caller }) => caller.organisation],
    api_key: ["text", ({ caller }) => caller.apiKey],
    request_id: ["text", ({ caller }) => caller.requestId]
  })

const completeEvent = "data_import.import_process.complete-v1"

/** One event for each account, or two in this order if its customers are to get an e-mail. */
const events = (sql: Sql, commands: ReadonlyArray<Command>): Statement.Fragment =>
  commands.some(({ newAccount }) => newAccount.customerEmails)
    ? sql`
      insert into outbox (at, name, import_id, account_number)
      select at, name, import_id, account_number
      from target, (values (1, ${completeEvent}), (2, ${customerEmailEvent})) as due (step, name)
      where step = 1 or customer_emails
      order by place, step`
    : sql`
      insert into outbox (at, name, import_id, account_number)
      select at, ${completeEvent}, import_id, account_number from target order by place`

function* keptAnswers(commands: ReadonlyArray<Command>): Steps<ReadonlyArray<BatchAnswers | null>> {
  const kept: Array<BatchAnswers | null> = []
  for (const { recorder, newAccount } of commands) {
    if (recorder) {
      const first = yield* recorder.textOf(newAccount)
      const { createdAt: at } = newAccount
      kept.push({ reservation: recorder.reservation, at, first, later: first })
    } else kept.push(null)
  }
  return kept
}

/**
 * Returns no row for an attempt that no longer holds its import. Audit entries are written in the
 * order in which batches of stagings write them, so that two batches never deadlock.
 */
function* statement(
  sql: Sql,
  commands: ReadonlyArray<Command>
): Steps<Statement.Statement<unknown>> {
  const keeping = answerClauses(sql, yield* keptAnswers(commands))
  const created = yield* accountInserts(
    sql,
    commands.map(({ newAccount }) => newAccount)
  )
  return sql`
    with sent as (
      select *, nextval('accounts_id_seq') as account_id from ${sent(sql, commands)}
    ),
    ${keeping.before}
    changed as (
      update import_processes as present
      set lease_attempt = null, lease_expires_at = null, lease_dry_run = false,
        account_id = sent.account_id, account_number = sent.account_number,
        account_created_at = sent.at, failed_staging = null
      from sent
      where present.supplier = sent.supplier
        and present.external_account_number = sent.external_account_number
        and lease_attempt = attempt ${keeping.guard}
      returning position, id as import_id, payload as staged, payload_bytes as staged_bytes
    ),
    stored as (
      select position, import_id as id, account_id, 1 as times
      from changed join sent using (position)
    ),
    target as (
      select sent.*, account_id as id, import_id, staged, staged_bytes, at as recorded_at,
        0 as transactions, 0 as notes, 0 as statements
      from changed join sent using (position)
    ),
    ended as (
      update import_attempts set ended_at = at, outcome = 'created'
      from target
      where import_attempts.import_id = target.import_id and import_attempts.id = attempt
    ),
    ${sql.csv(created)},
    events as (${events(sql, commands)}),
    audit as (
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select at, organisation, api_key, request_id, 'process', 'created', supplier,
        external_account_number
      from target order by supplier, external_account_number
    )
    ${keeping.after}
    select position, 1 as stored from changed ${keeping.lost}`
}

type Outcome = Completion | { readonly _tag: "ReservationLost" }

const outcomeOf = (row: { readonly stored: number | null } | undefined): Outcome => {
  if (row === undefined) return { _tag: "LeaseLost" }
  return { _tag: row.stored === null ? "ReservationLost" : "Completed" }
}

/** The outcome of each command. Fails if one of several accounts has a number that is taken. */
const completeAll = ({ sql }: Database["Service"], commands: ReadonlyArray<Command>) =>
  inTimeSlices(() => statement(sql, commands)).pipe(
    Effect.flatMap(rows),
    Effect.map((stored) => byPosition(commands, stored, outcomeOf)),
    Effect.catchIf(
      (error) => commands.length === 1 && breaks("accounts_number_once")(error),
      () => Effect.succeed<ReadonlyArray<Outcome>>([{ _tag: "NumberTaken" }])
    )
  )

const completion = (outcome: Outcome): Effect.Effect<Completion, ReservationLost> =>
  outcome._tag === "ReservationLost" ? Effect.fail(new ReservationLost()) : Effect.succeed(outcome)

/** How many notes, statements and transactions an account has; they make up most of its rows. */
const itemCount = ({ newAccount: { account } }: Command): number =>
  (account.notes?.length ?? 0) +
  (account.statements?.length ?? 0) +
  (account.ledgers ?? []).reduce(
    (sum, ledger) =>
      sum + historicalTransactions(ledger).length + currentTransactions(ledger).length,
    0
  )

/** Ends attempts together, as `run` does. */
const together = (
  database: Database["Service"],
  run: (commands: ReadonlyArray<Command>) => ReturnType<typeof completeAll>
) =>
  database.batched({
    identity: ({ attempt }: Command) => attempt,
    weight: itemCount,
    run,
    limits: { slots: 2, commands: 32, weight: 500 },
    alone: database.run
  })

export const makeComplete = (database: Database["Service"]) => {
  const complete = together(database, (commands) => completeAll(database, commands))
  return (command: Command) => Effect.flatMap(complete(command), completion)
}

/** Fails a transaction to roll it back, with its outcomes. */
interface RolledBack {
  readonly _tag: "RolledBack"
  readonly outcomes: ReadonlyArray<Outcome>
}

const rolledBack = (database: Database["Service"], commands: ReadonlyArray<Command>) =>
  completeAll(database, commands).pipe(
    Effect.flatMap((outcomes) => Effect.fail<RolledBack>({ _tag: "RolledBack", outcomes })),
    database.sql.withTransaction,
    Effect.catchTag("RolledBack", ({ outcomes }) => Effect.succeed(outcomes))
  )

/** A dry run keeps no response, so it cannot lose a reservation. */
export const makeDryRun = (database: Database["Service"]) => {
  const dryRun = together(database, (commands) => rolledBack(database, commands))
  return (command: Omit<Command, "recorder">) =>
    dryRun({ ...command, recorder: null }).pipe(
      Effect.flatMap(completion),
      Effect.catchTag("ReservationLost", Effect.die)
    )
}
