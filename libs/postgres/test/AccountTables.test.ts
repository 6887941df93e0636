/** The limits of what an account may hold, and the rows that a dry run leaves. */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, Effect, Layer, Schema } from "effect"
import type { Account } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { minimalAccount } from "@data-import/domain/testing/freshNames"
import { arrange } from "@data-import/domain/testing/importStates"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { Database, rowsOf } from "../src/connection/Database.ts"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { layer as configuration } from "../src/suppliers/Configuration.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.mergeAll(importProcesses, auditLog, TestDatabase.layerTeam).pipe(
  Layer.provideMerge(configuration),
  Layer.provideMerge(TestDatabase.layer)
)

/** Creates the account that `make` returns for a claimed import, and returns its number and id. */
const created = Effect.fnUntraced(function* (make: (key: ImportKey) => Account) {
  const imports = yield* ImportProcesses
  const { run, sql } = yield* Database
  const { account, attempt, caller, key } = yield* arrange("in progress")
  const newAccount = { ...account, account: make(key) }
  expect((yield* imports.complete({ key, attempt, newAccount, caller }))._tag).toBe("Completed")
  const [row] = yield* run(
    rowsOf(Schema.Struct({ id: Schema.BigInt }))(
      sql`select id from accounts where number = ${account.number}`
    )
  )
  return { id: row?.id ?? 0n, number: account.number }
})

layer(storage, { excludeTestServices: true })("a created account", (it) => {
  it.effect("keeps every digit of decimals", () =>
    Effect.gen(function* () {
      const { id } = yield* created((pair) => ({
        ...minimalAccount(pair),
        transfer_balance: BigDecimal.fromStringUnsafe("-9999999999.99")
      }))
      const { run, sql } = yield* Database
      const exact = yield* run(
        rowsOf(Schema.Struct({ balance: Schema.String, transfer: Schema.String }))(
          sql`select balance, transfer_balance as transfer from accounts where id = ${id}`
        )
      )
      expect(exact).toStrictEqual([{ balance: "-9999999999.99", transfer: "-9999999999.99" }])
    })
  )

  it.effect("has as many transactions as a list may contain", () =>
    Effect.gen(function* () {
      const { id } = yield* created((key) => {
        const account = domesticAccount(key)
        const [ledger] = account.ledgers ?? []
        const [payment] = ledger?.current_statement_transactions ?? []
        if (ledger === undefined || payment === undefined) throw new Error("The sample has none")
        const many = Array.from({ length: 10_000 }, (_, index) => ({
          ...payment,
          transaction_id: `${payment.transaction_id}-${index}` as typeof payment.transaction_id
        }))
        const { ledger_balance: _balance, ...rest } = ledger
        return { ...account, ledgers: [{ ...rest, current_statement_transactions: many }] }
      })
      const { run, sql } = yield* Database
      const [sum] = yield* run(
        rowsOf(Schema.Struct({ of_account: Schema.String, of_transactions: Schema.String }))(sql`
          select (select balance from accounts where id = ${id}) as of_account,
            sum(effect_on_balance) as of_transactions from transactions where account_id = ${id}`)
      )
      expect(sum).toStrictEqual({ of_account: "4000025", of_transactions: "4000025.0" })
    })
  )
})

layer(storage, { excludeTestServices: true })("a dry run of an account", (it) => {
  it.effect("leaves no row in any table", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { run, sql } = yield* Database
      const { account, attempt, caller, key } = yield* arrange("in progress")
      const tables = yield* run(
        rowsOf(Schema.Struct({ name: Schema.String }))(
          sql`select tablename as name from pg_tables where schemaname = 'public'`
        )
      )
      const contents = Effect.forEach(tables, ({ name }) =>
        run(sql`select ${name} as name, md5(string_agg(held::text, '' order by held::text)) as rows
          from ${sql(name)} held`)
      )
      const before = yield* contents
      const newAccount = { ...account, account: domesticAccount(key) }
      const dryRun = yield* imports.dryRun({ key, attempt, newAccount, caller })
      expect(dryRun._tag).toBe("Completed")
      expect(yield* contents).toStrictEqual(before)
    })
  )
})
