/**
 * A supplier's journey from an empty folder: the ten commands of the README on the running system,
 * with faults in the book and in its documents, two kills and a lost network. What each step prints
 * has to close.
 */
import { deepStrictEqual, match, strictEqual } from "node:assert"
import { readFileSync, writeFileSync } from "node:fs"
import { Clock, Effect } from "effect"
import { type Fault, faultyGateway, type Seen } from "@data-import/local/test/faultyGateway"
import type { Tenant } from "@data-import/testbed/Tenants"
import { journeyBook } from "./JourneyBook.ts"
import { readmeCommands } from "./ReadmeCommands.ts"
import { type Ended, supplierFolder } from "./SupplierFolder.ts"

export interface Step {
  readonly command: string
  readonly seconds: number
  readonly told: string
}

/** What happens to `send`, in this order. */
interface Mishap {
  readonly name: "killed" | "lost"
  readonly fits: (seen: Seen) => boolean
  readonly fault: Fault
}

const isUpload = ({ method, path }: Seen) => method === "PUT" && path.includes("/lines/")

const mishaps: ReadonlyArray<Mishap> = [
  { name: "killed", fits: isUpload, fault: { _tag: "CutRequest", after: 2_000 } },
  {
    name: "killed",
    fits: ({ path }) => path.includes("?wait="),
    fault: { _tag: "CutAnswer", after: 0 }
  },
  // Whatever is asked four times breaks off, and the command goes on by itself.
  ...Array.from({ length: 4 }, (): Mishap => ({
    name: "lost",
    fits: ({ path }) => path.includes("/batches/"),
    fault: { _tag: "CutAnswer", after: 0 }
  }))
]

/** The program that a supplier writes with the packed client. */
const counting = `
import { DataImport } from "@data-import/client"
const { DATA_IMPORT_API_KEY: apiKey, DATA_IMPORT_URL: baseUrl, SUPPLIER: supplier } = process.env
const { accounts } = new DataImport({ baseUrl, apiKey })
const numbers = new Set()
for await (const { kraken_account_number: number } of accounts.all(supplier)) numbers.add(number)
console.log(numbers.size)
`

const numbers = (text: string): string => text.replaceAll(/(?<=\d),(?=\d{3})/g, "")

/** The first line that tells this, as a person reads it. */
const lineWith = ({ err, out, status }: Ended, told: RegExp): string => {
  const line = out.split("\n").find((each) => told.test(numbers(each)))
  if (line === undefined) throw new Error(`status ${status} without ${told}:\n${out}${err}`)
  return numbers(line)
}

const batchIn = (text: string): string =>
  /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/.exec(text)?.[0] ?? ""

const eventsIn = (file: string) =>
  readFileSync(file, "utf8")
    .trimEnd()
    .split("\n")
    .map(
      (line) =>
        JSON.parse(line) as { readonly name: string; readonly kraken_account_number: string | null }
    )

export const journey = Effect.fnUntraced(function* (
  gatewayUrl: string,
  { apiKey, supplier }: Tenant,
  accounts: number
) {
  const book = journeyBook(accounts)
  const folder = yield* supplierFolder
  book.write(folder.path("book.ndjson"))
  book.writeDocuments(folder.path("documents"), "in time")

  const left = [...mishaps]
  let isSending = false
  let kill = () => {}
  const { url } = yield* faultyGateway(gatewayUrl, (seen) => {
    const [next] = left
    if (!isSending || next === undefined || !next.fits(seen)) return undefined
    left.shift()
    if (next.name === "killed") kill()
    return next.fault
  })
  const { command, count } = readmeCommands({ url, supplier })
  strictEqual(count, 10)

  const steps: Array<Step> = []
  /** Runs the command, which ends with this status and tells this. */
  const run = Effect.fnUntraced(function* (
    name: string,
    status: Ended["status"],
    told: RegExp,
    { batch = "", environment = {} } = {}
  ) {
    const line = command(name).replace("BATCH_ID", batch)
    const began = yield* Clock.currentTimeMillis
    const ended = yield* folder.run(line, environment, (now) => (kill = now))
    const seconds = ((yield* Clock.currentTimeMillis) - began) / 1_000
    strictEqual(ended.status, status, `${line}\n${ended.out}${ended.err}`)
    const text = status === "SIGKILL" ? "killed" : lineWith(ended, told)
    steps.push({ command: name, seconds, told: text.trim() })
    return ended
  })

  yield* run("login", 0, /The key is valid/, { environment: { DATA_IMPORT_API_KEY: apiKey } })
  yield* run("configuration", 0, /is in acme\.json/)

  const { documents, faulty, late } = book
  const valid = accounts - faulty
  yield* run("check", 1, RegExp(`${accounts} lines: ${valid} valid, ${faulty} failed`))
  const problems = readFileSync(folder.path("problems.ndjson"), "utf8").trimEnd().split("\n")
  strictEqual(problems.length, faulty)
  book.writeCorrected(folder.path("book.ndjson"))
  yield* run("check", 0, RegExp(`${accounts} lines: ${accounts} valid, 0 failed`))

  const files = documents + late
  yield* run("documents upload", 0, RegExp(`${documents} files = ${documents} uploaded`))

  isSending = true
  yield* run("send", "SIGKILL", /./)
  yield* run("send", "SIGKILL", /./)
  const counts = `${accounts - late} succeeded . 0 already . ${late} failed . 0 cancelled`
  const sent = yield* run("send", 1, RegExp(`${accounts} lines = ${counts}`))
  deepStrictEqual(left, [])
  match(sent.err, /An earlier command goes on/)
  isSending = false

  book.writeDocuments(folder.path("documents"), "late")
  const before = `${files} files = ${late} uploaded . ${documents} uploaded before`
  yield* run("documents upload", 0, RegExp(before))
  const retried = yield* run("batch retry", 0, RegExp(`tries ${late} lines again`), {
    batch: batchIn(sent.err)
  })
  yield* run("batch watch", 0, RegExp(`${late} lines = ${late} succeeded`), {
    batch: batchIn(retried.out)
  })

  yield* run("summary", 0, RegExp(`^IMPORTED +${accounts}$`))
  yield* run("events tail", 0, /^$/)
  const completed = eventsIn(folder.path("events.ndjson")).filter(
    ({ name }) => name === "data_import.import_process.complete-v1"
  )
  strictEqual(completed.length, accounts)
  strictEqual(new Set(completed.map((event) => event.kraken_account_number)).size, accounts)
  yield* run(
    "reconcile",
    0,
    RegExp(`${accounts} lines, ${accounts} accounts stored: ${accounts} equal`)
  )

  writeFileSync(folder.path("count.js"), counting)
  const environment = { DATA_IMPORT_URL: url, DATA_IMPORT_API_KEY: apiKey, SUPPLIER: supplier }
  const counted = yield* folder.run("node count.js", environment)
  deepStrictEqual(counted, { status: 0, out: `${accounts}\n`, err: "" })
  return { steps, faulty: faulty + late }
}, Effect.scoped)
