/**
 * Batches: `npm run bench:batches` sends books of accounts through the gateway, and measures the
 * upload and the processing. With `--book` it also times a file of accounts from the first byte to
 * the last result.
 */
import { Clock, Console, Effect, Fiber, Record } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as BatchClient from "./BatchClient.ts"
import { median } from "./Comparison.ts"
import { startServer } from "./Installation.ts"
import { messageOf, positive, publish, short, table } from "./Report.ts"
import * as Subjects from "./Subjects.ts"
import { mostMemory } from "./MostMemory.ts"
import { cpuSeconds, postgresCpuSeconds } from "./Usage.ts"
import { transactionsPerCall, workloads } from "./Workloads.ts"

/** The processor seconds used so far, and the time in seconds. */
const usage = ({ subject: { installation } }: BatchClient.System) =>
  Effect.map(Clock.currentTimeMillis, (at) => {
    const { server, services, workers } = installation
    return {
      seconds: at / 1000,
      services: cpuSeconds(services.batches.pid) + cpuSeconds(services.gateway.pid),
      workers: workers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
      postgres: postgresCpuSeconds(server.pid)
    }
  })

/** What an effect used. */
const measuring = Effect.fnUntraced(function* <A>(
  system: BatchClient.System,
  work: Effect.Effect<A>
) {
  const before = yield* usage(system)
  const result = yield* work
  const after = yield* usage(system)
  return { result, used: Record.map(after, (value, name) => value - before[name]) }
})

/** Measures the upload and the processing of one batch. */
const measureBatch = Effect.fnUntraced(function* (
  system: BatchClient.System,
  operation: BatchClient.Operation,
  lines: number,
  lineOf: BatchClient.LineOf,
  settings: Readonly<Record<string, unknown>> = {}
) {
  const { client } = system
  const id = yield* client.create(operation, settings)
  const uploaded = yield* measuring(system, client.upload(id, lines, lineOf))
  yield* client.start(id, lines)
  const worked = yield* measuring(system, client.follow(id))
  return { id, bytes: uploaded.result, uploaded: uploaded.used, worked: worked.used }
})

const operations = ["VALIDATE", "STAGE", "IMPORT"] as const

const measureOperations = Effect.fnUntraced(function* (system: BatchClient.System, lines: number) {
  const perThousand = (seconds: number): string => short((seconds * 1_000) / lines)
  const rows: Array<ReadonlyArray<string>> = []
  for (const operation of operations) {
    const measured = (count: number) =>
      measureBatch(system, operation, count, BatchClient.accountLine)
    // A process is slower before its code is compiled.
    yield* measured(Math.ceil(lines / 4))
    const { bytes, uploaded, worked } = yield* measured(lines)
    const rate = short(lines / worked.seconds)
    yield* Console.error(`${operation}: ${rate} lines/s`)
    rows.push([
      ...[operation, short(bytes / uploaded.seconds / 1e6), perThousand(uploaded.services)],
      ...[perThousand(uploaded.postgres), rate, perThousand(worked.workers)],
      perThousand(worked.postgres)
    ])
  }
  const head = [
    ...["operation", "upload MB/s", "CPU s of gateway and service per 1,000", "of PostgreSQL"],
    ...["lines/s", "CPU s of the workers per 1,000", "of PostgreSQL"]
  ]
  const title = `Batches of ${lines.toLocaleString("en-GB")} lines`
  return { title, text: table(head, rows) }
})

/** Rehearsals of IMPORT and of PROCESS, beside what each is to keep up with. */
const measureRehearsals = Effect.fnUntraced(function* (system: BatchClient.System, lines: number) {
  const { client } = system
  const accountsOf = (
    operation: BatchClient.Operation,
    settings?: Readonly<Record<string, unknown>>
  ) => measureBatch(system, operation, lines, BatchClient.accountLine, settings)
  const filter = { cohort: "rehearsed" }
  const pending = Effect.fnUntraced(function* (dry_run: boolean) {
    const id = yield* client.create("PROCESS", { source: "PENDING", filter, dry_run })
    return yield* measuring(system, Effect.andThen(client.start(id, 0), client.follow(id)))
  })
  // A process is slower before its code is compiled.
  yield* accountsOf("IMPORT", { dry_run: true })
  const validated = yield* accountsOf("VALIDATE")
  const imported = yield* accountsOf("IMPORT", { dry_run: true })
  yield* accountsOf("STAGE", filter)
  const rehearsed = yield* pending(true)
  const processed = yield* pending(false)
  const rows = (
    [
      ["IMPORT", imported.worked, "VALIDATE", validated.worked],
      ["PROCESS", rehearsed.used, "PROCESS", processed.used]
    ] as const
  ).map(([name, dry, other, real]) => {
    const cpuOf = ({ postgres, workers }: typeof dry) => ((postgres + workers) * 1_000) / lines
    const rates = [lines / dry.seconds, lines / real.seconds, real.seconds / dry.seconds]
    const cpu = [cpuOf(dry), cpuOf(real), cpuOf(real) / cpuOf(dry)]
    return [`${name}, rehearsed`, other, ...[...rates, ...cpu].map(short)]
  })
  const head = [
    ...["operation", "beside", "lines/s", "lines/s of the other", "ratio"],
    ...["CPU s per 1,000", "of the other", "ratio"]
  ]
  return { title: `Rehearsals of ${lines.toLocaleString("en-GB")} lines`, text: table(head, rows) }
})

