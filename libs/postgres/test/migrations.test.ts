/** The migrations of an empty database, and the rows that the migrated database refuses. */
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it, layer } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer, Record, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { Migrator, SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { arrange } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { layer as auditLog } from "../src/audit/AuditLog.ts"
import { layer as importProcesses } from "../src/imports/ImportProcesses.ts"
import { migrate, migrations, MigrationsBlocked } from "../src/setup/migrate.ts"
import { layer as configuration } from "../src/setup/Configuration.ts"
import { createDatabase, databaseUrl, dropDatabase } from "../testing/databases.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { workOnLargeTables } from "./tableStatistics.ts"

const emptyDatabase = Effect.gen(function* () {
  const server = Redacted.make(inject("databaseUrl"))
  const name = `empty_${randomBytes(8).toString("hex")}`
  yield* Effect.acquireRelease(createDatabase(server, name), () =>
    Effect.orDie(dropDatabase(server, name))
  )
  return databaseUrl(server, name)
})

const all = Object.keys(migrations).map((name) => name.replace(/^\d+_/, ""))

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

  it.live("name every constraint after its table", () =>
    Effect.gen(function* () {
      const url = yield* TestDatabase.freshUrl
      const unnamed = yield* Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        return yield* sql`
          select conname, conrelid::regclass::text as owner from pg_constraint
          where connamespace = 'public'::regnamespace and conrelid <> 0
            and conrelid::regclass::text <> 'migrations'
            and conname ~ '(_check|_fkey|_key|_excl)[0-9]*$'`
      }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))
      expect(unnamed).toStrictEqual([])
    }).pipe(Effect.scoped)
  )
})

/** The number of migrations before the rule, which deployed databases already have. */
const released = 9

const isReleased = (name: string) => Number.parseInt(name, 10) <= released

/** A database as of these migrations. */
const databaseAsOf = (wanted: (name: string) => boolean) =>
  Effect.gen(function* () {
    const url = yield* emptyDatabase
    const loader = Migrator.fromRecord(Record.filter(migrations, (_, name) => wanted(name)))
    yield* Migrator.make({})({ loader, table: "migrations" }).pipe(
      Effect.provide(PgClient.layer({ url, maxConnections: 1 }))
    )
    return url
  })

const statements = (text: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(text.split(";"), (statement) => sql.unsafe(statement))
  )

const breaking: ReadonlyArray<readonly [found: string, migration: string]> = [
  ["accounts is rewritten", "alter table accounts add column drawn float8 default random()"],
  ["transactions is rewritten", "alter table transactions alter column note type varchar(9999)"],
  ["notes is rewritten", "truncate notes cascade"],
  ["notes is read whole", "alter table notes alter column body set not null"],
  ["statements is read whole", "create index on statements (number)"],
  ["accounts is read whole", "update accounts set balance = balance"],
  ["ledgers is read whole", "alter table ledgers add constraint c check (ledger_code <> '')"],
  [
    "outbox is read whole",
    `alter table outbox add column team text;
     alter table outbox add constraint c foreign key (team) references operations_teams`
  ]
]

const keeping = [
  "alter table accounts add column remark text",
  "alter table accounts add column copies integer not null default 1",
  "alter table accounts add column seen timestamptz not null default now()",
  "alter table ledgers add constraint c check (ledger_code <> '') not valid",
  "alter table suppliers add column drawn float8 default random()",
  `create table visits (account_id bigint not null references accounts, at timestamptz);
   create index on visits (at)`
]

