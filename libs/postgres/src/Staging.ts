/** Staging: the payload of an import is stored, first or anew, while nothing else is under way. */
import { DateTime, Effect, Option, Schema } from "effect"
import { isFree, stateAt } from "@data-import/domain/ImportProcess"
import type { ImportProcesses, Staging } from "@data-import/domain/ports/ImportProcesses"
import { type Database, rowsOf } from "./Database.ts"
import { auditEntry, expiredAttempt, isPending, outboxEvent } from "./Entries.ts"
import { readImport } from "./ImportRow.ts"

type Command = Parameters<ImportProcesses["Service"]["stage"]>[0]

const rows = rowsOf(Schema.Struct({ stagings: Schema.Int }))

const staged = "data_import.import_process.staged-v1"

/**
 * The import and all that goes with it in one statement, which gives no row where the state forbids
 * it.
 */
const attempt = ({ sql }: Database["Service"], { at, caller, key, payload }: Command) => {
  const outcome = sql`case stagings when 1 then 'created' else 'replaced' end`
  return rows(sql`
    with changed as (
      insert into import_processes as present
        (supplier, external_account_number, payload, staged_at)
      values (${key.import_supplier}, ${key.external_account_number}, ${payload}::json,
        ${DateTime.toDateUtc(at)})
      on conflict on constraint import_processes_pair_once do update
      set payload = excluded.payload, staged_at = excluded.staged_at,
        stagings = present.stagings + 1, lease_attempt = null, lease_expires_at = null
      where ${isPending(sql, at)}
      returning id, stagings
    ),
    expired as (${expiredAttempt(sql, at)}),
    event as (${outboxEvent(sql, { at, name: staged, codes: [] })}),
    audit as (${auditEntry(sql, { at, caller, action: "stage", outcome, key })})
    select stagings from changed`)
}

/** What was found may have changed before it could be named; then the staging is tried again. */
export const stage = Effect.fnUntraced(function* (database: Database["Service"], command: Command) {
  for (;;) {
    const [row] = yield* attempt(database, command)
    if (row !== undefined) {
      return { _tag: row.stagings === 1 ? "Created" : "Replaced" } satisfies Staging
    }
    const found = stateAt(Option.getOrThrow(yield* readImport(database, command.key)), command.at)
    if (!isFree(found)) return { _tag: "Refused", found } satisfies Staging
  }
})
