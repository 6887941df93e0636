/**
 * A supplier's migration with the client library: from the first validation to an account with
 * later additions, and then a book. What is sent and answered is printed.
 */
import * as Client from "@data-import/client/effect"
import { domesticPayload } from "@data-import/domain/testing/samples"
import type { Demo } from "@data-import/local/DemoFile"
import { Clock, Console, Data, Effect, Redacted, Stream } from "effect"
import { FetchHttpClient } from "effect/http"

/** An answer is not the expected one. */
class Unexpected extends Data.TaggedError("Unexpected")<{ readonly message: string }> {}

const shownLength = 1_200

/** The text without API keys and tokens, and its beginning only if it is long. */
const shown = (text: string): string => {
  const known = text.replace(/\b((?:sk_|rt_|eyJ)[\w-]{4})[\w.-]+/g, "$1…")
  return known.length > shownLength ? `${known.slice(0, shownLength)}…` : known
}

const textOf = (body: unknown): string => {
  if (typeof body === "string") return body
  return body instanceof Uint8Array ? new TextDecoder().decode(body) : ""
}

/** Sends a request, and prints it with its answer. */
const printingFetch: typeof globalThis.fetch = async (input, init) => {
  const { method } = init ?? {}
  const { pathname, search } = new URL(input instanceof Request ? input.url : input)
  const sent = textOf(init?.body)
  console.log(`${method} ${pathname}${search}${sent === "" ? "" : `\n  ${shown(sent)}`}`)
  const answer = await fetch(input, init)
  const text = (await answer.clone().text()).trimEnd()
  console.log(`→ ${answer.status}\n  ${shown(text).replaceAll("\n", "\n  ")}`)
  return answer
}

const clientOf = (baseUrl: string, apiKey: string) =>
  Client.make({ baseUrl, apiKey: Redacted.make(apiKey) }).pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.provideService(FetchHttpClient.Fetch, printingFetch)
  )

const step = (title: string) => Console.log(`\n${title}\n`)

/** The refusal of a call, which must have this code. */
const refused = <A, E extends { readonly code: string }>(code: string, call: Effect.Effect<A, E>) =>
  Effect.matchEffect(call, {
    onSuccess: () => Effect.fail(new Unexpected({ message: `Expected ${code}, not a success` })),
    onFailure: (error) =>
      error.code === code
        ? Effect.void
        : Effect.fail(new Unexpected({ message: `Expected ${code}, not ${error.code}` }))
  })

const must = (holds: boolean, message: string) =>
  holds ? Effect.void : Effect.fail(new Unexpected({ message }))

const customer = {
  given_name: "Ada",
  family_name: "Lovelace",
  email: "ada@example.com",
  mobile: "+442079460000",
  date_of_birth: "1981-03-22"
}

const payment = {
  transaction_id: "T-1",
  transaction_date: "2025-03-05",
  amount: "12.34",
  type: "PAYMENT"
} as const

/** One of the documents that are in the demo's store. */
const [statement_path = ""] = domesticPayload().statements.map((each) => each.statement_path)

const statement = {
  statement_id: "S-1",
  bill_period_from_date: "2025-01-01",
  bill_period_to_date: "2025-01-31",
  statement_path
}

const accountData = {
  customers: [customer],
  ledgers: [
    {
      ledger_code: "ELECTRICITY_LEDGER",
      ledger_balance: "12.34",
      current_statement_transactions: [payment]
    }
  ],
  statements: [statement]
}

