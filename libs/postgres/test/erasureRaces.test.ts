/**
 * A customer is erased during concurrent writes: in any order, each write either took effect before
 * and is erased, or is refused. Afterwards only the import itself has the number.
 */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { CurrentOperator } from "@data-import/domain/access/Operator"
import { type Caller, RequestId } from "@data-import/domain/suppliers/Organisation"
import type { Accounts } from "@data-import/domain/accounts/Accounts"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { decideRevert } from "@data-import/domain/imports/Revert"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { noon, noonPlus } from "@data-import/domain/testing/freshNames"
import {
  adding,
  changeAccount,
  creditOf,
  imported
} from "@data-import/domain/testing/importedAccounts"
import { arrange, claim, stagedHash } from "@data-import/domain/testing/importStates"
import { rows } from "../testing/rows.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { auditFault } from "../testing/auditLog.ts"

const at = noonPlus(300)

const erase = (key: ImportKey) =>
  Effect.flatMap(Erasures, (port) => port.erase({ key, at })).pipe(
    Effect.provideService(CurrentOperator, {
      name: "Ada",
      requestId: RequestId.make(crypto.randomUUID())
    })
  )

/** The tables, except that of the imports, that have the number in a row. */
const placesOf = Effect.fnUntraced(function* (number: string) {
  const tables = yield* rows(
    (sql) => sql<{ name: string }>`
      select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r'`
  )
  const found = yield* Effect.forEach(tables, ({ name }) =>
    rows(
      (sql) => sql<{ name: string }>`
        select ${name}::text as name from ${sql(name)} as held
        where position(${number} in held::text) > 0 limit 1`
    )
  )
  return found.flat().map(({ name }) => name)
})

const refusal = (key: ImportKey, caller: Caller, index: number) =>
  Effect.flatMap(AuditLog, (log) =>
    log.recordRefusal({
      key,
      action: (["stage", "process", "create_notes"] as const)[index % 3] ?? "stage",
      outcome: "account_failed_validation",
      caller,
      at
    })
  )

const read = (key: ImportKey, caller: Caller) =>
  Effect.flatMap(AuditLog, (log) => log.recordRead({ key, action: "read_account", caller, at }))

const revert = ({ caller, key, number }: Effect.Success<ReturnType<typeof imported>>) =>
  Effect.flatMap(Reverts, (port) =>
    port.revert({
      key,
      number,
      reason: `The account ${key.external_account_number} is wrong.`,
      dryRun: false,
      decide: (view) => decideRevert(key, view, { number, withAdditions: true }),
      caller,
      at
    })
  )

/** Runs the writes with the erasure among them. */
const racing = (
  key: ImportKey,
  writes: ReadonlyArray<
    Effect.Effect<unknown, unknown, Accounts | AuditLog | ImportProcesses | Reverts>
  >
) => {
  const middle = Math.floor(writes.length / 2)
  const [early, late] = [writes.slice(0, middle), writes.slice(middle)]
  const atOnce = { concurrency: "unbounded" } as const
  const exits = (effects: typeof writes) =>
    Effect.forEach(effects, (effect) => Effect.exit(effect), atOnce)
  return Effect.all([exits(early), Effect.exit(erase(key)), exits(late)], atOnce)
}

const expectErased = Effect.fnUntraced(function* (key: ImportKey) {
  const found = yield* (yield* ImportProcesses).find(key)
  expect(Option.map(found, ({ erased }) => erased)).toEqual(Option.some(true))
  expect(yield* placesOf(key.external_account_number)).toEqual(["import_processes"])
  expect(yield* auditFault).toBeNull()
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true, timeout: "2 minutes" })(
  "an erasure",
  (it) => {
    it.effect("leaves nothing of concurrent additions, reads and refusals", () =>
      Effect.gen(function* () {
        for (let round = 0; round < 8; round++) {
          const account = yield* imported()
          const { caller, key } = account
          const writes = Array.from({ length: 12 }, (_, index) => [
            changeAccount(
              account,
              adding(creditOf(`T-${index}`, { note: `zq ${key.external_account_number}` }))
            ),
            read(key, caller),
            refusal(key, caller, index)
          ]).flat()
          yield* racing(key, writes)
          yield* erase(key)
          yield* expectErased(key)
          const [sums] = yield* rows(
            (sql) => sql<{ balance: string; added: string; texts: number }>`
            select balance::text, coalesce(sum(effect_on_balance), 0)::text as added,
              count(note)::integer as texts
            from accounts left join transactions on account_id = accounts.id
            where accounts.number = ${account.number} group by accounts.id`
          )
          expect(Number(sums?.balance)).toBe(Number(sums?.added))
          expect(sums?.texts).toBe(0)
        }
      })
    )

    it.effect("leaves nothing of an account that is reverted meanwhile", () =>
      Effect.gen(function* () {
        for (let round = 0; round < 8; round++) {
          const account = yield* imported()
          const { key } = account
          const addition = changeAccount(account, adding(creditOf("T")))
          yield* racing(key, [revert(account), addition, revert(account), addition])
          yield* erase(key)
          yield* expectErased(key)
          const details = yield* (yield* ImportProcesses).details(key, 0)
          const { reverted } = Option.getOrThrow(details)
          expect(reverted.length).toBeLessThanOrEqual(1)
          expect(reverted.every(({ reason }) => reason === null)).toBe(true)
        }
      })
    )

    it.effect("lets an attempt either complete or fail", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        for (let round = 0; round < 8; round++) {
          const { account, attempt, caller, key } = yield* arrange("lease expired")
          const newAccount = account
          yield* racing(key, [
            imports.stage({ key, payload: "{}", hash: stagedHash, caller, at }),
            imports.complete({ key, attempt, newAccount, caller }),
            claim(key, caller, at),
            imports.setSkipped({ key, skipped: true, at }),
            imports.setSkipped({ key, skipped: false, at }),
            refusal(key, caller, 0)
          ])
          // A claim that came first holds the import; its lease ends.
          const later = noonPlus(3_600)
          yield* (yield* Erasures).erase({ key, at: later })
          const found = Option.getOrThrow(yield* imports.find(key))
          expect(found).toMatchObject({ erased: true, lease: null, account: null, skipped: false })
          expect(
            yield* imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
          ).toMatchObject({
            _tag: "Refused"
          })
          const payloads = yield* rows(
            (sql) => sql`
            select payload from accounts
            where number = ${account.number} and payload is not null`
          )
          expect(payloads).toEqual([])
          expect(yield* placesOf(key.external_account_number)).toEqual(["import_processes"])
        }
      })
    )
  }
)
