/**
 * Batches: `npm run bench:batches` sends books of accounts through the gateway, and measures the
 * upload and the work of one worker. With `--book` it also times one book from the first byte to
 * the last result, and shows its progress by tenths.
 */
import { Clock, Console, Duration, Effect, Fiber } from "effect"
import { Command } from "effect/cli"
import { Flag } from "effect/cli"
import { exampleAccount } from "@data-import/api/ExampleAccount"
import { runMain } from "@data-import/testbed/CommandLine"
import { get } from "@data-import/domain/testing/wire"
import type { Tenant } from "@data-import/testbed/Tenants"
import { openSession } from "@data-import/testbed/Tokens"
import * as Flags from "./Flags.ts"
import { install, type Installation, startServer } from "./Installation.ts"
import { publish } from "./Results.ts"
import { short, table } from "./Table.ts"
import { cpuSeconds, postgresCpuSeconds, residentBytes } from "./Usage.ts"

const operations = ["VALIDATE", "STAGE", "IMPORT"] as const
type Operation = (typeof operations)[number]

/** The example account without documents, which would be looked up. */
const account = ({ notes: _, statements: __, ...rest }: Record<string, unknown>) => rest

const linesOf = (prefix: string, from: number, count: number): string => {
  const { import_supplier: _, ...line } = account({ ...exampleAccount })
  const mark = "@NUMBER@"
  const text = JSON.stringify({ ...line, external_account_number: mark })
  const numbers = Array.from({ length: count }, (_each, index) => `${prefix}-${from + index}`)
  return `${numbers.map((number) => text.replace(mark, number)).join("\n")}\n`
}

/** A part of an upload; clients send parts of at most 64 MiB. */
const linesOfPart = 10_000

interface Subject {
  readonly installation: Installation
  readonly tenant: Tenant
  readonly send: (
    method: string,
    path: string,
    body?: { readonly type: string; readonly text: string }
  ) => Effect.Effect<unknown>
}

const root = "/v1/data-import/batches/"

const json = (payload: unknown) => ({
  type: "application/json",
  text: JSON.stringify({ payload })
})

const subjectOf = Effect.fnUntraced(function* (installation: Installation) {
  const tenant = yield* installation.freshTenant
  const { port, url } = installation.services.gateway
  const { token } = yield* openSession(port, tenant.apiKey, 1)
  const send: Subject["send"] = (method, path, body) =>
    Effect.promise(async () => {
      const headers = {
        authorization: `Token ${token}`,
        ...(body && { "content-type": body.type })
      }
      const answer = await fetch(url + path, { method, headers, body: body?.text ?? null })
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
      return text
    })
  return { installation, tenant, send } satisfies Subject
})

const parsed = (text: unknown): unknown => JSON.parse(String(text))

/** What is used from now on, in processor seconds, and for how long. */
const measuring = Effect.fnUntraced(function* ({ server, services }: Installation) {
  const now = Clock.currentTimeMillis
  const used = () => ({
    services: cpuSeconds(services.batches.pid) + cpuSeconds(services.gateway.pid),
    worker: cpuSeconds(services["batch-worker"].pid),
    postgres: postgresCpuSeconds(server.pid)
  })
  const before = used()
  const began = yield* now
  return Effect.map(now, (ended) => {
    const after = used()
    return {
      seconds: (ended - began) / 1000,
      services: after.services - before.services,
      worker: after.worker - before.worker,
      postgres: after.postgres - before.postgres
    }
  })
})

type Used = Effect.Success<Effect.Success<ReturnType<typeof measuring>>>

const createBatch = ({ send, tenant }: Subject, operation: Operation) => {
  const team = operation === "IMPORT" ? { operations_team_name: tenant.team } : {}
  const settings = { import_supplier: tenant.supplier, operation, ...team }
  return Effect.map(send("POST", root, json(settings)), (text) =>
    String(get(parsed(text), "batch_id"))
  )
}

const upload = Effect.fnUntraced(function* (subject: Subject, id: string, lines: number) {
  let bytes = 0
  for (let from = 1; from <= lines; from += linesOfPart) {
    const text = linesOf(id.slice(0, 8), from, Math.min(linesOfPart, lines - from + 1))
    bytes += text.length
    const path = `${root}${id}/lines/?from_line=${from}`
    yield* subject.send("PUT", path, { type: "application/x-ndjson", text })
  }
  return bytes
})

const countsOf = ({ send }: Subject, id: string) =>
  Effect.map(send("GET", `${root}${id}/`), (text) => {
    const counts = get(parsed(text), "counts") as Readonly<Record<string, number>>
    return { received: counts["received"] ?? 0, remaining: counts["remaining"] ?? 0 }
  })

