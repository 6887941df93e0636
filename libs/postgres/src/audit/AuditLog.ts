/** The audit log in PostgreSQL. Reads attempts, entries and events, and records refusals. */
import { Effect, Layer, Schema } from "effect"
import { EventName } from "@data-import/domain/events/Event"
import { AttemptId, type ImportKey } from "@data-import/domain/imports/ImportProcess"
import { ApiKeyId, OrganisationName, RequestId } from "@data-import/domain/suppliers/Organisation"
import {
  auditActions,
  type AuditedRequest,
  AuditLog,
  readOutcomes
} from "@data-import/domain/audit/AuditLog"
import { entriesFound, sliceOfLog } from "./AuditSearch.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { auditEntry } from "./ChangeEntries.ts"
import { recordRefusal } from "./Refusals.ts"
import { AttemptError } from "../tables/AttemptError.ts"
import { columnsOf } from "../tables/Selection.ts"
import { isStorableKey } from "../tables/ImportRow.ts"

type Sql = Database["Service"]["sql"]

const Instant = Schema.DateTimeUtcFromDate

const AttemptRow = Schema.Struct({
  id: AttemptId,
  dryRun: Schema.Boolean,
  startedAt: Instant,
  endedAt: Schema.NullOr(Instant),
  outcome: Schema.NullOr(Schema.String),
  errors: Schema.Array(AttemptError)
})

const attemptRows = rowsOf(AttemptRow)

const attempts = (sql: Sql, key: ImportKey) =>
  attemptRows(sql`
    select ${sql.literal(columnsOf(AttemptRow.fields, "import_attempts"))}
    from import_attempts join import_processes on import_processes.id = import_id
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    order by sequence`)

const AuditRow = Schema.Struct({
  at: Instant,
  organisation: OrganisationName,
  apiKey: ApiKeyId,
  requestId: RequestId,
  action: Schema.Literals(auditActions),
  outcome: Schema.String
})

const auditRows = rowsOf(AuditRow)

const audit = (sql: Sql, key: ImportKey) =>
  auditRows(sql`
    select ${sql.literal(columnsOf(AuditRow.fields))} from audit_log
    where import_supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    order by id`)

const requestRows = rowsOf(
  Schema.Struct({
    ...AuditRow.fields,
    organisation: Schema.String,
    import_supplier: Schema.NullOr(Schema.String),
    external_account_number: Schema.NullOr(Schema.String)
  })
)

const lastRows = rowsOf(Schema.Struct({ last: Schema.NullOr(Schema.BigInt) }))

/** The entries of the request, slice by slice from the last one back. */
export const entriesOfRequest = Effect.fnUntraced(function* (
  { run, sql }: Database["Service"],
  id: RequestId,
  size: number = sliceOfLog
) {
  const [end] = yield* run(lastRows(sql`select max(id) as last from audit_log`))
  const slices: Array<ReadonlyArray<AuditedRequest>> = []
  for (let last = end?.last ?? 0n; last > 0n; last -= BigInt(size)) {
    const slice = yield* run(
      requestRows(sql`
        select ${sql.literal(columnsOf(AuditRow.fields))}, import_supplier, external_account_number
        from audit_log
        where id > ${last - BigInt(size)} and id <= ${last} and request_id = ${id}
        order by audit_log.id`)
    )
    slices.push(slice)
  }
  return slices.toReversed().flat()
})

const eventRows = rowsOf(
  Schema.Struct({ at: Instant, name: EventName, codes: Schema.Array(Schema.String) })
)

const events = (sql: Sql, key: ImportKey) =>
  eventRows(sql`
    select at, name, codes from outbox join import_processes on import_processes.id = import_id
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    order by outbox.id`)

export const layer: Layer.Layer<AuditLog, never, Database> = Layer.effect(
  AuditLog,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    const reading =
      <A, E>(read: (sql: Sql, key: ImportKey) => Effect.Effect<ReadonlyArray<A>, E>) =>
      (key: ImportKey) =>
        isStorableKey(key) ? run(read(sql, key)) : Effect.succeed([])
    return AuditLog.of({
      recordRefusal: (refusal) => run(Effect.asVoid(recordRefusal(sql, refusal))),
      recordRead: (read) =>
        run(
          Effect.asVoid(
            sql`${auditEntry(sql, { ...read, outcome: readOutcomes[read.action] }, sql``)}`
          )
        ),
      attempts: reading(attempts),
      audit: reading(audit),
      events: reading(events),
      ofRequest: (id) => entriesOfRequest(database, id),
      search: (query) => entriesFound(database, query)
    })
  })
)
