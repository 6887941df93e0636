/**
 * Accounts in PostgreSQL. A change locks the account's row first, so that what it then reads stays
 * as it is until it is stored, and all changes of one account happen one after the other.
 */
import { DateTime, Effect, Layer, Option, Result } from "effect"
import { isEmpty } from "@data-import/domain/AccountChange"
import { Accounts, type ChangeCommand } from "@data-import/domain/ports/Accounts"
import { addToAccount } from "./AccountAddition.ts"
import { readDescription } from "./AccountDescribing.ts"
import { accountId, readView } from "./AccountReading.ts"
import { Database } from "./Database.ts"
import { auditEntry } from "./Entries.ts"
import { isStorableKey } from "./ImportRow.ts"

type Sql = Database["Service"]["sql"]
type EndCommand = Parameters<Accounts["Service"]["endInstruction"]>[0]

/** All statements of `effect` see the database as it was when the first of them began. */
const atOneInstant = <A, E, R>(sql: Sql, effect: Effect.Effect<A, E, R>) =>
  sql.withTransaction(
    Effect.andThen(sql`set transaction isolation level repeatable read, read only`, effect)
  )

/** What the decision answers or fails with; none where there is no account. */
const change = Effect.fnUntraced(function* <A, E>(sql: Sql, command: ChangeCommand<A, E>) {
  const { decide, key, look, ...write } = command
  const id = yield* accountId(sql, key, sql`for update of accounts`)
  if (Option.isNone(id)) return Option.none<Result.Result<A, E>>()
  const decided = decide(yield* readView(sql, id.value, look))
  if (Result.isSuccess(decided)) {
    const { change: wanted } = decided.success
    yield* isEmpty(wanted)
      ? sql`${auditEntry(sql, { ...write, key, outcome: "unchanged" }, sql``)}`
      : addToAccount(sql, id.value, wanted, { ...write, key })
  }
  return Option.some(Result.map(decided, ({ answer }) => answer))
})

/** A statement of its own, since whoever ends an instruction may not change the account itself. */
const endInstruction = (sql: Sql, { at, caller, key }: EndCommand) => sql`
  with changed as (
    update payment_instructions set ended_at = greatest(created_at, ${DateTime.toDateUtc(at)})
    where ended_at is null and account_id = (
      select id from import_processes where supplier = ${key.import_supplier}
        and external_account_number = ${key.external_account_number})
    returning account_id
  ),
  audit as (${auditEntry(sql, {
    at,
    caller,
    key,
    action: "end_payment_instruction",
    outcome: "ended"
  })})
  select account_id from changed`

export const layer: Layer.Layer<Accounts, never, Database> = Layer.effect(
  Accounts,
  Effect.map(Database, ({ run, sql }) =>
    Accounts.of({
      view: (key, look) => {
        if (!isStorableKey(key)) return Effect.succeedNone
        const view = Effect.flatMap(
          accountId(sql, key),
          Option.match({
            onNone: () => Effect.succeedNone,
            onSome: (id) => Effect.asSome(readView(sql, id, look))
          })
        )
        return run(atOneInstant(sql, view))
      },
      describe: (number) => run(atOneInstant(sql, readDescription(sql, number))),
      change: (command) =>
        isStorableKey(command.key)
          ? Effect.flatMap(
              run(sql.withTransaction(change(sql, command))),
              Option.match({
                onNone: () => Effect.succeedNone,
                onSome: (decided) => Effect.asSome(Effect.fromResult(decided))
              })
            )
          : Effect.succeedNone,
      endInstruction: (command) =>
        isStorableKey(command.key)
          ? Effect.map(run(endInstruction(sql, command)), (ended) => ended.length > 0)
          : Effect.succeed(false)
    })
  )
)
