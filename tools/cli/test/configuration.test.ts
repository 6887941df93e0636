/** The configuration is fetched from the whole system, and a book is checked with it. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { businessDay, TimeZone } from "@data-import/domain/suppliers/BusinessDay"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { clientTenant } from "@data-import/local/test/clientTenant"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { wholeSystem } from "@data-import/local/test/wholeSystem"
import { type Answer, problemsIn } from "./commandLine.ts"
import { environmentOf, user } from "./onlineCommand.ts"

/** The day here is always after the day there, for an hour from now at least. */
const [here, there] = [TimeZone.make("Pacific/Kiritimati"), TimeZone.make("Pacific/Pago_Pago")]

const online = Effect.gen(function* () {
  const tenant = yield* clientTenant()
  const { home, run } = yield* user(environmentOf(tenant))
  const file = home.path("acme.json")
  const check = Effect.fnUntraced(function* (book: string, ...args: ReadonlyArray<string>) {
    const { out } = yield* run("check", book, "--json", ...args)
    return JSON.parse(out) as Answer
  })
  return { check, file, home, run, supplier: tenant.supplier }
})

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "data-import configuration",
  (it) => {
    it.effect("writes the file by which check knows the added choices and what is today", () =>
      Effect.gen(function* () {
        const { check, file, home, run, supplier } = yield* online
        const setup = yield* Configuration
        yield* setup.addCode("sales_channel", "CARRIER_PIGEON")
        const transaction_date = businessDay(yield* DateTime.now, here)
        const sold = { transaction_id: "t1", transaction_date, amount: "1.00", type: "CREDIT" }
        const line = {
          import_supplier: supplier,
          external_account_number: "1",
          unknown_occupier: true,
          sales_channel: "CARRIER_PIGEON",
          ledgers: [{ ledger_code: "L", current_statement_transactions: [sold] }]
        }
        const book = home.write("book.ndjson", JSON.stringify(line))
        const tomorrow =
          "1 transaction_in_future ledgers.*.current_statement_transactions.*.transaction_date"
        const problems = Effect.map(check(book, "--configuration", file), problemsIn)
        const fetched = run("configuration", supplier, "--output", file)
        yield* setup.configureSupplier(supplier, { timeZone: there })
        const { err, out, status } = yield* fetched
        expect({ err, out, status }).toEqual({
          err: "",
          out: `The configuration of ${supplier} is in ${file}. [live]`,
          status: 0
        })
        expect(problemsIn(yield* check(book))).toContain("1 invalid_choice sales_channel")
        expect(yield* problems).toEqual([tomorrow])
        yield* setup.configureSupplier(supplier, { timeZone: here })
        yield* fetched
        expect(yield* problems).toEqual([])
        expect(readdirSync(home.path(".")).toSorted()).toEqual(["acme.json", "book.ndjson"])
      }).pipe(Effect.scoped)
    )

    it.effect("prints the file unless it is to be written, with --json too", () =>
      Effect.gen(function* () {
        const { file, home, run, supplier } = yield* online
        yield* run("configuration", supplier, "-o", file)
        const text = home.read("acme.json")
        for (const args of [[], ["--json"]]) {
          const { out } = yield* run("configuration", supplier, ...args)
          expect(`${out}\n`).toBe(text)
        }
        const written = yield* run("configuration", supplier, "-o", file, "--json")
        expect(JSON.parse(written.out)).toEqual({ import_supplier: supplier, file })
      }).pipe(Effect.scoped)
    )

    it.effect("leaves the former file alone if it cannot fetch or write", () =>
      Effect.gen(function* () {
        const { file, home, run, supplier } = yield* online
        writeFileSync(file, "former")
        const unknown = yield* run("configuration", "NOBODY", "--output", file)
        expect(unknown).toMatchObject({ status: 2, out: "" })
        expect(unknown.err).toMatch(/not_found: /)
        expect(home.read("acme.json")).toBe("former")
        mkdirSync(home.path("folder"))
        const refused = yield* run("configuration", supplier, "--output", home.path("folder"))
        expect(refused).toMatchObject({ status: 2, out: "" })
        expect(refused.err).toMatch(/Cannot write .*folder: /)
        expect(readdirSync(home.path(".")).toSorted()).toEqual(["acme.json", "folder"])
      }).pipe(Effect.scoped)
    )
  }
)