const account = Effect.fnUntraced(function* (client: Client.Client, demo: Demo, number: string) {
  const key = { import_supplier: demo.importSupplier, external_account_number: number }
  const payload = { ...key, ...accountData }
  const { accountImport, accounts, postImport, query, system } = client
  const processing = { ...key, operations_team_name: demo.operationsTeamName }

  yield* step("Ask for the limits; the client obtains its token for the API key by itself")
  yield* system.getLimits()
  yield* step("Validate an account")
  yield* accountImport.validateAccount({ payload: { payload } })
  yield* step("Validate a broken one: every error at once")
  const broken = { ...payload, billing_email: "astrid at example.com", transfer_balance: "1.234" }
  const validation = accountImport.validateAccount({ payload: { payload: broken } })
  yield* refused("account_failed_validation", validation)
  yield* step("Stage the account; staging again replaces it")
  yield* accountImport.stageAccount({ payload: { payload } })
  yield* accountImport.stageAccount({ payload: { payload } })
  yield* step("Process it as a dry run, which creates nothing")
  const dryRun = { payload: { payload: { ...processing, dry_run: true } } }
  yield* refused("dry_run_successful", accountImport.processAccount(dryRun))
  yield* step("Process it: create the platform account, once")
  const process = accountImport.processAccount({ payload: { payload: processing } })
  const { kraken_account_number } = yield* process
  yield* refused("account_import_process_already_imported", process)
  yield* step("Ask for its status, and what was attempted")
  const { status } = yield* query.getAccountImportStatus({ params: key })
  yield* must(status === "COMPLETED", `The status is ${status}`)
  yield* query.getImport({ params: key })
  yield* step("Add transactions, notes and statements")
  const transactions = [{ ...payment, transaction_id: "T-2" }]
  yield* postImport.createTransactions({ payload: { ...key, transactions } })
  yield* postImport.createNotes({ payload: { ...key, notes: [{ body: "Meter read" }] } })
  const statements = [{ ...statement, statement_id: "S-2" }]
  yield* postImport.createHistoricalStatements({ payload: { ...key, statements } })
  yield* step("Read the account back")
  yield* accounts.getAccount({ params: { kraken_account_number } })
})

/** Another organisation has no access. */
const rival = Effect.fnUntraced(function* (demo: Demo, number: string) {
  yield* step("Ask as another organisation: the account is not there")
  const { query } = yield* clientOf(demo.baseUrl, demo.rivalApiKey)
  const params = { import_supplier: demo.importSupplier, external_account_number: number }
  yield* refused("not_found", query.getAccountImportStatus({ params }))
})

const size = 200

/** The accounts of a book; each tenth has a birthday that does not exist. */
const bookOf = (number: string): ReadonlyArray<object> =>
  Array.from({ length: size }, (_, index) => ({
    ...accountData,
    external_account_number: `${number}-${index}`,
    ...(index % 10 === 9 && { customers: [{ ...customer, date_of_birth: "1981-02-30" }] })
  }))

const book = Effect.fnUntraced(function* (
  { batches, query }: Client.Client,
  demo: Demo,
  number: string
) {
  const { importSupplier: import_supplier, operationsTeamName: operations_team_name } = demo
  yield* step(`Import a book of ${size} accounts, of which a tenth is faulty`)
  const settings = { import_supplier, operation: "IMPORT", operations_team_name } as const
  const { batch_id } = yield* batches.send(settings, Stream.fromIterable(bookOf(number)))
  yield* step("Follow it until its last line has ended")
  const { counts } = yield* Effect.flatMap(
    Stream.runLast(batches.follow(batch_id)),
    Effect.fromOption
  )
  const { failed, succeeded } = counts
  yield* must(failed === size / 10, `${failed} lines have failed`)
  yield* must(succeeded === size - failed, `${succeeded} lines have succeeded`)
  yield* step("What fails most, and each failed line")
  yield* batches.listBatchProblems({ params: { batch_id } })
  yield* Stream.runDrain(batches.results(batch_id, { outcome: "FAILED" }))
  yield* step("What the supplier has now")
  yield* query.getSupplierSummary({ params: { import_supplier } })
})

/** Walks all steps as the demo tenant, with account numbers that no other run has. */
export const journey = Effect.fnUntraced(function* (demo: Demo, isSingle: boolean) {
  const number = `DEMO-${yield* Clock.currentTimeMillis}`
  const client = yield* clientOf(demo.baseUrl, demo.apiKey)
  yield* account(client, demo, number)
  yield* rival(demo, number)
  if (!isSingle) yield* book(client, demo, number)
  yield* Console.log("\nAll answers are as the contract says.")
}, Effect.scoped)
