/**
 * What a certificate costs: `npm run bench:certificates` fills a supplier by SQL, and issues
 * certificates of it through the gateway; and how long the other side takes for a book.
 */
import { spawnSync } from "node:child_process"
import { closeSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { Clock, Console, Duration, Effect, Fiber } from "effect"
import { Command, Flag } from "effect/cli"
import { vacuum } from "@data-import/postgres/testing/databases"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import { textAt } from "@data-import/testbed/Client"
import { runMain } from "@data-import/testbed/CommandLine"
import { team } from "@data-import/testbed/Tenants"
import { openSession } from "@data-import/testbed/Tokens"
import { accountLine } from "./BatchClient.ts"
import { median } from "./Comparison.ts"
import { install, type Installation, startServer } from "./Installation.ts"
import { mostMemory } from "./MostMemory.ts"
import { messageOf, positive, publish, short, table } from "./Report.ts"
import { cpuSeconds, endedCpuSeconds, postgresCpuSeconds } from "./Usage.ts"

const root = "/v1/data-import/certificates/"
const number = "'N-' || lpad(n::text, 9, '0')"

/** Accounts with a ledger, and the entries that imports write. */
const statements = [
  `insert into import_processes (supplier, external_account_number, payload, staged_at,
     payload_hash)
   select $1, ${number}, '{}', now(), sha256(convert_to(${number}, 'UTF8'))
   from generate_series(1, $2::integer) as n`,
  `insert into accounts (id, import_id, number, created_at, operations_team, balance, payload,
     entry, entry_sums)
   select id, id, 'A-' || lpad(upper(to_hex(id)), 8, '0'), now(), '${team}', 12.34, '{}',
     '"added":"","balance":"12.34","external_account_number":"' || external_account_number ||
       '","ledgers":[{"balance":"12.34","ledger_code":"ELECTRICITY_LEDGER"}]',
     '{"imported":"1234","added":"0","ledgers":[["ELECTRICITY_LEDGER","1234"]],"transactions":' ||
       '[["CHARGE","IMPORTED_CHARGE",6,"64212"],["PAYMENT",null,6,"65446"]],"statements":[1,"0"]}'
   from import_processes where supplier = $1`,
  `insert into ledgers (account_id, position, ledger_code, ledger_balance)
   select id, 0, 'ELECTRICITY_LEDGER', 12.34 from import_processes where supplier = $1`,
  `update import_processes set account_id = id, account_created_at = now(), payload = null,
     account_number = 'A-' || lpad(upper(to_hex(id)), 8, '0')
   where supplier = $1`
]

const filled = ["import_processes", "accounts", "ledgers", "import_totals", "import_differences"]

const fill = Effect.fnUntraced(function* (
  { query, url }: Installation,
  supplier: string,
  size: number
) {
  const [first = "", ...others] = statements
  yield* query(first, [supplier, size])
  for (const statement of others) yield* query(statement, [supplier])
  yield* Effect.orDie(vacuum(url, filled))
  yield* Console.error(`filled ${size} accounts`)
  // The query service adds their counts up, which would be measured, too.
  const left = query("select from import_differences limit 1")
  while ((yield* left).length > 0) yield* Effect.sleep(Duration.millis(500))
})

const measure = Effect.fnUntraced(function* (size: number, rounds: number) {
  const server = yield* startServer
  const installation = yield* install(server, "certificates")
  const { supplier, apiKey } = yield* installation.freshTenant
  yield* fill(installation, supplier, size)
  const session = yield* openSession(installation.services.gateway.port, apiKey, 1)
  const [worker] = installation.workers
  if (worker === undefined) return yield* Effect.die(new Error("There is no worker"))
  const rows: Array<ReadonlyArray<string>> = []
  for (let round = 1; round <= rounds; round++) {
    let most = 0
    const sampling = yield* Effect.forkChild(
      mostMemory([worker.pid], (bytes) => {
        most = Math.max(most, bytes)
      })
    )
    const [ofWorker, ofServer] = [cpuSeconds(worker.pid), postgresCpuSeconds(server.pid)]
    const [duration] = yield* Effect.timed(
      Effect.gen(function* () {
        const body = { payload: { import_supplier: supplier } }
        const { json } = yield* session.send({ method: "POST", path: root, body })
        const path = `${root}${textAt(json, "certificate_id")}/`
        for (;;) {
          const found = yield* session.send({ method: "GET", path })
          const status = textAt(found.json, "status")
          if (status === "ISSUED") return
          if (status === "FAILED") return yield* Effect.die(new Error(found.text))
          yield* Effect.sleep(Duration.millis(100))
        }
      })
    )
    yield* Fiber.interrupt(sampling)
    const processor = [cpuSeconds(worker.pid) - ofWorker, postgresCpuSeconds(server.pid) - ofServer]
    const numbers = [Duration.toSeconds(duration), ...processor, most / 2 ** 20].map(short)
    rows.push([round === 1 ? "the first" : "again, unchanged", ...numbers])
    yield* Console.error(rows.at(-1)?.join("  "))
  }
  const head = [
    "certificate",
    "s",
    "CPU s of the worker",
    "of PostgreSQL",
    "most RSS of the worker MB"
  ]
  const title = `Certificates of ${size.toLocaleString("en-GB")} accounts`
  return { title, text: table(head, rows) }
}, Effect.scoped)

const cli = join(import.meta.dirname, "../cli/main.ts")

/** How long a command of `data-import` takes, and its processor time. */
const secondsOf = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const begun = yield* Clock.currentTimeNanos
  const used = endedCpuSeconds()
  const { status, stderr } = spawnSync(process.execPath, [cli, ...words], { encoding: "utf8" })
  if (status !== 0) return yield* Effect.die(new Error(stderr))
  const seconds = Number((yield* Clock.currentTimeNanos) - begun) / 1e9
  return { seconds, processor: endedCpuSeconds() - used }
})

