/**
 * Staging: the payload of an import is stored, first or anew, while nothing else is under way.
 * Stagings that come together are stored together, by one statement.
 */
import { DateTime, Effect, Option, Schema } from "effect"
import { isFree, stateAt } from "@data-import/domain/ImportProcess"
import type { ImportProcesses, Staging } from "@data-import/domain/ports/ImportProcesses"
import { type Database, rowsOf } from "./Database.ts"
import { readImport } from "./ImportRow.ts"

type Command = Parameters<ImportProcesses["Service"]["stage"]>[0]

const rows = rowsOf(Schema.Struct({ position: Schema.BigInt, stagings: Schema.Int }))

const sent = ({ sql }: Database["Service"], commands: ReadonlyArray<Command>) => {
  const each = <A>(value: (command: Command) => A) => commands.map(value)
  return sql`
    select * from unnest(
      ${each(({ key }) => key.import_supplier)}::text[],
      ${each(({ key }) => key.external_account_number)}::text[],
      ${each(({ payload }) => payload)}::text[],
      ${each(({ at }) => DateTime.toDateUtc(at))}::timestamptz[],
      ${each(({ caller }) => caller.organisation)}::text[],
      ${each(({ caller }) => caller.apiKey)}::text[],
      ${each(({ caller }) => caller.requestId)}::text[]
    ) with ordinality as command(supplier, external_account_number, payload, at, organisation,
      api_key, request_id, position)`
}

/**
 * The imports and all that goes with them in one statement, which gives no row for a command that
 * the state forbids. In the order of their keys, so that two batches never wait for each other.
 */
const store = (database: Database["Service"], commands: ReadonlyArray<Command>) =>
  rows(database.sql`
    with sent as (${sent(database, commands)}),
    changed as (
      insert into import_processes as present
        (supplier, external_account_number, payload, staged_at)
      select supplier, external_account_number, payload::json, at from sent
      order by supplier, external_account_number
      on conflict on constraint import_processes_pair_once do update
      set payload = excluded.payload, staged_at = excluded.staged_at,
        stagings = present.stagings + 1, lease_attempt = null, lease_expires_at = null
      where present.account_number is null and not present.skipped
        and (present.lease_attempt is null or present.lease_expires_at <= excluded.staged_at)
      returning id, stagings, supplier, external_account_number
    ),
    staged as (
      select sent.*, id, stagings from changed join sent using (supplier, external_account_number)
    ),
    expired as (
      update import_attempts set ended_at = at, outcome = 'lease_expired'
      from staged where import_id = staged.id and ended_at is null
    ),
    event as (
      insert into outbox (at, name, import_id)
      select at, 'data_import.import_process.staged-v1', id from staged order by position
    ),
    audit as (
      insert into audit_log (at, organisation, api_key, request_id, action, outcome,
        import_supplier, external_account_number)
      select at, organisation, api_key, request_id, 'stage',
        case stagings when 1 then 'created' else 'replaced' end,
        supplier, external_account_number
      from staged order by supplier, external_account_number
    )
    select position, stagings from staged`)

/** How often each was staged now, or none where its state forbade it. */
const storeBatch = (database: Database["Service"]) => (commands: ReadonlyArray<Command>) =>
  store(database, commands).pipe(
    Effect.map((stored) => {
      const stagings = new Map(stored.map((row) => [Number(row.position), row.stagings]))
      return commands.map((_, index) => Option.fromNullishOr(stagings.get(index + 1)))
    })
  )

/**
 * Two lanes keep the disk busy; a batch is worth more than a third. Where one is free, two stagings
 * of the same moment are sooner stored side by side than together.
 */
const limits = { lanes: 2, commands: 64, weight: 1024 * 1024 }

/** What was found may have changed before it could be named; then the staging is tried again. */
export const makeStage = Effect.fnUntraced(function* (database: Database["Service"]) {
  const stored = yield* database.batched({
    identity: ({ key }: Command) =>
      JSON.stringify([key.import_supplier, key.external_account_number]),
    weight: ({ payload }) => payload.length,
    run: storeBatch(database),
    isRead: false,
    limits
  })
  return Effect.fnUntraced(function* (command: Command) {
    for (;;) {
      const stagings = yield* stored(command)
      if (Option.isSome(stagings)) {
        return { _tag: stagings.value === 1 ? "Created" : "Replaced" } satisfies Staging
      }
      const process = yield* database.run(readImport(database, command.key))
      const found = stateAt(Option.getOrThrow(process), command.at)
      if (!isFree(found)) return { _tag: "Refused", found } satisfies Staging
    }
  })
})
