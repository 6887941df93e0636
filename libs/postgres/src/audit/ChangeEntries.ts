/**
 * The audit entry, the outbox event and the end of an expired attempt, as parts of the statement
 * that changes an import. The change is a common table expression `changed` with the import's `id`.
 * The parts are written for each of its rows, and so not at all if the change was refused.
 */
import { DateTime, Effect } from "effect"
import type { Statement } from "effect/sql"
import type { EventName } from "@data-import/domain/events/Event"
import { callerOf, CurrentOperator } from "@data-import/domain/access/Operator"
import type { Caller, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { AuditAction, BoardAction, OperatorAction } from "@data-import/domain/audit/AuditLog"
import type { Database } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

export interface AuditedWrite {
  readonly at: DateTime.Utc
  readonly caller: Caller
  readonly action: AuditAction
  readonly outcome: string | Statement.Fragment
  readonly key: {
    readonly import_supplier: string | Statement.Fragment | null
    readonly external_account_number: string | Statement.Fragment | null
  }
}

const numberOf = (sql: Sql, key: AuditedWrite["key"]) =>
  key.external_account_number === null
    ? null
    : sql`number_to_record(${key.import_supplier}, ${key.external_account_number})`

/**
 * One audit entry for each row of `source`; exactly one if `source` is empty. It has no number if
 * the import was erased.
 */
export const auditEntry = (
  sql: Sql,
  { action, at, caller, key, outcome }: AuditedWrite,
  source: Statement.Fragment = sql`from changed`
): Statement.Fragment => sql`
  insert into audit_log (at, organisation, api_key, request_id, action, outcome,
    import_supplier, external_account_number)
  select ${DateTime.toDateUtc(at)}, ${caller.organisation}, ${caller.apiKey}, ${caller.requestId},
    ${action}, ${outcome}, ${key.import_supplier}, ${numberOf(sql, key)} ${source}`

interface OperatorWrite {
  readonly action: OperatorAction | BoardAction
  readonly outcome: string
  /** Null for the whole deployment. */
  readonly organisation: OrganisationName | null
  readonly key?: AuditedWrite["key"]
}

const noKey = { import_supplier: null, external_account_number: null }

/**
 * Records what the operator or a user of the board does; for nobody it records nothing. It has to
 * run in the transaction of the write.
 */
export const recordOperator = Effect.fnUntraced(function* (
  sql: Sql,
  { action, key = noKey, organisation, outcome }: OperatorWrite
) {
  const operator = yield* CurrentOperator
  if (operator === null) return
  const caller = callerOf(operator, organisation)
  const at = yield* DateTime.now
  yield* sql`${auditEntry(sql, { at, caller, action, outcome, key }, sql``)}`
})

export const outboxEvent = (
  sql: Sql,
  {
    at,
    codes,
    name
  }: {
    readonly at: DateTime.Utc
    readonly name: EventName
    readonly codes: ReadonlyArray<string>
  }
): Statement.Fragment => sql`
  insert into outbox (at, name, import_id, codes)
  select ${DateTime.toDateUtc(at)}, ${name}, id, ${codes}::text[] from changed`

/**
 * Ends the attempt whose lease has expired. No other attempt can be open when an import changes.
 */
export const expiredAttempt = (sql: Sql, at: DateTime.Utc): Statement.Fragment => sql`
  update import_attempts set ended_at = ${DateTime.toDateUtc(at)}, outcome = 'lease_expired'
  from changed where import_id = changed.id and ended_at is null`

/** The import is pending at `at`: not imported, not skipped, and without a live lease. */
export const isPending = (sql: Sql, at: DateTime.Utc): Statement.Fragment => sql`
  present.account_number is null and not present.skipped
  and (present.lease_attempt is null or present.lease_expires_at <= ${DateTime.toDateUtc(at)})`
