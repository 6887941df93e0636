/**
 * The disk space of an imported account by table, and how long the scheduled checks take to read
 * it: `npm run bench:space -- --count 20000` on an embedded PostgreSQL.
 */
import { Clock, Console, Context, Duration, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { makeScheduledChecks } from "@data-import/domain/checks/ScheduledChecks"
import { Accounts } from "@data-import/domain/ports/Accounts"
import { Checks } from "@data-import/domain/ports/Checks"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { EventLog } from "@data-import/domain/ports/EventLog"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import { importedFrom } from "@data-import/domain/testing/hashedAccounts"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { Database, layerWith } from "@data-import/postgres/connection/Database"
import { migrate } from "@data-import/postgres/setup/migrate"
import { layerPorts } from "@data-import/postgres/Storage"
import { vacuum } from "@data-import/postgres/testing/databases"
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import * as Hashes from "@data-import/server/Hashing"
import { Hashing } from "@data-import/domain/ports/Hashing"
import { runMain } from "@data-import/testbed/CommandLine"
import * as Flags from "./Flags.ts"
import { table } from "./Table.ts"

const sizes = `
  select relname as name, pg_table_size(oid)::float8 as rows,
    pg_indexes_size(oid)::float8 as indexes
  from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
  order by pg_total_relation_size(oid) desc`

interface Size {
  readonly name: string
  readonly rows: number
  readonly indexes: number
}

const measure = Effect.fnUntraced(function* ({ count }: { readonly count: number }) {
  const { url } = yield* EmbeddedPostgres.temporary
  yield* Effect.orDie(migrate(url))
  const database = layerWith({ url, poolSize: 16, statementTimeout: Duration.minutes(1) })
  const storage = yield* Layer.build(
    Layer.merge(layerPorts, Hashes.layer).pipe(Layer.provideMerge(database))
  )
  yield* Context.get(storage, Configuration).createTeam("Migration Team").pipe(Effect.orDie)
  yield* Effect.gen(function* () {
    const supplier = yield* freshSupplier
    yield* Effect.forEach(
      Array.from({ length: count }),
      () => importedFrom(domesticPayload(), supplier),
      { concurrency: 32, discard: true }
    )
    const log = yield* EventLog
    yield* Effect.repeat(log.assignPositions(5_000), { while: (assigned) => assigned === 5_000 })
    const { run, sql } = yield* Database
    yield* Effect.orDie(vacuum(url))
    const found = yield* run(sql.unsafe<Size>(sizes))
    const each = (bytes: number) => (bytes / count).toFixed(0)
    const grown = found.filter(({ indexes, rows }) => (rows + indexes) / count >= 1)
    const total = grown.reduce((sum, { indexes, rows }) => sum + rows + indexes, 0)
    yield* Console.log(
      table(
        ["table", "bytes an account", "of its rows", "of its indexes"],
        [
          ...grown.map(({ indexes, name, rows }) => [
            name,
            each(rows + indexes),
            each(rows),
            each(indexes)
          ]),
          ["all", each(total), "", ""]
        ]
      )
    )
    const ports = { accounts: yield* Accounts, checks: yield* Checks, hashing: yield* Hashing }
    const began = yield* Clock.currentTimeMillis
    const { checked, differences } = yield* makeScheduledChecks(ports).checkAll
    const seconds = ((yield* Clock.currentTimeMillis) - began) / 1000
    yield* Console.log(
      `Checked ${checked.accounts} accounts and ${checked.audit_chains} audit entries in ` +
        `${seconds.toFixed(1)} s: ${differences.length} differences.`
    )
  }).pipe(Effect.provideContext(storage), Effect.orDie)
}, Effect.scoped)

const command = Command.make(
  "bench:space",
  {
    count: Flags.positive("count").pipe(
      Flag.withDescription("How many accounts are imported"),
      Flag.withDefault(20_000)
    )
  },
  measure
).pipe(Command.withDescription("Measure what imported accounts take on disk"))

runMain(command, { messageOf: Flags.messageOf })
