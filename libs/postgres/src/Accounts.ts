/**
 * Accounts in PostgreSQL. A change is stored only where the account is still at the revision that
 * it was decided on, so that all changes of one account happen one after the other.
 */
import { Data, DateTime, Effect, Layer, Option, Result } from "effect"
import { isEmpty } from "@data-import/domain/AccountChange"
import { Accounts, type ChangeCommand } from "@data-import/domain/ports/Accounts"
import { addToAccount } from "./AccountAddition.ts"
import { readDescription } from "./AccountDescribing.ts"
import { lockAccount, readAccount } from "./AccountReading.ts"
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

/** Another change of the account came between what was read of it and what was to be stored. */
class Overtaken extends Data.TaggedError("Overtaken") {}

/** What the decision answers or fails with; none where there is no account. */
const changeOnce = Effect.fnUntraced(function* <A, E>(sql: Sql, command: ChangeCommand<A, E>) {
  const { decide, key, look, ...write } = command
  const seen = yield* readAccount(sql, key, look)
  if (Option.isNone(seen)) return Option.none<Result.Result<A, E>>()
  const decided = decide(seen.value.view)
  if (Result.isSuccess(decided)) {
    const { change: wanted } = decided.success
    if (isEmpty(wanted)) {
      yield* sql`${auditEntry(sql, { ...write, key, outcome: "unchanged" }, sql``)}`
    } else {
      const stored = yield* addToAccount(sql, seen.value, wanted, { ...write, key })
      if (stored.length === 0) return yield* new Overtaken()
    }
  }
  return Option.some(Result.map(decided, ({ answer }) => answer))
})

/** Without a lock first, since hardly ever do two come for one account; then with it. */
const change = <A, E>(sql: Sql, command: ChangeCommand<A, E>) =>
  Effect.catchTag(changeOnce(sql, command), "Overtaken", () =>
    sql.withTransaction(
      Effect.andThen(
        lockAccount(sql, command.key),
        Effect.catchTag(changeOnce(sql, command), "Overtaken", Effect.die)
      )
    )
  )

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
        const seen = readAccount(sql, key, look)
        const viewed = Effect.map(seen, (account) => Option.map(account, ({ view }) => view))
        return run(atOneInstant(sql, viewed))
      },
      describe: (number) => run(atOneInstant(sql, readDescription(sql, number))),
      change: (command) =>
        isStorableKey(command.key)
          ? Effect.flatMap(
              run(change(sql, command)),
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
