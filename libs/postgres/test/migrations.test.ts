/** The migrations of a database, and the rows that the migrated database refuses. */
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { arrange } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { migrate, MigrationsBlocked } from "../src/schema/migrate.ts"
import { MigrationDiffers, migrations } from "../src/schema/MigrationFiles.ts"
import { createDatabase, databaseUrl, dropDatabase } from "../testing/databases.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const emptyDatabase = Effect.gen(function* () {
  const server = Redacted.make(inject("databaseUrl"))
  const name = `empty_${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(createDatabase(server, name), () =>
    Effect.orDie(dropDatabase(server, name))
  )
  return databaseUrl(server, name)
})

const all = migrations.map(({ name }) => name)

const clientAt = (url: Redacted.Redacted) => PgClient.make({ url, maxConnections: 1 })

/** Every table with its columns, and every constraint with its definition. */
const shapeOf = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const columns = yield* sql`
      select table_name, column_name, data_type, is_nullable from information_schema.columns
      where table_schema = 'public' order by 1, 2`
    const constraints = yield* sql`
      select conname, pg_get_constraintdef(oid) as definition from pg_constraint
      where connamespace = 'public'::regnamespace order by 1, 2`
    return { columns, constraints }
  }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))

const patience = Duration.minutes(5)

/** The migrations, with a later one. */
const withLater = (text: string) => [...migrations, { number: 9_999, name: "later", text }]

describe("the migrations", () => {
  it.live("create everything in an empty database, and change nothing on the second run", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      expect(yield* migrate(url)).toStrictEqual(all)
      const shape = yield* shapeOf(url)
      expect(shape.columns.length).toBeGreaterThan(100)
      expect(yield* migrate(url)).toStrictEqual([])
      expect(yield* shapeOf(url)).toStrictEqual(shape)
    }).pipe(Effect.scoped)
  )

  it.live("are applied once under concurrent starts", () =>
    Effect.gen(function* () {
      const url = yield* emptyDatabase
      const applied = yield* Effect.all(
        Array.from({ length: 4 }, () => migrate(url)),
        { concurrency: "unbounded" }
      )
      expect(applied.toSorted((a, b) => b.length - a.length)).toStrictEqual([all, [], [], []])
    }).pipe(Effect.scoped)
  )

  it.live("are refused once they have changed, but not by a release that lacks the last", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.freshUrl
      const text = "create table later (id integer); comment on table later is ';';"
      expect(yield* migrate(url, patience, withLater(text))).toStrictEqual(["later"])
      expect(yield* migrate(url, patience, withLater(text))).toStrictEqual([])
      expect(yield* migrate(url)).toStrictEqual([])
      const changed = yield* Effect.flip(migrate(url, patience, withLater(`${text}\n`)))
      expect(changed).toBeInstanceOf(MigrationDiffers)
      expect(changed.message).toBe(
        'Migration 9999 of the database, "later", is not the one of this release. ' +
          "Nothing was changed. Use the release that made the database, or an empty database."
      )
      const renamed = migrations.map((each) => ({ ...each, name: `${each.name}_once` }))
      expect(yield* Effect.flip(migrate(url, patience, renamed))).toMatchObject({ number: 1 })
    }).pipe(Effect.scoped)
  )

  it.live("that fail change nothing", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.freshUrl
      const before = yield* shapeOf(url)
      // The last statement counts without its semicolon.
      const broken = withLater("create table later (id integer); select 1 / 0")
      expect(yield* Effect.flip(migrate(url, patience, broken))).toMatchObject({
        message: 'Migration "9999_later" failed'
      })
      expect(yield* shapeOf(url)).toStrictEqual(before)
      expect(yield* migrate(url)).toStrictEqual([])
    }).pipe(Effect.scoped)
  )

  it("say whether they can be undone, and how or why not", () => {
    const silent = migrations.filter(
      ({ text }) => !/^-- Can be undone: (yes|no), \S.*\.$/m.test(text.split("\n\n", 1)[0] ?? "")
    )
    expect(silent).toEqual([])
  })
})

const changingSuppliers = withLater("alter table suppliers add column later text;")

describe("a migration of a database in use", () => {
  it.live("lets other statements run while a long transaction blocks it", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.freshUrl
      const holder = yield* clientAt(url)
      const other = yield* clientAt(url)
      const migrating = yield* holder.withTransaction(
        Effect.gen(function* () {
          yield* holder`select from suppliers`
          const fiber = yield* Effect.forkScoped(migrate(url, patience, changingSuppliers))
          const waiting = other`
            select from pg_locks where not granted and relation = 'suppliers'::regclass`
          yield* Effect.repeat(waiting, { until: ({ length }) => length > 0 })
          yield* other`select from suppliers`
          expect(fiber.pollUnsafe(), "it is not given up").toBeUndefined()
          return fiber
        })
      )
      expect(yield* Fiber.join(migrating)).toStrictEqual(["later"])
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live("reports in one line that another transaction blocked it", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.freshUrl
      const before = yield* shapeOf(url)
      const holder = yield* clientAt(url)
      const blocked = yield* holder.withTransaction(
        Effect.andThen(
          holder`select from suppliers`,
          Effect.flip(migrate(url, Duration.millis(1), changingSuppliers))
        )
      )
      expect(blocked).toBeInstanceOf(MigrationsBlocked)
      expect(blocked.message).toBe(
        'Migration "9999_later" failed because another transaction held a lock for 1ms. ' +
          "Nothing was changed. End that transaction and migrate again."
      )
      expect(yield* shapeOf(url)).toStrictEqual(before)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})

/** An account with everything on it; statements name it as `acc`. */
const importedAccount = Effect.gen(function* () {
  const configuration = yield* Configuration
  const imports = yield* ImportProcesses
  yield* Effect.ignore(configuration.createTeam("Migration Team"))
  const { attempt, caller, key, account } = yield* arrange("in progress")
  const newAccount = { ...account, account: domesticAccount(key) }
  expect(yield* imports.complete({ key, attempt, newAccount, caller })).toStrictEqual({
    _tag: "Completed"
  })
  const { run, sql } = yield* Database
  const [row] = yield* run(sql<{ id: bigint }>`
    select id from accounts where number = ${newAccount.number}`)
  return String(row?.id)
})

const refusals: ReadonlyArray<readonly [constraint: string, statement: string]> = [
  [
    "import_processes_account_number",
    "update import_processes set account_number = 'A-00000001' where account_id = acc"
  ],
  [
    "import_processes_account_whole",
    "update import_processes set account_created_at = null where account_id = acc"
  ],
  [
    "import_processes_one_state",
    "update import_processes set skipped = true where account_id = acc"
  ],
  [
    "import_processes_payload_needed",
    `insert into import_processes (supplier, external_account_number, staged_at)
     select supplier, 'no payload', now() from import_processes where account_id = acc`
  ],
  [
    "import_processes_one_state",
    "update import_processes set lease_attempt = 'a', lease_expires_at = now() where account_id = acc"
  ],
  [
    "import_processes_lease_whole",
    "update import_processes set lease_expires_at = now() where account_id = acc"
  ],
  [
    "import_processes_pair_once",
    `insert into import_processes (supplier, external_account_number, payload, staged_at)
     select supplier, external_account_number, '{}', now()
     from import_processes where account_id = acc`
  ],
  ["accounts_payload_until_erased", "update accounts set payload = null where id = acc"],
  ["exact_money_two_decimals", "update accounts set balance = 0.005 where id = acc"],
  ["exact_money_two_decimals", "update transactions set amount = 1e18 where account_id = acc"],
  [
    "transactions_payment_positive",
    "update transactions set amount = 0 where account_id = acc and type = 'PAYMENT'"
  ],
  [
    "transactions_ledger_of_payload",
    "update transactions set ledger_position = null where account_id = acc"
  ],
  [
    "transactions_ledger_exists",
    "update transactions set ledger_position = 99 where account_id = acc"
  ],
  [
    "transactions_occurrence_once",
    "update transactions set transaction_id = 'same' where account_id = acc"
  ],
  [
    "payment_instructions_one_active",
    `insert into payment_instructions
       (account_id, sequence, vendor, reference, type, details, created_at)
     select acc, n, 'STRIPE', 'pm_' || n, 'CARD', '{}', now() from generate_series(1, 2) n`
  ]
]

const outcomeOf = Effect.fnUntraced(function* (statement: string) {
  const { run, sql } = yield* Database
  return yield* Effect.catchDefect(
    Effect.as(run(sql.unsafe(statement)), "accepted"),
    Effect.succeed
  )
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("the schema", (it) => {
  it.effect.each(refusals)("refuses a row that breaks %s", ([constraint, statement]) =>
    Effect.gen(function* () {
      const account = yield* importedAccount
      const outcome = yield* outcomeOf(statement.replaceAll(/\bacc\b/g, account))
      expect(outcome).toMatchObject({ _tag: "StatementFailed", constraint })
    })
  )

  it.effect.each([
    "update audit_log set outcome = outcome || 'x'",
    "delete from audit_log",
    "truncate audit_log"
  ])("refuses any change of the audit log: %s", (statement) =>
    Effect.gen(function* () {
      yield* importedAccount
      const { run, sql } = yield* Database
      const count = run(sql`select count(*) from audit_log`)
      const before = yield* count
      expect(yield* outcomeOf(statement)).toMatchObject({ sqlState: "23001" })
      expect(yield* count).toStrictEqual(before)
    })
  )
})