describe("a migration of a database in use", () => {
  layer(
    Layer.unwrap(
      Effect.map(databaseAsOf(isReleased), (url) => PgClient.layer({ url, maxConnections: 1 }))
    ),
    { excludeTestServices: true }
  )((it) => {
    const undone = (migration: string) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const work = Effect.flatMap(workOnLargeTables(statements(migration)), Effect.fail)
        return yield* Effect.flip(sql.withTransaction(work))
      })

    it.effect.each(breaking)("is detected when %s: %s", ([found, migration]) =>
      Effect.gen(function* () {
        expect(yield* undone(migration)).toContain(found)
      })
    )

    it.effect.each(keeping)("is accepted: %s", (migration) =>
      Effect.gen(function* () {
        expect(yield* undone(migration)).toEqual([])
      })
    )

    it.effect("neither rewrites nor scans a large table", () =>
      Effect.gen(function* () {
        for (const [name, migration] of Object.entries(migrations)) {
          if (!isReleased(name)) expect(yield* workOnLargeTables(migration), name).toEqual([])
        }
      })
    )
  })

  it.live("lets other statements run while a long transaction blocks it", () =>
    Effect.gen(function* () {
      const url = yield* databaseAsOf((name) => name < "0008")
      const holder = yield* clientAt(url)
      const other = yield* clientAt(url)
      const migrating = yield* holder.withTransaction(
        Effect.gen(function* () {
          yield* holder`select from suppliers`
          const fiber = yield* Effect.forkScoped(migrate(url))
          const waiting = other`
            select from pg_locks where not granted and relation = 'suppliers'::regclass`
          yield* Effect.repeat(waiting, { until: ({ length }) => length > 0 })
          yield* other`select from suppliers`
          expect(fiber.pollUnsafe(), "it is not given up").toBeUndefined()
          return fiber
        })
      )
      expect(yield* Fiber.join(migrating)).toContain("supplier_settings")
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )

  it.live("reports in one line that another transaction blocked it", () =>
    Effect.gen(function* () {
      const url = yield* databaseAsOf((name) => name < "0008")
      const before = yield* shapeOf(url)
      const holder = yield* clientAt(url)
      const blocked = yield* holder.withTransaction(
        Effect.andThen(holder`select from suppliers`, Effect.flip(migrate(url, Duration.millis(1))))
      )
      expect(blocked).toBeInstanceOf(MigrationsBlocked)
      expect(blocked.message).toBe(
        'Migration "8_supplier_settings" failed because another transaction held a lock for 1ms. ' +
          "Nothing was changed. End that transaction and migrate again."
      )
      expect(yield* shapeOf(url)).toStrictEqual(before)
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})

const storage = Layer.mergeAll(importProcesses, auditLog).pipe(
  Layer.provideMerge(configuration),
  Layer.provideMerge(TestDatabase.layer)
)

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
    "accounts_pkey",
    `insert into accounts select id, 'A-00000000', created_at, operations_team, balance,
       unknown_occupier, account_type, null, null, null, null, null, sales_channel, null,
       communication_preference, null, null, null from accounts where id = acc`
  ],
  ["accounts_number_form", "update accounts set number = 'A-0000000g' where id = acc"],
  [
    "accounts_import_exists",
    `insert into accounts select -1, 'A-00000002', created_at, operations_team, balance,
       unknown_occupier, account_type, null, null, null, null, null, sales_channel, null,
       communication_preference, null, null, null from accounts where id = acc`
  ],
  [
    "import_processes_account_exists",
    "update import_processes set account_number = 'A-00000001' where id = acc"
  ],
  [
    "import_processes_account_whole",
    "update import_processes set account_created_at = null where id = acc"
  ],
  ["import_processes_one_state", "update import_processes set skipped = true where id = acc"],
  [
    "import_processes_payload_needed",
    `insert into import_processes (supplier, external_account_number, staged_at)
     select supplier, 'no payload', now() from import_processes where id = acc`
  ],
  [
    "import_processes_one_state",
    "update import_processes set lease_attempt = 'a', lease_expires_at = now() where id = acc"
  ],
  [
    "import_processes_lease_whole",
    "update import_processes set lease_expires_at = now() where id = acc"
  ],
  [
    "import_processes_pair_once",
    `insert into import_processes (supplier, external_account_number, payload, staged_at)
     select supplier, external_account_number, '{}', now() from import_processes where id = acc`
  ],
  ["accounts_account_type_known", "update accounts set account_type = 'HOUSE' where id = acc"],
  [
    "accounts_communication_preference_known",
    "update accounts set communication_preference = 'FAX' where id = acc"
  ],
  ["exact_money_two_decimals", "update accounts set balance = 0.005 where id = acc"],
  ["exact_money_two_decimals", "update transactions set amount = 1e18 where account_id = acc"],
  [
    "accounts_operations_team_exists",
    "update accounts set operations_team = 'nobody' where id = acc"
  ],
  [
    "account_metadata_value_object",
    "update account_metadata set value = '[]' where account_id = acc"
  ],
  [
    "account_metadata_key_once",
    `insert into account_metadata
      select account_id, 99, key, value from account_metadata where account_id = acc`
  ],
  [
    "billing_addresses_country_form",
    "update billing_addresses set country = 'DNK' where account_id = acc"
  ],
  [
    "billing_options_one_calendar",
    "update billing_options set use_industry_billing = true where account_id = acc"
  ],
  [
    "billing_options_quarter_month",
    `update billing_options set period_length = 'QUARTERLY', period_start_month = null
      where account_id = acc`
  ],
  [
    "billing_options_period_start_day_in_month",
    "update billing_options set period_start_day = 29 where account_id = acc"
  ],
  [
    "supply_addresses_once",
    `insert into supply_addresses select account_id, 99, supply_address1, supply_postcode,
       customer_at_supply_address_from_date from supply_addresses where account_id = acc`
  ],
  [
    "ledgers_code_once",
    "insert into ledgers select account_id, 99, ledger_code from ledgers where account_id = acc"
  ],
  ["transactions_type_known", "update transactions set type = 'GIFT' where account_id = acc"],
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
    "transaction_line_items_period",
    "update transaction_line_items set end_date = '1999-01-01' where account_id = acc"
  ],
  [
    "transaction_tax_items_unit_type_known",
    "update transaction_tax_items set unit_type = 'X' where account_id = acc"
  ],
  ["statements_by_id", "update statements set statement_id = 'same' where account_id = acc"],
  [
    "statements_period",
    "update statements set bill_period_to_date = '1999-01-01' where account_id = acc"
  ],
  [
    "payment_instructions_one_active",
    `insert into payment_instructions
       (account_id, sequence, vendor, reference, type, details, created_at)
     select acc, n, 'STRIPE', 'pm_' || n, 'CARD', '{}', now() from generate_series(1, 2) n`
  ],
  ["suppliers_status_known", "update suppliers set status = 'Open'"],
  ["suppliers_organisation_exists", "update suppliers set organisation = 'nobody'"],
  [
    "audit_log_action_known",
    `insert into audit_log (at, organisation, api_key, request_id, action, outcome)
      values (now(), 'o', 'k', 'r', 'delete', 'created')`
  ]
]

const outcomeOf = Effect.fnUntraced(function* (statement: string) {
  const { run, sql } = yield* Database
  return yield* Effect.catchDefect(
    Effect.as(run(sql.unsafe(statement)), "accepted"),
    Effect.succeed
  )
})

layer(storage, { excludeTestServices: true })("the schema", (it) => {
  it.effect.each(refusals)("refuses a row that breaks %s", ([constraint, statement]) =>
    Effect.gen(function* () {
      const account = yield* importedAccount
      const outcome = yield* outcomeOf(statement.replaceAll(/\bacc\b/g, account))
      expect(outcome).toMatchObject({ _tag: "StatementFailed", constraint })
    })
  )

  it.effect.each([
    "update audit_log set outcome = 'created'",
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
