/**
 * A supplier's journey from an empty folder: the ten commands of the README on the running system,
 * with faults in the book and in its documents, two kills and a lost network. The figures that each
 * step prints have to add up.
 */
import { deepStrictEqual, match, strictEqual } from "node:assert"
import { readFileSync, writeFileSync } from "node:fs"
import { Clock, Effect } from "effect"
import { type Fault, faultyGateway, type Seen } from "@data-import/local/test/faultyGateway"
import type { Tenant } from "@data-import/testbed/Tenants"
import { type JourneyBook, journeyBook } from "./JourneyBook.ts"
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
  // Four requests in a row break off, and the command continues without help.
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
console.log(String(numbers.size))
`

const numbers = (text: string): string => text.replaceAll(/(?<=\d),(?=\d{3})/g, "")

/** The figure that the command prints for this, without thousands separators. */
const toldBy = ({ err, out, status }: Ended, told: RegExp): string => {
  const found = told.exec(numbers(out))
  if (found === null) throw new Error(`status ${status} without ${told}:\n${out}${err}`)
  return found[0].replaceAll(/ +/g, " ")
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

interface Expected {
  readonly status: Ended["status"]
  readonly told: RegExp
  /** Stands for `BATCH_ID`. */
  readonly batch?: string
  readonly environment?: Readonly<Record<string, string>>
}

/** A supplier with a proxy to the gateway that injects faults once `plan.isBad`. */
const setOut = Effect.fnUntraced(function* (gatewayUrl: string, supplier: string) {
  const folder = yield* supplierFolder
  const plan = { isBad: false, left: [...mishaps], kill: () => {} }
  const { url } = yield* faultyGateway(gatewayUrl, (seen) => {
    const [next] = plan.left
    if (!plan.isBad || next === undefined || !next.fits(seen)) return undefined
    plan.left.shift()
    if (next.name === "killed") plan.kill()
    return next.fault
  })
  const { command, count } = readmeCommands({ url, supplier })
  strictEqual(count, 10)
  const steps: Array<Step> = []
  const run = Effect.fnUntraced(function* (name: string, expected: Expected) {
    const { batch = "", environment, status, told } = expected
    const line = command(name).replace("BATCH_ID", batch)
    const began = yield* Clock.currentTimeMillis
    const ended = yield* folder.run(line, environment, (now) => (plan.kill = now))
    const seconds = ((yield* Clock.currentTimeMillis) - began) / 1_000
    strictEqual(ended.status, status, `${line}\n${ended.out}${ended.err}`)
    const text = status === "SIGKILL" ? "killed" : toldBy(ended, told)
    steps.push({ command: name, seconds, told: text })
    return ended
  })
  return { folder, plan, run, steps, url }
})

interface Traveller extends Effect.Success<ReturnType<typeof setOut>> {
  readonly book: JourneyBook
  readonly tenant: Tenant
}

/** Up to a book without errors, with its documents in the store. */
const prepare = Effect.fnUntraced(function* ({ book, folder, run, tenant }: Traveller) {
  const { accounts, documents, faulty } = book
  const environment = { DATA_IMPORT_API_KEY: tenant.apiKey }
  yield* run("login", { status: 0, told: /The key is valid/, environment })
  yield* run("configuration", { status: 0, told: /is in acme\.json/ })
  const checked = (failed: number) =>
    RegExp(`${accounts} lines: ${accounts - failed} valid, ${failed} failed`)
  yield* run("check", { status: 1, told: checked(faulty) })
  const problems = readFileSync(folder.path("problems.ndjson"), "utf8").trimEnd().split("\n")
  strictEqual(problems.length, faulty)
  book.writeCorrected(folder.path("book.ndjson"))
  yield* run("check", { status: 0, told: checked(0) })
  const uploaded = RegExp(`${documents} files = ${documents} uploaded`)
  yield* run("documents upload", { status: 0, told: uploaded })
})

/** Sends despite two kills and a lost network, until every account is imported. */
const send = Effect.fnUntraced(function* ({ book, folder, plan, run }: Traveller) {
  const { accounts, documents, late } = book
  plan.isBad = true
  yield* run("send", { status: "SIGKILL", told: /^/ })
  yield* run("send", { status: "SIGKILL", told: /^/ })
  const counts = `${accounts - late} succeeded \\+ 0 already \\+ ${late} failed \\+ 0 cancelled`
  const sent = yield* run("send", { status: 1, told: RegExp(`${accounts} lines = ${counts}`) })
  match(sent.err, /An earlier command goes on/)
  deepStrictEqual(plan.left, [])
  plan.isBad = false
  book.writeDocuments(folder.path("documents"), "late")
  const added = `${documents + late} files = ${late} uploaded \\+ ${documents} uploaded before`
  yield* run("documents upload", { status: 0, told: RegExp(added) })
  const retried = yield* run("batch retry", {
    status: 0,
    told: RegExp(`tries ${late} lines again`),
    batch: batchIn(sent.err)
  })
  yield* run("batch watch", {
    status: 0,
    told: RegExp(`${late} lines = ${late} succeeded`),
    batch: batchIn(retried.out)
  })
})

/** Checks the final figures. */
const conclude = Effect.fnUntraced(function* (traveller: Traveller) {
  const { book, folder, run, tenant, url } = traveller
  const { accounts } = book
  yield* run("summary", { status: 0, told: RegExp(`^IMPORTED +${accounts}$`, "m") })
  yield* run("events tail", { status: 0, told: /^$/ })
  const completed = eventsIn(folder.path("events.ndjson")).filter(
    ({ name }) => name === "data_import.import_process.complete-v1"
  )
  strictEqual(completed.length, accounts)
  strictEqual(new Set(completed.map((event) => event.kraken_account_number)).size, accounts)
  const equal = `${accounts} lines, ${accounts} accounts stored: ${accounts} equal`
  yield* run("reconcile", { status: 0, told: RegExp(equal) })
  writeFileSync(folder.path("count.js"), counting)
  const { apiKey, supplier } = tenant
  const environment = { DATA_IMPORT_URL: url, DATA_IMPORT_API_KEY: apiKey, SUPPLIER: supplier }
  const counted = yield* folder.run("node count.js", environment)
  deepStrictEqual(counted, { status: 0, out: `${accounts}\n`, err: "" })
})

/** Fails if any result is not as expected. */
export const journey = Effect.fnUntraced(function* (
  gatewayUrl: string,
  tenant: Tenant,
  accounts: number
) {
  const book = journeyBook(accounts)
  const traveller: Traveller = { ...(yield* setOut(gatewayUrl, tenant.supplier)), book, tenant }
  book.write(traveller.folder.path("book.ndjson"))
  book.writeDocuments(traveller.folder.path("documents"), "in time")
  yield* prepare(traveller)
  yield* send(traveller)
  yield* conclude(traveller)
  return { steps: traveller.steps, faulty: book.faulty + book.late }
}, Effect.scoped)
