/**
 * The cost of the summary of a supplier: `npm run bench:summary` stages through the storage with
 * and without what keeps the counts, and reads the summary of a supplier with many imports. The
 * processor time is that of PostgreSQL and of the storage's client, without HTTP and validation, so
 * the share of the counts is larger than in a service.
 */
import { join } from "node:path"
import { Clock, Console, Context, DateTime, Duration, Effect, Layer, type Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { PayloadHash } from "@data-import/domain/account/ImportProcess"
import { makeSummaryUpkeep } from "@data-import/domain/import/SummaryUpkeep"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { SupplierSummaries } from "@data-import/domain/ports/SupplierSummaries"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { Database, layerWith } from "@data-import/postgres/connection/Database"
import { migrate } from "@data-import/postgres/setup/migrate"
import { layerPorts } from "@data-import/postgres/Storage"
import { createDatabase, databaseUrl } from "@data-import/postgres/testing/databases"
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import { runMain } from "@data-import/testbed/CommandLine"
import * as Flags from "./Flags.ts"
import { postgresCpuSeconds } from "./Usage.ts"

const timeLimit = Duration.minutes(3)

const storageOn = Effect.fnUntraced(function* (server: Redacted.Redacted, name: string) {
  yield* Effect.orDie(createDatabase(server, name))
  const url = databaseUrl(server, name)
  yield* Effect.orDie(migrate(url))
  const database = layerWith({ url, poolSize: 10, statementTimeout: timeLimit })
  return yield* Layer.build(Layer.fresh(Layer.provideMerge(layerPorts, database)))
})
type Storage = Effect.Success<ReturnType<typeof storageOn>>

const query = (storage: Storage, text: string, values: ReadonlyArray<unknown> = []) => {
  const { run, sql } = Context.get(storage, Database)
  return Effect.orDie(run(sql.unsafe(text, values)))
}

/** Takes away what keeps the counts of stagings. */
const withoutCounts = [
  "alter table import_processes disable trigger import_processes_count_new",
  "alter table import_processes disable trigger import_processes_count_changed",
  "drop index import_processes_oldest, import_processes_oldest_of_cohort"
]

const ownerOn = (storage: Storage) =>
  Effect.provideService(freshSupplier, Configuration, Context.get(storage, Configuration))

const payload = JSON.stringify(domesticPayload())
const hash = PayloadHash.make("ab".repeat(32))

/** Microseconds of processor time for each staging; the first of PostgreSQL alone. */
const staged = Effect.fnUntraced(function* (storage: Storage, postmaster: number, count: number) {
  const imports = Context.get(storage, ImportProcesses)
  const { caller, keyOf } = yield* Effect.orDie(ownerOn(storage))
  const keys = Array.from({ length: count }, (_, index) => keyOf(`n${index}`))
  const round = Effect.gen(function* () {
    const at = yield* DateTime.now
    const before = { own: process.cpuUsage(), server: postgresCpuSeconds(postmaster) }
    yield* Effect.forEach(keys, (key) => imports.stage({ key, payload, hash, caller, at }), {
      concurrency: 32,
      discard: true
    })
    const { system, user } = process.cpuUsage(before.own)
    const server = (postgresCpuSeconds(postmaster) - before.server) * 1e6
    return [server / count, (server + system + user) / count] as const
  })
  return { first: yield* round, again: yield* round }
})

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

const stagingCost = Effect.fnUntraced(function* (
  server: EmbeddedPostgres.EmbeddedPostgres,
  { count, pairs }: { readonly count: number; readonly pairs: number }
) {
  const counted = yield* storageOn(server.url, "counted")
  const plain = yield* storageOn(server.url, "plain")
  for (const statement of withoutCounts) yield* query(plain, statement)
  const round = (storage: Storage) => Effect.orDie(staged(storage, server.pid, count))
  yield* round(counted)
  yield* round(plain)
  const found = yield* Effect.forEach(Array.from({ length: pairs }), (_, index) =>
    index % 2 === 0
      ? Effect.all({ counted: round(counted), plain: round(plain) })
      : Effect.all({ plain: round(plain), counted: round(counted) })
  )
  for (const which of ["first", "again"] as const) {
    for (const [part, index] of [
      ["PostgreSQL", 0],
      ["both", 1]
    ] as const) {
      const of = (storage: "counted" | "plain") => found.map((each) => each[storage][which][index])
      const ratios = found.map(({ counted, plain }) => counted[which][index] / plain[which][index])
      yield* Console.log(
        `stage ${which}, ${part}: ${median(of("plain")).toFixed(1)} µs without, ` +
          `${median(of("counted")).toFixed(1)} with, ratio ${median(ratios).toFixed(3)} ` +
          `(${ratios.map((ratio) => ratio.toFixed(2)).join(" ")})`
      )
    }
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
  yield* query(storage, "vacuum analyze")
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
  yield* Console.log(
    `read, ${title}: median ${median(times).toFixed(1)} ms, most ${sorted.at(-1)?.toFixed(1)} ms`
  )
})

const readCost = Effect.fnUntraced(function* (
  server: EmbeddedPostgres.EmbeddedPostgres,
  size: number
) {
  const storage = yield* storageOn(server.url, "many")
  const supplier = yield* fill(storage, size)
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
  yield* query(storage, "vacuum analyze")
  yield* readTime(storage, supplier, "added up and vacuumed")
})

const measure = Effect.fnUntraced(function* (options: {
  readonly size: number
  readonly count: number
  readonly pairs: number
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
      Flag.withDefault(10_000)
    ),
    pairs: Flags.positive("pairs").pipe(Flag.withDefault(7))
  },
  measure
).pipe(Command.withDescription("Measure what the summary of a supplier costs"))

runMain(command, { messageOf: Flags.messageOf })