/** The root of a book, computed offline, against the check of the same book; in turn. */
const measureBook = Effect.fnUntraced(function* (lines: number, rounds: number) {
  const book = join(yield* temporaryFolder(), "book.ndjson")
  const file = openSync(book, "w")
  for (let line = 0; line < lines; line++) writeSync(file, `${accountLine("bench", line)}\n`)
  closeSync(file)
  const pairs = yield* Effect.replicateEffect(
    Effect.all([secondsOf(["check", book]), secondsOf(["certify", book, "--supplier", "S"])]),
    rounds
  )
  const rowOf = (measure: "processor" | "seconds") => [
    median(pairs.map(([check]) => check[measure])),
    median(pairs.map(([, certify]) => certify[measure])),
    median(pairs.map(([check, certify]) => certify[measure] / check[measure]))
  ]
  const rows = [
    ["time", ...rowOf("seconds").map(short)],
    ["processor time", ...rowOf("processor").map(short)]
  ]
  const title = `A book of ${lines.toLocaleString("en-GB")} accounts, on this machine alone`
  return { title, text: table(["", "check s", "certify s", "times"], rows) }
}, Effect.scoped)

const command = Command.make(
  "bench:certificates",
  {
    size: positive("size").pipe(
      Flag.withDescription("How many accounts are certified"),
      Flag.withDefault(1_000_000)
    ),
    rounds: positive("rounds").pipe(
      Flag.withDescription("Certificates, one after the other"),
      Flag.withDefault(2)
    ),
    book: positive("book").pipe(
      Flag.withDescription("Accounts of the book that is certified offline"),
      Flag.withDefault(100_000)
    )
  },
  Effect.fnUntraced(function* ({ book, rounds, size }) {
    const offline = yield* measureBook(book, 5)
    yield* publish("bench:certificates", [yield* measure(size, rounds), offline])
  })
).pipe(Command.withDescription("Measures certificates of a large supplier"))

runMain(command, { messageOf })
