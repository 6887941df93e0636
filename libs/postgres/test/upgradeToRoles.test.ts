/** A database that was in use before the roles existed, migrated to the present schema. */
import { PgClient } from "@effect/sql-pg"
import { expect, it } from "@effect/vitest"
import { Context, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { Migrator } from "effect/sql"
import { randomBytes } from "node:crypto"
import { inject } from "vitest"
import { EventLog } from "@data-import/domain/ports/EventLog"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { arrange } from "@data-import/domain/testing/importStates"
import { operatorSetup } from "../migrations/0001_operator_setup.ts"
import { imports } from "../migrations/0002_imports.ts"
import { accounts } from "../migrations/0003_accounts.ts"
import { Database, layerWith } from "../src/connection/Database.ts"
import * as ImportsAdapter from "../src/imports/ImportProcesses.ts"
import * as DatabaseUsers from "../src/setup/DatabaseUsers.ts"
import { migrate, migrations } from "../src/setup/migrate.ts"
import * as SetupAdapter from "../src/setup/Configuration.ts"
import { createDatabase, databaseUrl, dropDatabase } from "../testing/databases.ts"
import * as DeployedStorage from "../testing/DeployedStorage.ts"
import { rows, tablesBut } from "../testing/rows.ts"

const database = Effect.gen(function* () {
  const server = Redacted.make(inject("databaseUrl"))
  const name = `upgrade_${randomBytes(6).toString("hex")}`
  yield* Effect.acquireRelease(createDatabase(server, name), () =>
    Effect.orDie(dropDatabase(server, name))
  )
  return databaseUrl(server, name)
})

/** The first release. */
const loader = Migrator.fromRecord({
  "0001_operator_setup": operatorSetup,
  "0002_imports": imports,
  "0003_accounts": accounts
})

/** The setup ports, except that a supplier is written as the first release wrote it. */
const setupOfThen = Layer.effect(
  Configuration,
  Effect.gen(function* () {
    const { run, sql } = yield* Database
    return Configuration.of({
      ...(yield* Configuration),
      createOrganisation: (name, createdAt) =>
        Effect.as(
          run(sql`
            insert into organisations (name, created_at)
            values (${name}, ${DateTime.toDateUtc(createdAt)})`),
          { name, createdAt, testOf: null }
        ),
      createSupplier: ({ code, documentRoot, organisation, status }) =>
        Effect.asVoid(
          run(sql`
            insert into suppliers (code, organisation, status, document_root, document_check,
              customer_emails, concurrency_limit)
            values (${code}, ${organisation}, ${status}, ${documentRoot}, true, false, null)`)
        )
    })
  })
).pipe(Layer.provide(SetupAdapter.layer))

/** Tables that are new since, or have new columns. */
const changed = [
  "accounts",
  "allowances",
  "audit_chains",
  "audit_log",
  "batch_chunks",
  "batch_links",
  "batch_problem_sets",
  "batch_problems",
  "batch_takes",
  "batch_workers",
  "batches",
  "billing_addresses",
  "billing_options",
  "board_links",
  "board_sessions",
  "check_differences",
  "check_walks",
  "customers",
  "earlier_audit_chains",
  "event_heads",
  "forecasts",
  "import_activity",
  "import_history",
  "migration_plans",
  "migration_sign_offs",
  "undivided_suppliers",
  "refused_counts",
  "refused_differences",
  "refused_lines",
  "refused_totals",
  "unrecorded_suppliers",
  "refusal_windows",
  "idempotency_keys",
  "import_differences",
  "import_failures",
  "import_processes",
  "import_totals",
  "ledgers",
  "migrations",
  "notes",
  "organisations",
  "outbox",
  "suppliers",
  "uncounted_suppliers",
  "webhook_retries",
  "webhook_secrets",
  "webhooks"
]

/** The statements that store an import are those of today, which name these columns. */
const columnsOfToday = [
  ["accounts", "erased_at", "timestamptz"],
  ["accounts", "omitted", "text[]"],
  ["accounts", "payload_notes", "integer"],
  ["billing_addresses", "omitted", "text[]"],
  ["billing_options", "omitted", "text[]"],
  ["customers", "omitted", "text[]"],
  ["import_processes", "cohort", "text"],
  ["import_processes", "erased_at", "timestamptz"],
  ["import_processes", "payload_bytes", "integer"],
  ["import_processes", "payload_hash", "bytea"],
  ["import_processes", "failed_staging", "integer"],
  ["ledgers", "omitted", "text[]"],
  ["notes", "document_digest", "bytea"],
  ["notes", "omitted", "text[]"]
] as const

/** A skipped import and an imported one. */
const arranged = Effect.gen(function* () {
  const configuration = yield* Configuration
  const { run, sql } = yield* Database
  yield* configuration.createTeam("Migration Team")
  for (const [table, column, type] of columnsOfToday) {
    yield* run(sql`alter table ${sql(table)} add column ${sql(column)} ${sql.literal(type)}`)
  }
  yield* arrange("skipped")
  const imported = yield* arrange("imported")
  for (const [table, column] of columnsOfToday) {
    yield* run(sql`alter table ${sql(table)} drop column ${sql(column)}`)
  }
  return imported
})

const asOwner = (url: Redacted.Redacted) =>
  Layer.merge(ImportsAdapter.layer, setupOfThen).pipe(
    Layer.provideMerge(layerWith({ url, poolSize: 2, statementTimeout: Duration.seconds(20) })),
    Layer.fresh
  )

/** What is stored, without the columns that later migrations add. */
const held = Effect.all([
  tablesBut(...changed),
  rows(
    (sql) => sql`
      select to_jsonb(held) - '{revision,omitted,payload_notes,erased_at}'::text[] as account
      from accounts held`
  ),
  rows(
    (sql) => sql`
      select to_jsonb(held) - '{document_digest,omitted}'::text[] as note from notes held`
  ),
  rows(
    (sql) => sql`
      select to_jsonb(held)
        - '{batch,event_id,organisation,import_supplier,position,webhook}'::text[]
        as event
      from outbox held order by id`
  ),
  rows(
    (sql) => sql`
      select to_jsonb(held) - 'time_zone' as supplier from suppliers held order by code`
  ),
  rows(
    (sql) => sql`
      select to_jsonb(held)
        - '{payload_bytes,cohort,payload_hash,failed_staging,erased_at}'::text[] as import
      from import_processes held order by id`
  ),
  rows(
    (sql) => sql`
      select to_jsonb(held) - 'test_of' as organisation from organisations held order by name`
  )
])

/** The migrations that follow the one that the database has. */
it.live("the migration to roles keeps the data, and services can log in", () =>
  Effect.gen(function* () {
    const url = yield* database
    yield* Migrator.make({})({ loader, table: "migrations" }).pipe(
      Effect.provide(PgClient.layer({ url, maxConnections: 1 }))
    )
    const owner = yield* Layer.build(asOwner(url))
    const asked = Effect.provideContext(held, owner)
    const { key, account } = yield* Effect.provideContext(arranged, owner)
    const before = yield* asked
    const [others, ofAccounts, , ofEvents, ofSuppliers] = before
    expect([ofAccounts, ofEvents, ofSuppliers].map(({ length }) => length)).toStrictEqual([1, 3, 2])
    expect(others.filter(({ rows }) => rows > 0).length + 4).toBeGreaterThan(5)

    const later = Object.keys(migrations).filter((each) => each >= "0004")
    expect(yield* migrate(url)).toStrictEqual(later.map((each) => each.slice("0004_".length)))
    expect(yield* asked).toStrictEqual(before)

    const storage = yield* DeployedStorage.make(url, yield* DatabaseUsers.temporary(url))
    const found = yield* Context.get(storage, ImportProcesses).find(key)
    expect(found).toMatchObject({ value: { account: { number: account.number } } })
    expect(yield* Context.get(storage, EventLog).assignPositions(10)).toBe(3)
    const listed = yield* Context.get(storage, Configuration).teams
    expect(listed).toStrictEqual(["Migration Team"])
    const suppliers = yield* Context.get(storage, Configuration).suppliers
    expect(suppliers.map(({ timeZone }) => timeZone)).toStrictEqual(["UTC", "UTC"])
  }).pipe(Effect.scoped)
)
