/**
 * Batches: `npm run bench:batches` sends books of accounts through the gateway, and measures the
 * upload and the processing. With `--book` it also times a file of accounts from the first
 * byte to the last result, and shows its progress by tenths.
 */
import { Clock, Console, Duration, Effect, Fiber, Record } from "effect"
import { Command, Flag } from "effect/cli"
import { runMain } from "@data-import/testbed/CommandLine"
import * as BatchClient from "./BatchClient.ts"
import * as Flags from "./Flags.ts"
import { startServer } from "./Installation.ts"
import { publish, type Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { short, table } from "./Table.ts"
import { type Judged, targetTable } from "./Targets.ts"
import { cpuSeconds, postgresCpuSeconds, residentBytes, sessionCpuSeconds } from "./Usage.ts"
import { transactionsPerCall, workloads } from "./Workloads.ts"

interface Outcome {
  readonly sections: ReadonlyArray<Section>
  readonly judged: ReadonlyArray<Judged>
}

/** The processor seconds used so far, and the time in seconds. */
const usage = ({ subject: { installation } }: BatchClient.System) =>
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

/** Returns an effect for the usage since now. */
const measuring = (system: BatchClient.System) =>
  Effect.map(usage(system), (before) =>
    Effect.map(usage(system), (after) => between(before, after))
  )

const perThousand = (seconds: number, lines: number): string => short((seconds * 1_000) / lines)

/** Measures the upload and the processing of one batch. */
const measureBatch = Effect.fnUntraced(function* (
  system: BatchClient.System,
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

const operations = ["VALIDATE", "STAGE", "IMPORT"] as const

/** Lines per second. */
const goals = { VALIDATE: 8_000, STAGE: 3_000, IMPORT: 1_000 }

const measureOperation = Effect.fnUntraced(function* (
  system: BatchClient.System,
  operation: (typeof operations)[number],
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
  const uploadSpeed = bytes / uploaded.seconds / 1e6
  const ofPostgres = (speed * worked.postgres) / lines
  yield* Console.error(`${operation}: ${short(speed)} lines/s`)
  const judged: ReadonlyArray<Judged> = [
    { what: `${operation}: lines/s`, goal: { least: goals[operation] }, value: speed },
    {
      what: `${operation}: of what the SQL alone would do on one core`,
      goal: { least: 0.6 },
      value: ofPostgres
    },
    { what: `${operation}: upload, MB/s`, goal: { least: 50 }, value: uploadSpeed }
  ]
  const row = [
    operation,
    short(uploadSpeed),
    perThousand(uploaded.services, lines),
    perThousand(uploaded.postgres, lines),
    short(speed),
    perThousand(worked.workers, lines),
    perThousand(worked.postgres, lines),
    short(ofPostgres)
  ]
  return { judged, row }
})

const measureOperations = Effect.fnUntraced(function* (system: BatchClient.System, lines: number) {
  const measured = yield* Effect.forEach(operations, (operation) =>
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
  const rows = measured.map(({ row }) => row)
  return {
    sections: [{ title, text: table(head, rows) }],
    judged: measured.flatMap(({ judged }) => judged)
  } satisfies Outcome
})

const connections = 32
const secondsOfLoad = 10

/** Transactions per second, by batches and by the single endpoint. */
const measureTransactions = Effect.fnUntraced(function* (
  system: BatchClient.System,
  lines: number
) {
  const { subject } = system
  yield* Subjects.importAccounts(subject)
  const amount = { connections, seconds: secondsOfLoad }
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
  const times = batched / single.rate
  const text = table(
    ["single endpoint, lines/s", "batch, lines/s", "times"],
    [[short(single.rate), short(batched), short(times)]]
  )
  const what = "TRANSACTIONS: lines/s, of the single endpoint's"
  return {
    sections: [{ title: `Transactions, ${transactionsPerCall} a line`, text }],
    judged: [{ what, goal: { least: 2 }, value: times }]
  } satisfies Outcome
})

const mostMemory = (pids: ReadonlyArray<number>, record: (bytes: number) => void) =>
  Effect.sync(() => pids.forEach((pid) => record(residentBytes(pid)))).pipe(
    Effect.andThen(Effect.sleep(Duration.millis(200))),
    Effect.forever
  )

/** The rate of each tenth of a book. */
const speedsOf = (lines: number, used: ReadonlyArray<Usage>) =>
  used.map(({ seconds }) => lines / 10 / Math.max(seconds, 0.1))

/** The rate of each tenth, and its processor usage. */
const progressOf = (lines: number, used: ReadonlyArray<Usage>): string => {
  const speeds = speedsOf(lines, used)
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
        ...[workers, sessions, postgres - sessions].map((each) => perThousand(each, lines / 10)),
        "#".repeat(Math.round((40 * speed) / Math.max(...speeds)))
      ]
    })
  )
}

/** The books of the targets: one has to end in time, the other has to keep a steady rate. */
const quickBook = 95_000
const steadyBook = 1_000_000

const judgeBook = (
  lines: number,
  measured: {
    readonly seconds: number
    readonly bytes: number
    readonly used: ReadonlyArray<Usage>
  }
): ReadonlyArray<Judged> => {
  const book = `${lines.toLocaleString("en-GB")} accounts`
  const speeds = speedsOf(lines, measured.used)
  const { bytes, seconds } = measured
  return [
    ...(lines === quickBook
      ? [{ what: `${book}: s, first byte to last result`, goal: { most: 180 }, value: seconds }]
      : []),
    ...(lines === steadyBook
      ? [
          {
            what: `${book}: lines/s of the last tenth, of the first`,
            goal: { least: 0.9 },
            value: (speeds.at(-1) ?? 0) / (speeds[0] ?? 1)
          }
        ]
      : []),
    { what: `${book}: RSS of a worker, MB`, goal: { most: 300 }, value: bytes / 2 ** 20 }
  ]
}

/** One book: from the first byte of its upload to the last result. */
const measureBook = Effect.fnUntraced(function* (system: BatchClient.System, lines: number) {
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
  const used = tenths.map((tenth, index) => between(tenths[index - 1] ?? started, tenth))
  const { seconds } = between(began, ended)
  return {
    sections: [
      {
        title: `A book of ${lines.toLocaleString("en-GB")} accounts, IMPORT`,
        text: table(
          ["upload s", "work s", "all with the results s", "most RSS of a worker MB"],
          [[...times.map((time) => short(time.seconds)), short(most / 2 ** 20)]]
        )
      },
      {
        title: `Progress of ${lines.toLocaleString("en-GB")} accounts`,
        text: progressOf(lines, used)
      }
    ],
    judged: judgeBook(lines, { seconds, bytes: most, used })
  } satisfies Outcome
})

interface Options {
  readonly lines: number
  readonly books: ReadonlyArray<number>
  readonly workers: number
}

const measure = Effect.fnUntraced(function* ({ books, lines, workers }: Options) {
  const system = yield* BatchClient.startSystem(yield* startServer, workers)
  const operations = yield* measureOperations(system, lines)
  const transactions = yield* measureTransactions(system, Math.ceil(lines / 10))
  const ofBooks = yield* Effect.forEach(books, (book) => measureBook(system, book))
  const judged = [operations, transactions, ...ofBooks].flatMap((one) => one.judged)
  return [
    { title: "Targets of batches", text: targetTable(judged) },
    ...[operations, transactions].flatMap(({ sections }) => sections),
    ...ofBooks.flatMap(({ sections }) => sections)
  ] satisfies ReadonlyArray<Section>
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