/** Transactions per second, by batches and by the single endpoint. */
const measureTransactions = Effect.fnUntraced(function* (
  system: BatchClient.System,
  lines: number
) {
  const { subject } = system
  yield* Subjects.importAccounts(subject)
  const amount = { connections: 32, seconds: 10 }
  // Not measured: it warms the service up.
  yield* Subjects.measure(subject, "transactions", amount)
  const gateway = Subjects.throughGateway(subject)
  const single = yield* Subjects.measure(gateway, "transactions", amount)
  const { supplier } = subject.tenant
  const first = (subject.next.get("transactions") ?? 0) + lines
  const lineOf: BatchClient.LineOf = (_, number) =>
    workloads.transactions.request(supplier, first + number).body ?? ""
  const { worked } = yield* measureBatch(system, "TRANSACTIONS", lines, lineOf)
  const batched = lines / worked.seconds
  const text = table(
    ["single endpoint, lines/s", "batch, lines/s", "times"],
    [[single.rate, batched, batched / single.rate].map(short)]
  )
  return { title: `Transactions, ${transactionsPerCall} a line`, text }
})

/** One book: from the first byte of its upload to the last result. */
const measureBook = Effect.fnUntraced(function* (system: BatchClient.System, lines: number) {
  const { client, subject } = system
  let most = 0
  const pids = subject.installation.workers.map(({ pid }) => pid)
  const sampling = yield* Effect.forkChild(
    mostMemory(pids, (bytes) => {
      most = Math.max(most, bytes)
    })
  )
  const { result, used } = yield* measuring(
    system,
    Effect.gen(function* () {
      const batch = yield* measureBatch(system, "IMPORT", lines, BatchClient.accountLine)
      return { ...batch, results: yield* client.results(batch.id) }
    })
  )
  yield* Fiber.interrupt(sampling)
  const count = result.results.split("\n").length - 1
  if (count !== lines) throw new Error(`${count} results of ${lines} lines`)
  const seconds = [result.uploaded, result.worked, used].map((each) => short(each.seconds))
  return {
    title: `A book of ${lines.toLocaleString("en-GB")} accounts, IMPORT`,
    text: table(
      ["upload s", "work s", "all with the results s", "most RSS of a worker MB"],
      [[...seconds, short(most / 2 ** 20)]]
    )
  }
})

/** Runs of stages, one after the other until the scope ends. */
const stagesBeside = Effect.fnUntraced(function* ({ subject }: BatchClient.System) {
  const runs: Array<Effect.Success<ReturnType<typeof Subjects.measure>>> = []
  const gateway = Subjects.throughGateway(subject)
  const run = Subjects.measure(gateway, "stage", { connections: 4, seconds: 2 })
  yield* Effect.forkScoped(Effect.forever(Effect.map(run, (each) => runs.push(each))))
  return runs
})

/** A wave that is imported, taken back and processed again, beside single stages. */
const measureWave = Effect.fnUntraced(function* (system: BatchClient.System, lines: number) {
  const { client } = system
  const filter = { cohort: "wave" }
  const imported = yield* client.create("IMPORT", filter)
  yield* client.upload(imported, lines, BatchClient.accountLine)
  yield* client.start(imported, lines)
  yield* client.follow(imported)
  const runs = yield* stagesBeside(system)
  const filled = Effect.fnUntraced(function* (...settings: Parameters<typeof client.create>) {
    const batch = yield* client.create(...settings)
    const before = runs.length
    const { used } = yield* measuring(
      system,
      Effect.andThen(client.start(batch, 0), client.follow(batch))
    )
    const beside = runs.slice(before)
    const rates = beside.map(({ rate }) => rate)
    const slowest = beside.map(({ p99 }) => p99)
    return [used.seconds, used.workers, used.postgres, median(rates), median(slowest)].map(short)
  })
  const reason = "Wrong sign"
  const rows = [
    ["REVERT", ...(yield* filled("REVERT", { source: "IMPORTED", filter, reason }))],
    ["PROCESS", ...(yield* filled("PROCESS", { source: "PENDING", filter }))]
  ]
  const head = [
    ...["operation", "s", "CPU s of the workers", "of PostgreSQL"],
    ...["stages/s beside it", "their p99 ms"]
  ]
  const title = `A wave of ${lines.toLocaleString("en-GB")} accounts, beside stages on 4 connections`
  return { title, text: table(head, rows) }
}, Effect.scoped)

const batches = Command.make(
  "bench:batches",
  {
    lines: positive("lines").pipe(
      Flag.withDescription("Lines of each batch"),
      Flag.withDefault(20_000)
    ),
    books: positive("book").pipe(
      Flag.withDescription("Accounts of a book that is timed as a whole; may be repeated"),
      Flag.atLeast(0)
    ),
    wave: positive("wave").pipe(
      Flag.withDescription("Accounts of a wave that is taken back, beside live traffic"),
      Flag.withDefault(10_000)
    ),
    rehearsed: positive("rehearsed").pipe(
      Flag.withDescription("Accounts that are rehearsed"),
      Flag.withDefault(20_000)
    ),
    workers: positive("workers").pipe(Flag.withDescription("Worker processes"), Flag.withDefault(1))
  },
  Effect.fnUntraced(function* ({ books, lines, rehearsed, wave, workers }) {
    const system = yield* BatchClient.startSystem(yield* startServer, workers)
    const operations = yield* measureOperations(system, lines)
    const transactions = yield* measureTransactions(system, Math.ceil(lines / 10))
    const rehearsals = yield* measureRehearsals(system, rehearsed)
    const takenBack = yield* measureWave(system, wave)
    const timed = yield* Effect.forEach(books, (book) => measureBook(system, book))
    yield* publish("bench:batches", [operations, transactions, rehearsals, takenBack, ...timed])
  }, Effect.scoped)
).pipe(Command.withDescription("Measures batches: upload, work and a whole book"))

runMain(batches, { messageOf })
