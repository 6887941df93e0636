/**
 * Empties test organisations. The deletion is a function of the database, which refuses any other
 * organisation, so that no service needs the right to delete accounts.
 */
import { DateTime, Effect, Layer, Schema } from "effect"
import { isNothing, Sandbox, type SandboxSlice } from "@data-import/domain/sandbox/Sandbox"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { recordUnchanged } from "../audit/Refusals.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { keepInTransaction } from "../idempotency/StoredAnswers.ts"

type Sql = Database["Service"]["sql"]
type Port = Sandbox["Service"]

/** The counts are null if the status is LIVE or BATCHES, and nothing was deleted. */
const count = Schema.NullOr(Schema.Int)

const sliceRows = rowsOf(
  Schema.Struct({
    status: Schema.Literals(["LIVE", "BATCHES", "LEFT", "EMPTY"]),
    imports: count,
    accounts: count,
    batches: count,
    events: count,
    answers: count,
    chunks: count
  })
)

const deleteSlice = (sql: Sql, { at, caller, limit }: Parameters<Port["deleteSlice"]>[0]) =>
  sliceRows(sql`
    select * from empty_sandbox(${caller.organisation}, ${caller.apiKey}, ${caller.requestId},
      ${DateTime.toDateUtc(at)}, ${limit})`).pipe(
    Effect.map(([row]): SandboxSlice => {
      if (row === undefined || row.status === "LIVE") return { _tag: "Live" }
      if (row.status === "BATCHES") return { _tag: "BatchesUnfinished" }
      const { accounts, answers, batches, chunks, events, imports, status } = row
      const deleted = {
        imports: imports ?? 0,
        accounts: accounts ?? 0,
        batches: batches ?? 0,
        events: events ?? 0
      }
      const others = [answers ?? 0, chunks ?? 0]
      const hasDeleted = [...others, ...Object.values(deleted)].some((each) => each > 0)
      return { _tag: "Deleted", deleted, hasDeleted, isEmpty: status === "EMPTY" && !hasDeleted }
    })
  )

/**
 * Records the entry in the chains of the organisation and of its suppliers, not of single imports.
 */
const recordEmptied = Effect.fnUntraced(function* (
  sql: Sql,
  { at, caller, deleted, recorder }: Parameters<Port["recordEmptied"]>[0]
) {
  const none = { import_supplier: null, external_account_number: null }
  const write = { at, caller, action: "empty_sandbox", key: none } as const
  if (isNothing(deleted)) {
    yield* recordUnchanged(sql, write)
  } else {
    const entry = { ...write, outcome: "emptied" }
    yield* sql`${auditEntry(sql, entry, sql``)}`
    yield* sql`${auditEntry(
      sql,
      { ...entry, key: { ...none, import_supplier: sql`code` } },
      sql`from suppliers where organisation = ${caller.organisation} order by code`
    )}`
  }
  yield* keepInTransaction(sql, recorder, deleted, at)
})

export const layer: Layer.Layer<Sandbox, never, Database> = Layer.effect(
  Sandbox,
  Effect.map(Database, ({ run, sql }) =>
    Sandbox.of({
      deleteSlice: (command) => run(sql.withTransaction(deleteSlice(sql, command))),
      recordEmptied: (command) => run(sql.withTransaction(recordEmptied(sql, command)))
    })
  )
)
