/**
 * Erases customers in PostgreSQL, in one transaction. It waits for no lock that a request or a
 * worker holds: it gives way and is run again, or reports which batch has a line in progress. The
 * lines are found beforehand, without a lock, one chunk after the other.
 */
import { Data, DateTime, Effect, Layer, Option, Schema } from "effect"
import { type ImportKey, stateAt } from "@data-import/domain/imports/ImportProcess"
import { PaymentInstruction } from "@data-import/domain/accounts/PaymentInstruction"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { Erasures, type Erasing } from "@data-import/domain/erasure/Erasures"
import { recordOperator } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { isStorableKey, readImport } from "../tables/ImportRow.ts"
import * as ErasureLock from "../tables/ErasureLock.ts"
import * as Lines from "./Lines.ts"

type Sql = Database["Service"]["sql"]
type Command = Parameters<Erasures["Service"]["erase"]>[0]

const organisationRows = rowsOf(Schema.Struct({ organisation: OrganisationName }))

const organisationOf = (sql: Sql, { import_supplier }: ImportKey) =>
  Effect.map(
    organisationRows(sql`select organisation from suppliers where code = ${import_supplier}`),
    ([row]) => row?.organisation ?? null
  )

const importRows = rowsOf(Schema.Struct({ id: Schema.BigInt }))

/** Until the transaction ends, nothing else changes the import or writes its number to the log. */
const lockImport = (sql: Sql, key: ImportKey) =>
  Effect.map(
    importRows(sql`
      select id from import_processes
      where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number}
      for update nowait`),
    ([row]) => row?.id ?? null
  )

const Outside = Schema.Struct({
  documents: Schema.Array(Schema.String),
  instructions: Schema.Array(PaymentInstruction)
})

const outsideRows = rowsOf(Schema.Struct({ outside: Outside }))

const nothingOutside: typeof Outside.Type = { documents: [], instructions: [] }

/** Erases the import with its account, and stores the event. */
const eraseImport = Effect.fnUntraced(function* (sql: Sql, id: bigint, { at, key }: Command) {
  yield* sql`select erase_audited_number(${key.import_supplier}, ${key.external_account_number})`
  const instant = DateTime.toDateUtc(at)
  const [row] = yield* outsideRows(
    sql`select erase_import(${id}, ${instant}::timestamptz) as outside`
  )
  yield* sql`
    insert into outbox (at, name, import_id)
    values (${instant}, 'data_import.import_process.erased-v1', ${id})`
  return row?.outside ?? nothingOutside
})

/**
 * Has to run in a transaction. The audit entry is written first, with the number. It thus waits for
 * entries about this import that are being written, and its number is erased with theirs.
 */
const erase = Effect.fnUntraced(function* (
  database: Database["Service"],
  command: Command,
  found: Lines.Found
) {
  const { sql } = database
  const { at, key } = command
  yield* ErasureLock.erasing(sql, key.import_supplier)
  const organisation = yield* organisationOf(sql, key)
  // A refusal locks its window before the import, so this does too.
  yield* sql`select erase_refusals(${organisation})`
  const id = yield* lockImport(sql, key)
  const process = yield* readImport(database, key)
  if (id === null || Option.isNone(process))
    return { _tag: "Refused", found: null } satisfies Erasing
  const state = stateAt(process.value, at)
  if (state._tag === "InProgress") return { _tag: "Refused", found: state } satisfies Erasing
  const isRepeated = state._tag === "Erased"
  const outcome = isRepeated ? "unchanged" : "erased"
  yield* recordOperator(sql, { action: "erase_import", outcome, organisation, key })
  const outside = isRepeated ? nothingOutside : yield* eraseImport(sql, id, command)
  yield* sql`select erase_answers(${id})`
  const lines = yield* Lines.erase(sql, key, found)
  if (lines._tag === "InBatch") return lines
  return { _tag: "Erased", isRepeated, ...outside, lines: lines.count } satisfies Erasing
})

/** Fails a transaction to roll it back, with its outcome. */
class RolledBack extends Data.TaggedError("RolledBack")<{ readonly outcome: Erasing }> {}

const make = Effect.map(Database, (database) => {
  const { run, sql } = database
  return Erasures.of({
    erase: Effect.fnUntraced(function* (command) {
      const { key, rehearse = false } = command
      if (!isStorableKey(key)) return { _tag: "Refused", found: null } satisfies Erasing
      const found = yield* Lines.find(database, key)
      const erasing = Effect.gen(function* () {
        const outcome: Erasing = yield* erase(database, command, found)
        const isDone = !rehearse && outcome._tag === "Erased"
        return isDone ? outcome : yield* new RolledBack({ outcome })
      })
      return yield* run(sql.withTransaction(erasing)).pipe(
        Effect.catchTag("RolledBack", ({ outcome }) => Effect.succeed(outcome))
      )
    })
  })
})

export const layer: Layer.Layer<Erasures, never, Database> = Layer.effect(Erasures, make)
