/**
 * The cost of the summary of a supplier: `npm run bench:summary` stages on one connection, with and
 * without what keeps the counts, and reads the summary of a supplier with many imports. For staging
 * it reports the processor time of PostgreSQL's backend.
 */
import { join } from "node:path"
import { Clock, Console, Context, DateTime, Duration, Effect, Layer, type Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { makeSummaryUpkeep } from "@data-import/domain/import/SummaryUpkeep"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { SupplierSummaries } from "@data-import/domain/ports/SupplierSummaries"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { Database, layerWith } from "@data-import/postgres/connection/Database"
import { migrate } from "@data-import/postgres/setup/migrate"
import { layerPorts } from "@data-import/postgres/Storage"
import { createDatabase, databaseUrl, vacuum } from "@data-import/postgres/testing/databases"
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import { runMain } from "@data-import/testbed/CommandLine"
import * as Flags from "./Flags.ts"
import { cpuSeconds } from "./Usage.ts"

const timeLimit = Duration.minutes(3)

const storageOn = Effect.fnUntraced(function* (server: Redacted.Redacted, name: string) {
  yield* Effect.orDie(createDatabase(server, name))
  const url = databaseUrl(server, name)
  yield* Effect.orDie(migrate(url))
  const database = layerWith({ url, poolSize: 1, statementTimeout: timeLimit })
  return yield* Layer.build(Layer.fresh(Layer.provideMerge(layerPorts, database)))
})
type Storage = Effect.Success<ReturnType<typeof storageOn>>

const query = (storage: Storage, text: string, values: ReadonlyArray<unknown> = []) => {
  const { run, sql } = Context.get(storage, Database)
  return Effect.orDie(run(sql.unsafe(text, values)))
}

/** Disables the triggers that keep the counts, and drops the indexes of the oldest imports. */
const withoutCounts = [
  "alter table import_processes disable trigger import_processes_count_new",
  "alter table import_processes disable trigger import_processes_count_changed",
  "drop index import_processes_oldest, import_processes_oldest_of_cohort"
]

const ownerOn = (storage: Storage) =>
  Effect.provideService(freshSupplier, Configuration, Context.get(storage, Configuration))

const payload = JSON.stringify(domesticPayload())

/** How many imports one statement usually stages under load. */
const batch = 16

/** Stages like the storage, without audit entries and events. */
const staging = `
  insert into import_processes as present
    (supplier, external_account_number, payload, payload_bytes, staged_at)
  select $1, 'n' || n, $2::text::json, octet_length($2::text), now()
  from generate_series($3::integer, $4::integer) n
  on conflict on constraint import_processes_pair_once do update
  set payload = excluded.payload, payload_bytes = excluded.payload_bytes,
    staged_at = excluded.staged_at, stagings = present.stagings + 1,
    lease_attempt = null, lease_expires_at = null, failed_staging = null`

/** Stages new imports on one connection, then the same ones again. */
const subjectOn = Effect.fnUntraced(function* (storage: Storage) {
  const { supplier } = yield* Effect.orDie(ownerOn(storage))
  const [backend] = yield* query(storage, "select pg_backend_pid() as pid")
  const pid = Number((backend as { readonly pid: unknown }).pid)
  yield* query(storage, "set synchronous_commit = off")
  yield* query(storage, "alter table import_processes set (autovacuum_enabled = off)")
  const used = { first: 0, again: 0 }
  const stage = Effect.fnUntraced(function* (from: number, count: number) {
    const before = cpuSeconds(pid)
    for (let start = from; start < from + count; start += batch) {
      yield* query(storage, staging, [supplier.code, payload, start, start + batch - 1])
    }
    return (cpuSeconds(pid) - before) * 1e6
  })
  const round = Effect.fnUntraced(function* (index: number, count: number) {
    const first = yield* stage(index * count, count)
    const again = yield* stage(index * count, count)
    if (index === 0) return
    used.first += first
    used.again += again
  })
  return { round, used }
})

/** The first round warms up. The order alternates between rounds. */
const stagingCost = Effect.fnUntraced(function* (
  server: EmbeddedPostgres.EmbeddedPostgres,
  { count, rounds }: { readonly count: number; readonly rounds: number }
) {
  const plainStorage = yield* storageOn(server.url, "plain")
  for (const statement of withoutCounts) yield* query(plainStorage, statement)
  const counted = yield* subjectOn(yield* storageOn(server.url, "counted"))
  const plain = yield* subjectOn(plainStorage)
  for (let index = 0; index <= rounds; index++) {
    const order = index % 2 === 0 ? [plain, counted] : [counted, plain]
    for (const { round } of order) yield* round(index, count)
  }
  for (const which of ["first", "again"] as const) {
    const each = (used: typeof plain.used) => (used[which] / (rounds * count)).toFixed(1)
    yield* Console.log(
      `stage ${which}: ${each(plain.used)} µs without, ${each(counted.used)} µs with`
    )
  }
})

/** Every tenth import has failed, with two codes. */
const fill = Effect.fnUntraced(function* (storage: Storage, size: number) {
  const { supplier } = yield* Effect.orDie(ownerOn(storage))
  yield* query(
    storage,
    `insert into import_processes (supplier, external_account_number, payload, staged_at)
     select $1, 'n' || n, '{}', now() from generate_series(1, $2::integer) n`,
    [supplier.code, size]
  )
  yield* query(
    storage,
    `insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome, errors)
     select id, 'a', false, now(), now(), 'account_failed_validation',
       '[{"code": "required", "attr": "customers"}]'
     from import_processes where supplier = $1 and id % 10 = 0`,
    [supplier.code]
  )
  const began = yield* Clock.currentTimeMillis
  yield* query(
    storage,
    "update import_processes set failed_staging = stagings where supplier = $1 and id % 10 = 0",
    [supplier.code]
  )
  const millis = (yield* Clock.currentTimeMillis) - began
  yield* Console.log(`a change of state: ${((millis * 1e3) / (size / 10)).toFixed(0)} µs`)
  return supplier.code
})

const readTime = Effect.fnUntraced(function* (
  storage: Storage,
  supplier: Effect.Success<ReturnType<typeof fill>>,
  title: string
) {
  const summaries = Context.get(storage, SupplierSummaries)
  const times: Array<number> = []
  for (let index = 0; index < 100; index++) {
    const before = performance.now()
    const at = yield* DateTime.now
    yield* Effect.orDie(summaries.read({ supplier, cohort: null, at }))
    times.push(performance.now() - before)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)]
  yield* Console.log(
    `read, ${title}: median ${median?.toFixed(1)} ms, most ${sorted.at(-1)?.toFixed(1)} ms`
  )
})

