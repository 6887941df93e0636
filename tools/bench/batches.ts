/**
 * Batches: `npm run bench:batches` sends books of accounts through the gateway, and measures the
 * upload, the work, and what both leave of the single endpoints. With `--book` it also times a book
 * from the first byte to the last result, and shows its progress by tenths.
 */
import { Clock, Console, Duration, Effect, Fiber, Record } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as BatchClient from "./BatchClient.ts"
import * as Flags from "./Flags.ts"
import { install, startServer } from "./Installation.ts"
import { publish, type Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { short, table } from "./Table.ts"
import { cpuSeconds, postgresCpuSeconds, residentBytes, sessionCpuSeconds } from "./Usage.ts"
import { transactionsPerCall, workloads } from "./Workloads.ts"

interface System {
  readonly subject: Subjects.Subject
  readonly client: BatchClient.BatchClient
}

/** What is used so far, in processor seconds, at a time in seconds. */
const usage = ({ subject: { installation } }: System) =>
  Effect.map(Clock.currentTimeMillis, (at) => {
    const { server, services, workers } = installation
    return {
      seconds: at / 1000,
      services: cpuSeconds(services.batches.pid) + cpuSeconds(services.gateway.pid),
      workers: workers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
      postgres: postgresCpuSeconds(server.pid),
      sessions: sessionCpuSeconds(server.pid)
    }
  })

type Usage = Effect.Success<ReturnType<typeof usage>>

const between = (before: Usage, after: Usage): Usage =>
  Record.map(after, (value, name) => value - before[name])

/** What is used from now on. */
const measuring = (system: System) =>
  Effect.map(usage(system), (before) =>
    Effect.map(usage(system), (after) => between(before, after))
  )

const perThousand = (seconds: number, lines: number): string => short((seconds * 1_000) / lines)

/** What the upload and the work of one batch take. */
const measureBatch = Effect.fnUntraced(function* (
  system: System,
  operation: BatchClient.Operation,
  lines: number,
  lineOf: BatchClient.LineOf
) {
  const { client } = system
  const id = yield* client.create(operation)
  const uploading = yield* measuring(system)
  const bytes = yield* client.upload(id, lines, lineOf)
  const uploaded = yield* uploading
  yield* client.start(id, lines)
  const working = yield* measuring(system)
  yield* client.follow(id)
  return { bytes, uploaded, worked: yield* working }
})

const measureOperation = Effect.fnUntraced(function* (
  system: System,
  operation: BatchClient.Operation,
  lines: number
) {
  // A process is slower before its code is compiled.
  yield* measureBatch(system, operation, Math.ceil(lines / 4), BatchClient.accountLine)
  const { bytes, uploaded, worked } = yield* measureBatch(
    system,
    operation,
    lines,
    BatchClient.accountLine
  )
  const speed = lines / worked.seconds
  yield* Console.error(`${operation}: ${short(speed)} lines/s`)
  return [
    operation,
    short(bytes / uploaded.seconds / 1e6),
    perThousand(uploaded.services, lines),
    perThousand(uploaded.postgres, lines),
    short(speed),
    perThousand(worked.workers, lines),
    perThousand(worked.postgres, lines),
    short((speed * worked.postgres) / lines)
  ]
})

const operations = ["VALIDATE", "STAGE", "IMPORT"] as const

const measureOperations = Effect.fnUntraced(function* (system: System, lines: number) {
  const rows = yield* Effect.forEach(operations, (operation) =>
    measureOperation(system, operation, lines)
  )
  const head = [
    "operation",
    "upload MB/s",
    "CPU s of gateway and service per 1,000",
    "of PostgreSQL",
    "lines/s",
    "CPU s of the workers per 1,000",
    "of PostgreSQL",
    "of one core of PostgreSQL alone"
  ]
  const title = `Batches of ${lines.toLocaleString("en-GB")} lines`
  return { title, text: table(head, rows) } satisfies Section
})

const connections = 32
const secondsOfLoad = 10

/** Transactions a second, by batches and by the single endpoint. */
const measureTransactions = Effect.fnUntraced(function* (system: System, lines: number) {
  const { subject } = system
  yield* Subjects.importAccounts(subject)
  yield* Subjects.warmUp(subject, "transactions", connections)
  const single = yield* Subjects.measure(Subjects.throughGateway(subject), "transactions", {
    connections,
    seconds: secondsOfLoad
  })
  const { supplier } = subject.tenant
  const first = (subject.next.get("transactions") ?? 0) + lines
  const lineOf: BatchClient.LineOf = (_, number) =>
    workloads.transactions.request(supplier, first + number).body ?? ""
  const { worked } = yield* measureBatch(system, "TRANSACTIONS", lines, lineOf)
  const batched = lines / worked.seconds
  const title = `Transactions, ${transactionsPerCall} a line`
  return {
    title,
    text: table(
      ["single endpoint, lines/s", "batch, lines/s", "times"],
      [[short(single.rate), short(batched), short(batched / single.rate)]]
    )
  } satisfies Section
})

/** What a batch leaves of the single endpoint: requests at a rate far below what it can do. */
const measureBeside = Effect.fnUntraced(function* (system: System, lines: number) {
  const { client, subject } = system
  const amount = { connections: 8, rate: 100, seconds: secondsOfLoad }
  const status = Subjects.measure(Subjects.throughGateway(subject), "status", amount)
  yield* Subjects.warmUp(subject, "status", connections)
  const alone = yield* status
  const id = yield* client.create("IMPORT")
  yield* client.upload(id, lines, BatchClient.accountLine)
  yield* client.start(id, lines)
  const beside = yield* status
  yield* client.cancel(id)
  yield* client.follow(id)
  const title = `Status requests, ${amount.rate} a second, beside a batch of IMPORT`
  return {
    title,
    text: table(
      ["", "p50 ms", "p99 ms"],
      [
        ["without", short(alone.p50), short(alone.p99)],
        ["with", short(beside.p50), short(beside.p99)]
      ]
    )
  } satisfies Section
})

const mostMemory = (pids: ReadonlyArray<number>, record: (bytes: number) => void) =>
  Effect.sync(() => pids.forEach((pid) => record(residentBytes(pid)))).pipe(
    Effect.andThen(Effect.sleep(Duration.millis(200))),
    Effect.forever
  )

/** The rate of each tenth of a book, and what it takes of the processors. */
const progressOf = (lines: number, before: Usage, tenths: ReadonlyArray<Usage>): string => {
  const ofTenth = lines / 10
  const used = tenths.map((tenth, index) => between(tenths[index - 1] ?? before, tenth))
  const speeds = used.map(({ seconds }) => ofTenth / Math.max(seconds, 0.1))
  return table(
    [
      "tenth",
      "lines/s",
      "CPU s of the workers per 1,000",
      "of PostgreSQL's sessions",
      "of its other processes",
      ""
    ],
    used.map(({ postgres, sessions, workers }, index) => {
      const speed = speeds[index] ?? 0
      return [
        String(index + 1),
        short(speed),
        ...[workers, sessions, postgres - sessions].map((each) => perThousand(each, ofTenth)),
        "#".repeat(Math.round((40 * speed) / Math.max(...speeds)))
      ]
    })
  )
}

/** One book: from the first byte of its upload to the last result. */
const measureBook = Effect.fnUntraced(function* (system: System, lines: number) {
  const { client, subject } = system
  let most = 0
  const sampling = yield* Effect.forkChild(
    mostMemory(
      subject.installation.workers.map(({ pid }) => pid),
      (bytes) => {
        most = Math.max(most, bytes)
      }
    )
  )
  const began = yield* usage(system)
  const id = yield* client.create("IMPORT")
  yield* client.upload(id, lines, BatchClient.accountLine)
  yield* client.start(id, lines)
  const started = yield* usage(system)
  const tenths = yield* client.tenths(id, usage(system))
  const results = yield* client.results(id)
  const ended = yield* usage(system)
  yield* Fiber.interrupt(sampling)
  const count = results.split("\n").length - 1
  if (count !== lines) throw new Error(`${count} results of ${lines} lines`)
  const worked = tenths.at(-1) ?? started
  const times = [between(began, started), between(started, worked), between(began, ended)]
  return [
    {
      title: `A book of ${lines.toLocaleString("en-GB")} accounts, IMPORT`,
      text: table(
        ["upload s", "work s", "all with the results s", "most RSS of a worker MB"],
        [[...times.map(({ seconds }) => short(seconds)), short(most / 2 ** 20)]]
      )
    },
    {
      title: `Progress of ${lines.toLocaleString("en-GB")} accounts`,
      text: progressOf(lines, started, tenths)
    }
  ] satisfies ReadonlyArray<Section>
})

interface Options {
  readonly lines: number
  readonly books: ReadonlyArray<number>
  readonly workers: number
}

const measure = Effect.fnUntraced(function* ({ books, lines, workers }: Options) {
  const installation = yield* install(yield* startServer, "batches", { workers })
  const subject = yield* Subjects.services(installation)
  const system: System = { subject, client: yield* BatchClient.make(subject) }
  const operations = yield* measureOperations(system, lines)
  const transactions = yield* measureTransactions(system, Math.ceil(lines / 10))
  const beside = yield* measureBeside(system, lines)
  const ofBooks = yield* Effect.forEach(books, (book) => measureBook(system, book))
  return [operations, transactions, beside, ...ofBooks.flat()]
}, Effect.scoped)

const flags = {
  lines: Flags.positive("lines").pipe(
    Flag.withDescription("Lines of each batch"),
    Flag.withDefault(20_000)
  ),
  books: Flags.positive("book").pipe(
    Flag.withDescription("Accounts of a book that is timed as a whole; may be given several times"),
    Flag.atLeast(0)
  ),
  workers: Flags.positive("workers").pipe(
    Flag.withDescription("Worker processes"),
    Flag.withDefault(1)
  ),
  write: Flags.write
}

const batches = Command.make(
  "bench:batches",
  flags,
  Effect.fnUntraced(function* ({ write, ...options }) {
    yield* publish("batches", "bench:batches", "Batches", yield* measure(options), write)
  })
).pipe(Command.withDescription("Measures batches: upload, work and a whole book"))

runMain(batches, { messageOf: Flags.messageOf })
