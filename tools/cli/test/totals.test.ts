/** The commands about control totals, against a service that answers as this test says. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { FetchHttpClient } from "effect/http"
import { ControlTotalsGroup } from "@data-import/api/ControlTotalsApi"
import { account, book } from "./commandLine.ts"
import { user } from "./onlineCommand.ts"

const path = "/v1/data-import/control-totals/DEMO_ENERGY/"
const environment = { DATA_IMPORT_URL: "http://127.0.0.1:1", DATA_IMPORT_API_KEY: "sk_live_0" }

const { at, ...arrived } = {
  at: "2026-11-30T08:00:00Z",
  sent: { accounts: 3 },
  staged: { accounts: 1, failed: 1 },
  arrived: {
    accounts: 1_200,
    balance: "-2.00",
    ledger_balances: [{ ledger_code: "GAS", ledgers: 1, balance: "-2.00" }]
  }
}

const begun = Effect.gen(function* () {
  const sent: Array<unknown> = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const asked = new Request(input, init)
    const url = new URL(asked.url)
    if (url.pathname === "/v1/graphql/") {
      const payload = { iat: 1, exp: 9_999_999_999 }
      return Response.json({ data: { obtainServiceToken: { token: "t", payload } } })
    }
    expect(url.pathname).toBe(path)
    if (asked.method === "PUT") sent.push([url.search, await asked.json()])
    const expected = { accounts: 1_201, balance: "-1.00", ledger_balances: null }
    return Response.json({
      import_supplier: "DEMO_ENERGY",
      cohort: null,
      at,
      ...arrived,
      expected: { ...expected, set_by: "client", set_at: at },
      differences: { accounts: -1, balance: "-1.00", ledger_balances: null }
    })
  }
  const { home, run } = yield* user(environment)
  const totals = (...words: ReadonlyArray<string>) =>
    run("totals", ...words).pipe(Effect.provideService(FetchHttpClient.Fetch, fetch))
  return { files: home, run, sent, totals }
})

describe("totals", () => {
  it("is about every operation of control totals", () =>
    expect(Object.keys(ControlTotalsGroup.endpoints)).toEqual([
      "setControlTotals",
      "getControlTotals"
    ]))

  it.live("sets what certify computed from a book, and shows what differs", () =>
    Effect.gen(function* () {
      const { files, run, sent, totals } = yield* begun
      const lines = ["A-1", "A-2"].map((number) => account({ external_account_number: number }))
      const name = files.write("book.ndjson", book(...lines))
      const certify = ["certify", name, "--supplier", "DEMO_ENERGY", "--json"]
      const { out } = yield* run(...certify)
      const sums = JSON.parse(out) as Readonly<Record<string, unknown>>
      const file = files.write("sums.json", out)
      const set = yield* totals("set", "DEMO_ENERGY", file)
      expect(set).toMatchObject({ status: 0, err: "" })
      expect(set.out).toMatch(/^accounts +1,201 +3 +1 +1,200 +-1$/m)
      expect(set.out).toMatch(/^balance +-1.00 +- +- +-2.00 +-1.00$/m)
      expect(set.out).toMatch(/^GAS +- +- +- +-2.00 +-$/m)
      expect((yield* totals("show", "DEMO_ENERGY")).out).toBe(set.out)
      yield* totals("remove", "DEMO_ENERGY", "--cohort", "wave-3")
      expect(sent).toEqual([
        ["", { expected: sums["control_totals"] }],
        ["?cohort=wave-3", {}]
      ])
      expect(sums["control_totals"]).toMatchObject({ accounts: 2 })
      files.write("sums.json", JSON.stringify({ ...sums, failed_lines: 4 }))
      expect((yield* totals("set", "DEMO_ENERGY", file)).err).toContain(
        "4 lines of the book failed"
      )
      const other = yield* totals("set", "DEMO_ENERGY", file, "--cohort", "wave-3")
      expect(other).toMatchObject({ status: 2, out: "" })
      expect(other.err).toContain("it has the sums of DEMO_ENERGY, cohort null")
    })
  )

  it.live("sets what a CSV has", () =>
    Effect.gen(function* () {
      const { files, sent, totals } = yield* begun
      const file = files.write(
        "totals.csv",
        "ledger_code;accounts;balance\n;187;-1204.3\nGAS;;-223.26\n"
      )
      yield* totals("set", "DEMO_ENERGY", file)
      const ledger_balances = [{ ledger_code: "GAS", balance: "-223.26" }]
      const expected = { accounts: 187, balance: "-1204.30", ledger_balances }
      expect(sent).toEqual([["", { expected }]])
    })
  )

  it.live.each([
    ["ledger_code,balance\nGAS,1\n", "it needs one row without a ledger_code"],
    ["accounts,money\n1,2\n", "its columns are ledger_code, accounts, balance, and not money"],
    ["accounts,balance\n1\n", "row 2 has other columns"],
    ["accounts,balance\nmany,1.005\n", "expected.accounts: invalid_type."],
    ["accounts,balance\nmany,1.005\n", "expected.balance: max_decimal_places."]
  ])("refuses the CSV %j: %s", ([csv = "", why]) =>
    Effect.gen(function* () {
      const { files, sent, totals } = yield* begun
      const { err, status } = yield* totals("set", "DEMO_ENERGY", files.write("t.csv", csv))
      expect(status).toBe(2)
      expect(err).toContain(why)
      expect(sent).toEqual([])
    })
  )
})
