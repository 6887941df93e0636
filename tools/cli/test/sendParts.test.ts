/** Books of several batches, and books that add to accounts, on the whole system. */
import { readdirSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { clientTenant, effectClient } from "@data-import/local/test/clientTenant"
import type { Seen } from "@data-import/local/test/faultyGateway"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { batchLimits } from "@data-import/domain/batches/BatchLine"
import { PartLimits } from "../send/BookParts.ts"
import { environmentOf, user } from "./onlineCommand.ts"
import { bookOf, failedIn, importedOf, importing, storedOf } from "./sentBook.ts"

const lineOf = (number: string, member: object): string =>
  JSON.stringify({ external_account_number: number, ...member })

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "send",
  (it) => {
    it.effect(
      "sends a large book as several batches, each once however often it is interrupted",
      () =>
        Effect.gen(function* () {
          let uploads = 0
          const isUpload = ({ method }: Seen) => method === "PUT"
          const refusal = { status: 403, body: '{"code":"permission_denied","detail":"No."}' }
          const tenant = yield* clientTenant((seen) =>
            isUpload(seen) && ++uploads === 3 ? { _tag: "Answer", answer: refusal } : undefined
          )
          const { home, run } = yield* user(environmentOf(tenant))
          const book = home.write("book.ndjson", bookOf(100))
          const file = home.path("failed.ndjson")
          const send = run(...importing(tenant, book), "--failed", file, "--json").pipe(
            Effect.provideService(PartLimits, { ...batchLimits, lines: 30 })
          )
          const refused = yield* send
          expect(refused).toMatchObject({ status: 2, out: "" })
          expect(refused.err).toMatch(
            /lines 61 to 90 of 100 \[live\]\n[^]*the same command goes on/
          )
          const { err, out, status } = yield* send
          expect(status).toBe(1)
          expect(err).toMatch(/^An earlier command goes on: .*lines 1 to 30 of 100 \[live\]\n/)
          const counts = { received: 100, succeeded: 90, already: 0, failed: 10, remaining: 0 }
          expect(JSON.parse(out)).toMatchObject({
            counts,
            state: "COMPLETED_WITH_FAILURES",
            lines_not_sent: 0,
            batches: [
              { first_line: 1 },
              { first_line: 31 },
              {
                first_line: 61,
                problems: [{ examples: [{ line: 70 }, { line: 80 }, { line: 90 }] }]
              },
              { first_line: 91, counts: { received: 10 } }
            ]
          })
          expect(failedIn(file).map(({ line }) => line)).toEqual(
            Array.from({ length: 10 }, (_, index) => (index + 1) * 10)
          )
          const { accounts, batches } = yield* storedOf(tenant)
          expect(batches.map(({ name }) => name)).toEqual(
            [4, 3, 2, 1].map((part) => `book.ndjson (${part} of 4)`)
          )
          expect(accounts).toEqual(importedOf(100))
          const third = String(batches[1]?.batch_id)
          const results = run("batch", "results", third, "--outcome", "failed", "--book", book)
          const shown = yield* Effect.provideService(results, PartLimits, {
            ...batchLimits,
            lines: 30
          })
          expect(shown.out.match(/"value":"[^"]*"/g)).toHaveLength(3)
          expect(readdirSync(home.path("state/data-import/sends"))).toEqual([])
        }).pipe(Effect.scoped)
    )

    it.effect("sends no further batch after one that was cancelled", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const book = home.write("book.ndjson", bookOf(3_010))
        const flags = ["--max-failures", "0", "--failed", home.path("failed.ndjson")]
        const running = yield* Effect.forkChild(
          run(...importing(tenant, book), ...flags).pipe(
            Effect.provideService(PartLimits, { ...batchLimits, lines: 3_000 })
          )
        )
        const { batches } = yield* effectClient(tenant)
        const query = { import_supplier: tenant.supplier }
        const [paused] = yield* Effect.repeat(batches.listBatches({ query }), {
          until: ([batch]) => batch?.state === "PAUSED"
        })
        yield* batches.cancelBatch({ params: { batch_id: paused?.batch_id ?? "" } })
        const { out, status } = yield* Fiber.join(running)
        expect(status).toBe(1)
        expect(out).toMatch(/10 lines were not sent, because the batch before them was cancelled/)
        expect((yield* storedOf(tenant)).batches).toHaveLength(1)
      }).pipe(Effect.scoped)
    )

    it.effect("adds transactions, statements and payment instructions to accounts", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const failed = ["--failed", home.path("failed.ndjson")]
        yield* run(...importing(tenant, home.write("book.ndjson", bookOf(2))), ...failed)
        const period = { bill_period_from_date: "2025-01-01", bill_period_to_date: "2025-01-31" }
        const payment = {
          transaction_id: "T-1",
          transaction_date: "2025-02-01",
          amount: "5.00",
          type: "PAYMENT"
        }
        const instruction = { type: "CARD", vendor: "STRIPE", reference: "pm_1" }
        const books = {
          TRANSACTIONS: lineOf("B-0001", { transactions: [payment] }),
          statements: lineOf("B-0001", { statements: [{ statement_id: "S-1", ...period }] }),
          "payment-instructions": lineOf("B-0001", instruction)
        }
        for (const [operation, line] of Object.entries(books)) {
          const file = home.write(`${operation}.ndjson`, line)
          const args = ["send", file, "--supplier", tenant.supplier, "--operation", operation]
          const { err, out, status } = yield* run(...args, "--failed", `${file}.failed`)
          expect({ operation, err, out, status }).toMatchObject({
            status: 0,
            out: expect.stringMatching(/1 lines = 1 succeeded/)
          })
        }
      }).pipe(Effect.scoped)
    )

    it.effect("adds the rows of a CSV book, several of which may be about one account", () =>
      Effect.gen(function* () {
        const tenant = yield* clientTenant()
        const { home, run } = yield* user(environmentOf(tenant))
        const failed = ["--failed", home.path("failed.ndjson")]
        yield* run(...importing(tenant, home.write("book.ndjson", bookOf(1))), ...failed)
        const notes = home.write("notes.csv", "Account,Note\nB-0001,One\nB-0001,Two\nX,Three\n")
        const columns = { Account: "/external_account_number", Note: "/notes/0/body" }
        const map = ["--map", home.write("notes.json", JSON.stringify({ columns }))]
        const args = ["send", notes, "--supplier", tenant.supplier, "--operation", "NOTES", ...map]
        const file = home.path("corrected.csv")
        const { out, status } = yield* run(...args, "--failed", file, "--json")
        expect(status).toBe(1)
        expect(JSON.parse(out)).toMatchObject({
          operation: "NOTES",
          counts: { received: 3, succeeded: 2, failed: 1 },
          problems: [{ code: "not_found" }]
        })
        expect(home.read("corrected.csv")).toMatch(/\nX,Three,notes.csv:4,/)
        expect((yield* run(...args, "--failed", home.path("2.csv"))).out).toMatch(
          /2.csv has the 1 lines .*\nCorrect them there, and send \S*2.csv as a book/
        )
        const refused = yield* run(...args, "--corrections", file)
        expect(refused).toMatchObject({ status: 2, out: "" })
        expect(refused.err).toMatch(/--operation NOTES adds to them. Send the corrected lines as/)
      }).pipe(Effect.scoped)
    )
  }
)
