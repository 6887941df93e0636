/** Books are sent to the whole system, altered, and compared with the stored accounts. */
import { gzipSync } from "node:zlib"
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Stream } from "effect"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { CurrentOperator } from "@data-import/domain/access/Operator"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { drop, putAll, type Wire } from "@data-import/domain/testing/wire"
import { clientTenant, effectClient } from "@data-import/local/test/clientTenant"
import { once, type Seen } from "@data-import/local/test/faultyGateway"
import { healthyWorld } from "@data-import/local/test/healthyWorld"
import { run as runStatement, wholeSystem } from "@data-import/local/test/wholeSystem"
import { environmentOf, user } from "./onlineCommand.ts"
import { importing } from "./sentBook.ts"

const numberOf = (index: number): string => `R-${String(index).padStart(4, "0")}`

/** Accounts with every field, in spellings that differ from the answers. */
const accountsOf = (count: number): ReadonlyArray<Wire> =>
  Array.from({ length: count }, (_, index) => {
    const account = drop(domesticPayload(), "import_supplier")
    return putAll(account, {
      external_account_number: numberOf(index),
      transfer_balance: "50.000",
      "customers.0.given_name": " Ada "
    })
  })

const bookOf = (accounts: ReadonlyArray<Wire>): string =>
  accounts.map((account) => `${JSON.stringify(account)}\n`).join("")

interface Example {
  readonly kind: string
  readonly line: number | null
  readonly row?: number
  readonly external_account_number: string | null
  readonly path: string
  readonly ids?: Readonly<Record<string, string>>
  readonly state?: string | null
  readonly book?: unknown
  readonly stored?: unknown
}

interface Answer {
  readonly accounts: Readonly<Record<string, number>>
  readonly differences: number
  readonly sums: { readonly difference: string; readonly ledgers: ReadonlyArray<Wire> }
  readonly added: Wire
  readonly examples: ReadonlyArray<Example>
}

/** A tenant with these accounts, and how a book is compared with them. */
const imported = Effect.fnUntraced(function* (
  accounts: ReadonlyArray<Wire>,
  plan?: Parameters<typeof clientTenant>[0]
) {
  const tenant = yield* clientTenant(plan)
  const { home, run } = yield* user(environmentOf(tenant))
  const book = home.write("sent.ndjson", bookOf(accounts))
  const { status } = yield* run(...importing(tenant, book), "--failed", home.path("failed.ndjson"))
  expect(status).toBe(0)
  const supplier = ["--supplier", tenant.supplier as string]
  const reconciled = Effect.fnUntraced(function* (file: string, ...more: ReadonlyArray<string>) {
    const { out, status: ended } = yield* run("reconcile", file, ...supplier, "--json", ...more)
    return { status: ended, answer: JSON.parse(out) as Answer }
  })
  return { tenant, home, run, supplier, reconciled }
})

/** As the operator does. */
const erase = Effect.fnUntraced(function* (
  { supplier }: Effect.Success<ReturnType<typeof clientTenant>>,
  number: string
) {
  const key = {
    import_supplier: supplier,
    external_account_number: ExternalAccountNumber.make(number)
  }
  const requestId = RequestId.make(crypto.randomUUID())
  const erasing = (yield* Erasures).erase({ key, at: yield* DateTime.now })
  return yield* Effect.provideService(erasing, CurrentOperator, { name: "Ada", requestId })
})

const shown = ({ external_account_number, kind, line, path }: Example): string =>
  [kind, line ?? "-", external_account_number ?? "-", path].join(" ").trim()