const readCost = Effect.fnUntraced(function* (
  server: EmbeddedPostgres.EmbeddedPostgres,
  size: number
) {
  const storage = yield* storageOn(server.url, "many")
  const supplier = yield* fill(storage, size)
  const vacuumAll = Effect.orDie(vacuum(databaseUrl(server.url, "many")))
  yield* vacuumAll
  const [left] = (yield* query(
    storage,
    "select count(*) from import_differences"
  )) as ReadonlyArray<{
    readonly count: unknown
  }>
  yield* readTime(storage, supplier, `${String(left?.count)} differences`)
  const began = yield* Clock.currentTimeMillis
  yield* Effect.orDie(makeSummaryUpkeep(Context.get(storage, SupplierSummaries)).foldAll)
  yield* Console.log(`adding them up: ${(yield* Clock.currentTimeMillis) - began} ms`)
  yield* readTime(storage, supplier, "added up")
  yield* vacuumAll
  yield* readTime(storage, supplier, "added up and vacuumed")
})

const measure = Effect.fnUntraced(function* (options: {
  readonly size: number
  readonly count: number
  readonly rounds: number
}) {
  const dataDir = join(yield* temporaryFolder(), "postgres")
  const server = yield* EmbeddedPostgres.start({ dataDir })
  yield* stagingCost(server, options)
  yield* readCost(server, options.size)
}, Effect.scoped)

const command = Command.make(
  "bench:summary",
  {
    size: Flags.positive("size").pipe(
      Flag.withDescription("How many imports the supplier has"),
      Flag.withDefault(1_000_000)
    ),
    count: Flags.positive("count").pipe(
      Flag.withDescription("How many imports a round stages"),
      Flag.withDefault(3_200)
    ),
    rounds: Flags.positive("rounds").pipe(
      Flag.withDescription("How many rounds are counted"),
      Flag.withDefault(10)
    )
  },
  measure
).pipe(Command.withDescription("Measure what the summary of a supplier costs"))

runMain(command, { messageOf: Flags.messageOf })