/** Starts the batch and waits for its end; when each tenth of it had ended, in milliseconds. */
const work = Effect.fnUntraced(function* (subject: Subject, id: string, lines: number) {
  yield* subject.send("POST", `${root}${id}/start/`, json({ total_lines: lines }))
  const tenths: Array<number> = []
  for (;;) {
    const { received, remaining } = yield* countsOf(subject, id)
    const at = yield* Clock.currentTimeMillis
    while (tenths.length < Math.floor((10 * (received - remaining)) / received)) tenths.push(at)
    if (remaining === 0) return tenths
    yield* Effect.sleep(Duration.millis(100))
  }
})

const perThousand = (seconds: number, lines: number): string => short((seconds * 1_000) / lines)

const measureOperation = Effect.fnUntraced(function* (
  subject: Subject,
  operation: Operation,
  lines: number
) {
  const id = yield* createBatch(subject, operation)
  const uploading = yield* measuring(subject.installation)
  const bytes = yield* upload(subject, id, lines)
  const uploaded: Used = yield* uploading
  const working = yield* measuring(subject.installation)
  yield* work(subject, id, lines)
  const worked: Used = yield* working
  yield* Console.error(`${operation}: ${short(lines / worked.seconds)} lines/s`)
  return [
    operation,
    short(bytes / uploaded.seconds / 1e6),
    perThousand(uploaded.services, lines),
    short(lines / worked.seconds),
    perThousand(worked.worker, lines),
    perThousand(worked.postgres, lines)
  ]
})

const head = [
  "operation",
  "upload MB/s",
  "CPU s of gateway and service per 1,000",
  "lines/s",
  "CPU s of the worker per 1,000",
  "of PostgreSQL"
]

const mostMemory = (pid: number, record: (bytes: number) => void) =>
  Effect.sync(() => record(residentBytes(pid))).pipe(
    Effect.andThen(Effect.sleep(Duration.millis(200))),
    Effect.forever
  )

/** One book: from the first byte of its upload to the last result. */
const measureBook = Effect.fnUntraced(function* (subject: Subject, lines: number) {
  const { pid } = subject.installation.services["batch-worker"]
  let most = 0
  const sampling = yield* Effect.forkChild(
    mostMemory(pid, (bytes) => {
      most = Math.max(most, bytes)
    })
  )
  const began = yield* Clock.currentTimeMillis
  const id = yield* createBatch(subject, "IMPORT")
  yield* upload(subject, id, lines)
  const started = yield* Clock.currentTimeMillis
  const tenths = yield* work(subject, id, lines)
  const results = String(yield* subject.send("GET", `${root}${id}/results/`))
  const ended = yield* Clock.currentTimeMillis
  yield* Fiber.interrupt(sampling)
  const count = results.split("\n").length - 1
  if (count !== lines) throw new Error(`${count} results of ${lines} lines`)
  const seconds = tenths.map((at, index) => (at - (tenths[index - 1] ?? started)) / 1000)
  const speeds = seconds.map((each) => lines / 10 / Math.max(each, 0.1))
  return [
    {
      title: `A book of ${lines.toLocaleString("en-GB")} accounts, IMPORT`,
      text: table(
        ["upload s", "work s", "all with the results s", "most RSS of the worker MB"],
        [
          [
            short((started - began) / 1000),
            short(((tenths.at(-1) ?? started) - started) / 1000),
            short((ended - began) / 1000),
            short(most / 2 ** 20)
          ]
        ]
      )
    },
    {
      title: "Its progress",
      text: table(
        ["tenth", "lines/s", ""],
        speeds.map((speed, index) => [
          String(index + 1),
          short(speed),
          "#".repeat(Math.round((40 * speed) / Math.max(...speeds)))
        ])
      )
    }
  ]
})

const measure = Effect.fnUntraced(function* (lines: number, book: number) {
  const server = yield* startServer
  const subject = yield* subjectOf(yield* install(server, "batches"))
  yield* measureOperation(subject, "IMPORT", 1_000)
  const rows: Array<ReadonlyArray<string>> = []
  for (const operation of operations) {
    rows.push(yield* measureOperation(subject, operation, lines))
  }
  const own = {
    title: `Batches of ${lines.toLocaleString("en-GB")} lines`,
    text: table(head, rows)
  }
  return book > 0 ? [own, ...(yield* measureBook(subject, book))] : [own]
}, Effect.scoped)

const flags = {
  lines: Flags.positive("lines").pipe(
    Flag.withDescription("Lines of each batch"),
    Flag.withDefault(20_000)
  ),
  book: Flag.Finite("book").pipe(
    Flag.withDescription("Accounts of one book that is timed as a whole; none unless given"),
    Flag.withDefault(0)
  ),
  write: Flags.write
}

const batches = Command.make(
  "bench:batches",
  flags,
  Effect.fnUntraced(function* ({ book, lines, write }) {
    yield* publish("batches", "bench:batches", "Batches", yield* measure(lines, book), write)
  })
).pipe(Command.withDescription("Measures batches: upload, work and a whole book"))

runMain(batches, { messageOf: Flags.messageOf })