const history = "ledgers.0.historical_statement_transactions"

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "reconcile",
  (it) => {
    it.effect("finds nothing if nothing differs, plain, packed, wrapped or repeated", () =>
      Effect.gen(function* () {
        const accounts = accountsOf(7)
        const { home, reconciled, run, supplier } = yield* imported(accounts)
        const wrapped = accounts.map((payload) => ({ payload, cohort: "w1" }))
        const books = [
          home.write("plain.ndjson", bookOf(accounts.toReversed()).trimEnd()),
          home.write("crlf.ndjson", bookOf(accounts).replaceAll("\n", "\r\n")),
          home.write("packed.ndjson.gz", gzipSync(bookOf([...accounts, ...accounts]))),
          home.write("wrapped.ndjson", bookOf(wrapped))
        ]
        for (const book of books) {
          const { answer, status } = yield* reconciled(book)
          expect(answer.examples).toEqual([])
          expect({ status, ...answer.accounts }).toMatchObject({ status: 0, equal: 7 })
          expect(answer.sums).toMatchObject({ book: 7, stored: 7, difference: "0.00" })
        }
        const { out } = yield* run("reconcile", books[0] ?? "", ...supplier)
        expect(out).toMatch(
          /7 lines = 7 equal \+ 0 different \+ 0 missing; 7 accounts stored, 0 of them unexpected/
        )
        expect(out).toMatch(/ELECTRICITY_LEDGER +7 +7 +350.00 +350.00 +0.00/)
      }).pipe(Effect.scoped)
    )

    it.effect("names each difference, down to the transaction", () =>
      Effect.gen(function* () {
        const accounts = accountsOf(9)
        const { home, reconciled, run, supplier } = yield* imported(accounts)
        const altered = [
          putAll(accounts[0] ?? {}, {
            transfer_balance: 60,
            "ledgers.0.ledger_balance": 60
          }),
          putAll(accounts[1] ?? {}, { [`${history}.1.reference`]: "=other" }),
          putAll(accounts[2] ?? {}, { "notes.1.body": "another" }),
          drop(accounts[3] ?? {}, "billing_name"),
          putAll(accounts[4] ?? {}, { external_account_number: "Q-1" }),
          putAll(accounts[5] ?? {}, { "statements.0.statement_id": "NL-S-0" }),
          putAll(accounts[6] ?? {}, { transfer_balance: "1.234" }),
          ...accounts.slice(7),
          putAll(accounts[8] ?? {}, { billing_name: "B" })
        ]
        const book = home.write("altered.ndjson", `${bookOf(altered)}no json\n`)
        const csv = home.path("differences.csv")
        const { answer, status } = yield* reconciled(book, "-o", csv)
        expect(status).toBe(1)
        expect(answer.examples.map(shown)).toEqual([
          "REPEATED 10 R-0008",
          "INVALID 11 -",
          "CHANGED 1 R-0000 ledgers.0.ledger_balance",
          "CHANGED 1 R-0000 transfer_balance",
          `CHANGED 2 R-0001 ${history}.1.reference`,
          "CHANGED 3 R-0002 notes.1.body",
          "UNEXPECTED 4 R-0003 billing_name",
          "UNEXPECTED - R-0004",
          "MISSING 6 R-0005 statements.0",
          "UNEXPECTED 6 R-0005 statements.0",
          "INVALID 7 R-0006",
          "MISSING 5 Q-1"
        ])
        expect(answer.examples[3]).toMatchObject({ book: 60, stored: 50 })
        const ids = { ledger_code: "ELECTRICITY_LEDGER", transaction_id: "NL-T-1002" }
        expect(answer.examples[4]).toMatchObject({ ids, book: "=other" })
        expect(answer.examples.at(-1)?.state).toBe(null)
        const counts = { equal: 2, different: 5, missing: 1, unexpected: 1 }
        const others = { invalid_lines: 2, repeated_lines: 1, invalid_balance: "1.234" }
        expect(answer).toMatchObject({ differences: 12, lines: 11, accounts: counts, ...others })
        expect(answer.sums).toMatchObject({ book: 8, stored: 9, book_balance: "410.00" })
        expect(answer.sums.difference).toBe("40.00")
        const rows = home.read("differences.csv").split("\r\n")
        expect(rows).toHaveLength(answer.differences + 2)
        expect(rows[5]).toContain(`${history}.1.reference,ELECTRICITY_LEDGER,NL-T-1002,`)
        expect(rows[5]).toContain(",'=other,DD-2025-02-0004711,")
        const { out } = yield* run("reconcile", book, ...supplier)
        expect(out).toMatch(/R-0002 +CHANGED +notes.1.body +- +another +Account migrated/)
        expect(out).toMatch(
          /11 lines = 2 equal \+ 5 different \+ 1 missing \+ 2 invalid \+ 1 repeated;/
        )
        expect(out).toMatch(
          /The transfer_balance of 1 of them adds up to 1.234; that of 1 cannot be read/
        )
      }).pipe(Effect.scoped)
    )

    it.effect("distinguishes additions after the import, and erasures by the operator", () =>
      Effect.gen(function* () {
        const accounts = accountsOf(3)
        const { home, reconciled, tenant } = yield* imported(accounts)
        const client = yield* effectClient(tenant)
        const key = { import_supplier: tenant.supplier, external_account_number: numberOf(0) }
        const payment = {
          transaction_id: "later",
          transaction_date: "2025-05-05",
          amount: 75,
          type: "PAYMENT",
          reason: "ACCOUNT_CHARGE_PAYMENT",
          reference: "DD-2025-05",
          payment_type: "DD_REGULAR_COLLECTION"
        } as const
        yield* client.postImport.createTransactions({
          payload: { ...key, transactions: [payment] }
        })
        yield* client.postImport.createNotes({ payload: { ...key, notes: [{ body: "new" }] } })
        yield* erase(tenant, numberOf(2))
        const { answer, status } = yield* reconciled(home.path("sent.ndjson"))
        expect({ status, ...answer.accounts }).toMatchObject({ status: 0, equal: 2, erased: 1 })
        expect(answer.added).toMatchObject({
          accounts: 1,
          transactions: 1,
          notes: 1,
          balance: "75.00"
        })
        expect(answer.sums).toMatchObject({ book: 2, stored: 2, difference: "0.00" })
      }).pipe(Effect.scoped)
    )

    it.effect("leaves out other cohorts, and says that the key is a test key", () =>
      Effect.gen(function* () {
        const { home, reconciled, run, supplier, tenant } = yield* imported(accountsOf(3))
        const wave = accountsOf(2).map((account) =>
          putAll(account, {
            external_account_number: `W-${String(account["external_account_number"])}`
          })
        )
        const book = home.write("wave.ndjson", bookOf(wave))
        const sent = [
          ...importing(tenant, book),
          "--cohort",
          "w2",
          "--failed",
          home.path("w.ndjson")
        ]
        expect((yield* run(...sent)).status).toBe(0)
        const { answer } = yield* reconciled(book, "--cohort", "w2")
        expect(answer).toMatchObject({ differences: 0, accounts: { equal: 2, unexpected: 0 } })
        expect(answer.sums).toMatchObject({ book: 2, stored: 2 })
        const { out, status } = yield* run("reconcile", book, ...supplier)
        expect({ status, out }).toEqual({
          status: 1,
          out: expect.stringMatching(/^.*\[(test|live)\]\n/)
        })
      }).pipe(Effect.scoped)
    )

    it.effect("continues where an answer breaks off", () =>
      Effect.gen(function* () {
        const accounts = accountsOf(40)
        const isRead = ({ path }: Seen) => path.includes("/accounts/?")
        const cuts = [60_000, 90_000].map((after) => once(isRead, { _tag: "CutAnswer", after }))
        const { home, reconciled, tenant } = yield* imported(accounts, (seen) => {
          for (const cut of cuts) {
            const fault = cut(seen)
            if (fault !== undefined) return fault
          }
          return undefined
        })
        const { answer, status } = yield* reconciled(home.path("sent.ndjson"))
        expect(tenant.seen.filter(isRead)).toHaveLength(3)
        expect({ status, ...answer.accounts }).toMatchObject({ status: 0, equal: 40 })
        expect(answer.sums).toMatchObject({ book: 40, stored: 40 })
      }).pipe(Effect.scoped)
    )

    it.effect("names data that was altered in the storage", () =>
      Effect.gen(function* () {
        const accounts = accountsOf(4)
        const { home, reconciled, tenant } = yield* imported(accounts)
        const { accounts: stored } = yield* effectClient(tenant)
        const all = yield* Stream.runCollect(stored.all(tenant.supplier))
        const [first = "", second = "", third = ""] = all.map((one) => one.kraken_account_number)
        yield* runStatement(
          (sql) => sql`update accounts set balance = balance + 1 where number = ${first}`
        )
        yield* runStatement(
          (sql) => sql`
            update accounts set payload = jsonb_set(payload::jsonb,
              '{ledgers,0,historical_statement_transactions,2,amount}', '"37.51"')::json
            where number = ${second}`
        )
        yield* runStatement(
          (sql) => sql`
            update accounts set payload = jsonb_set(payload::jsonb,
              '{notes,1,body}', '"altered"')::json where number = ${third}`
        )
        const { answer, status } = yield* reconciled(home.path("sent.ndjson"))
        expect(answer.examples).toMatchObject([
          { kind: "CHANGED", line: 1, path: "balance", book: "50.00", stored: "51.00" },
          { kind: "CHANGED", line: 2, path: `${history}.2.amount`, book: "37.50", stored: "37.51" },
          { kind: "CHANGED", line: 3, path: "notes.1.body", stored: "altered" }
        ])
        expect({ status, difference: answer.sums.difference }).toEqual({
          status: 1,
          difference: "1.00"
        })
      }).pipe(Effect.scoped)
    )

    it.effect("compares a CSV book, and refuses what it cannot read", () =>
      Effect.gen(function* () {
        const accounts = [1, 2, 3].map((index) => ({
          external_account_number: numberOf(index),
          unknown_occupier: true,
          transfer_balance: `${index}.50`
        }))
        const { home, reconciled, run, supplier } = yield* imported(accounts)
        const columns = {
          constants: { "/unknown_occupier": true },
          columns: {
            Account: "/external_account_number",
            Balance: { to: "/transfer_balance", type: "decimal", point: "," }
          }
        }
        const map = home.write("columns.json", JSON.stringify(columns))
        const rows = ["Account,Balance", 'R-0001,"1,50"', 'R-0002,"2,51"', 'R-0003,"3,5"']
        const book = home.write("book.csv", rows.join("\r\n"))
        const { answer, status } = yield* reconciled(book, "--map", map)
        expect(status).toBe(1)
        expect(answer.examples).toMatchObject([
          { kind: "CHANGED", row: 3, path: "transfer_balance", book: 2.51, stored: 2.5 }
        ])
        expect(yield* run("reconcile", book, ...supplier)).toMatchObject({ status: 2, out: "" })
        const unknown = ["reconcile", book, "--map", map, "--supplier", "NOBODY"]
        const refused = yield* run(...unknown)
        expect(refused).toMatchObject({ status: 2, out: "" })
        expect(refused.err).toMatch(/not_found/)
      }).pipe(Effect.scoped)
    )
  }
)
