/**
 * Imports in PostgreSQL. Every step is one statement, and so one round trip and one transaction,
 * unless it has to look before it acts; whoever holds an import is decided by comparing and setting
 * its row.
 */
import { DateTime, Effect, Layer, Option, Schema, Stream } from "effect"
import { AccountNumber, ExternalAccountNumber } from "@data-import/domain/Account"
import { releaseCodes, releaseEvent } from "@data-import/domain/Event"
import { isFree, stateAt } from "@data-import/domain/ImportProcess"
import { type ImportListEntry, ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { complete, rehearse } from "./AccountCreation.ts"
import { claim } from "./Claiming.ts"
import { Database, isStorable, rowsOf } from "./Database.ts"
import { auditEntry, expiredAttempt, outboxEvent } from "./Entries.ts"
import { isStorableKey, readImport } from "./ImportRow.ts"
import { makeStage } from "./Staging.ts"

type Port = ImportProcesses["Service"]
type Command<Operation extends keyof Port> = Parameters<Port[Operation]>[0]

const changedRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))

const renew = ({ sql }: Database["Service"], { at, attempt, key, until }: Command<"renew">) =>
  changedRows(sql`
    update import_processes set lease_expires_at = ${DateTime.toDateUtc(until)}
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number} and lease_attempt = ${attempt}
      and lease_expires_at > ${DateTime.toDateUtc(at)}
    returning id`).pipe(Effect.map((rows) => rows.length > 0))

const release = ({ sql }: Database["Service"], command: Command<"release">) => {
  const { at, attempt, caller, dryRun, errors, key, outcome } = command
  const name = releaseEvent(dryRun, outcome === "dry_run_successful")
  const codes = releaseCodes(outcome, errors)
  return sql`
    with changed as (
      update import_processes set lease_attempt = null, lease_expires_at = null
      where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number} and lease_attempt = ${attempt}
      returning id
    ),
    ended as (
      update import_attempts set ended_at = ${DateTime.toDateUtc(at)}, outcome = ${outcome},
        errors = ${JSON.stringify(errors.map(({ attr, code }) => ({ code, attr })))}::json
      from changed where import_id = changed.id and import_attempts.id = ${attempt}
    ),
    event as (${outboxEvent(sql, { at, name, codes })}),
    audit as (${auditEntry(sql, { at, caller, action: "process", outcome, key })})
    select id from changed`.pipe(Effect.asVoid)
}

/** Locked first, because skipping clears a lease that has expired and unskipping does not. */
const setSkipped = Effect.fnUntraced(function* (
  database: Database["Service"],
  { at, key, skipped }: Command<"setSkipped">
) {
  const { sql } = database
  const process = yield* readImport(database, key, true)
  if (Option.isNone(process)) return { _tag: "Refused", found: null } as const
  const found = stateAt(process.value, at)
  if (!isFree(found) && found._tag !== "Skipped") return { _tag: "Refused", found } as const
  if (process.value.skipped === skipped) return { _tag: "Set" } as const
  yield* sql`
    with changed as (
      update import_processes
      set skipped = ${skipped}, lease_attempt = null, lease_expires_at = null
      where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number}
      returning id
    ),
    expired as (${expiredAttempt(sql, at)})
    select id from changed`
  return { _tag: "Set" } as const
})

const Instant = Schema.DateTimeUtcFromDate

const listRows = rowsOf(
  Schema.Struct({
    external_account_number: ExternalAccountNumber,
    kraken_account_number: Schema.NullOr(AccountNumber),
    account_created_at: Schema.NullOr(Instant)
  })
)

const pageSize = 1_000

/**
 * Greater than every number that sorts before or at `after`; no number holds a NUL, so it sorts as
 * if cut.
 */
const startOf = (after: string | null): string => (after ?? "").split("\0", 1)[0] ?? ""

const page = (
  { sql }: Database["Service"],
  { kind, supplier }: Command<"list">,
  after: string,
  size: number
) => {
  const chosen = {
    all: sql``,
    pending: sql`and account_number is null and not skipped`,
    imported: sql`and account_number is not null`
  }
  return listRows(sql`
    select external_account_number, account_number as kraken_account_number, account_created_at
    from import_processes
    where supplier = ${supplier} and external_account_number > ${after} ${chosen[kind]}
    order by external_account_number limit ${size}`)
}

/**
 * Page by page, each where the one before it ended. A cursor would keep a connection, and a
 * statement, for as long as the slowest client takes to read.
 */
const list = (database: Database["Service"], query: Command<"list">) =>
  Stream.paginate(
    { after: startOf(query.after), left: query.limit ?? Infinity },
    Effect.fnUntraced(function* ({ after, left }) {
      const size = Math.min(left, pageSize)
      const entries: ReadonlyArray<ImportListEntry> = yield* database.run(
        page(database, query, after, size)
      )
      const last = entries.at(-1)
      const next =
        last === undefined || entries.length < size || left === size
          ? Option.none()
          : Option.some({ after: last.external_account_number, left: left - size })
      return [entries, next] as const
    })
  )

const make = Effect.gen(function* () {
  const database = yield* Database
  const { run, sql } = database
  return ImportProcesses.of({
    stage: yield* makeStage(database),
    find: (key) =>
      isStorableKey(key) ? run(readImport(database, key)) : Effect.succeed(Option.none()),
    claim: (command) => run(claim(database, command)),
    renew: (command) => run(renew(database, command)),
    complete: (command) => run(complete(database, command)),
    rehearse: (command) => run(rehearse(database, command)),
    release: (command) => run(release(database, command)),
    setSkipped: (command) => run(sql.withTransaction(setSkipped(database, command))),
    list: (query) => (isStorable(query.supplier) ? list(database, query) : Stream.empty)
  })
})

export const layer: Layer.Layer<ImportProcesses, never, Database> = Layer.effect(
  ImportProcesses,
  make
)
