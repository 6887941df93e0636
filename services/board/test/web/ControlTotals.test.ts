import { describe, expect, it } from "vitest"
import type { ControlTotals } from "../../web/src/data/Answers.ts"
import { arrivedText, parseTotals, rowsOf, typedOf } from "../../web/src/text/ControlTotals.ts"

const ledger = { ledger_code: "GAS", balance: "-1.00" }
const expected = {
  accounts: 1_187,
  balance: "-2500.00",
  ledger_balances: [ledger],
  set_by: "client",
  set_at: "2026-11-29T16:00:00Z"
} as const

const totals: ControlTotals = {
  import_supplier: "ACME",
  cohort: null,
  at: "2026-11-30T08:00:00Z",
  expected,
  sent: { accounts: 1_186 },
  staged: { accounts: 3, failed: 1 },
  arrived: { accounts: 1_183, balance: "-2600.00", ledger_balances: [{ ...ledger, ledgers: 4 }] },
  differences: {
    accounts: -4,
    balance: "-100.00",
    ledger_balances: [{ ...ledger, balance: "0.00" }]
  }
}

describe("control totals", () => {
  it("are rows whose numbers lead to what they count, and differences to the reason", () => {
    const imports = "/board/migrations/ACME/imports/"
    const rows = rowsOf(totals)
    expect(rows[0]).toMatchObject({
      name: "Accounts",
      expected: {
        text: "1,187",
        to: expect.stringContaining("action=set_control_totals") as string
      },
      sent: { text: "1,186", to: imports },
      staged: [
        { text: "2", to: `${imports}?state=PENDING` },
        { text: "1 failed", to: `${imports}?state=FAILED` }
      ],
      difference: { text: "−4", to: `${imports}?state=PENDING` }
    })
    expect(rows.slice(1).map(({ difference, name }) => [name, difference])).toEqual([
      ["Balance", { text: "−100.00", to: `${imports}?money=balance` }],
      ["GAS", { text: "0.00", to: `${imports}?ledger=GAS` }]
    ])
    const all = { ...totals, cohort: "wave-1", staged: { accounts: 0, failed: 0 } }
    expect(rowsOf(all)[0]).toMatchObject({
      name: "wave-1: accounts",
      arrived: { to: `${imports}?state=IMPORTED&cohort=wave-1` },
      difference: { to: "/board/migrations/ACME/#batches" }
    })
    expect(rowsOf({ ...totals, expected: null, differences: null })).toEqual([])
  })

  it("are not wrong while what waits may make them up, and are held against a rehearsal", () => {
    const sums = { accounts: 1_187, balance: "-1366.00", ledger_balances: [] }
    const forecast = { ...sums, transactions: [], statements: { count: 0, gross_amount: "0.00" } }
    const rows = rowsOf(totals, forecast)
    expect(rows.map(({ isOpen }) => isOpen)).toEqual([true, true, true])
    expect(rows.map((row) => row.forecast)).toEqual([
      { text: "1,187", isEqual: true },
      { text: "−1,366.00 (+1,134.00)", isEqual: false },
      { text: "0.00 (+1.00)", isEqual: false }
    ])
    const tried = rowsOf({ ...totals, staged: { accounts: 3, failed: 3 } })
    expect(tried.map(({ forecast: none, isOpen }) => [none, isOpen])).toEqual(
      tried.map(() => [null, false])
    )
  })

  it("are read as they are shown, and say how many have arrived", () => {
    const { set_at: _, set_by: __, ...entered } = expected
    const parsed = parseTotals(typedOf(expected))
    expect(parsed).toEqual({ expected: entered, problem: null })
    expect(arrivedText(parsed, 9_999)).toBe("9,999 of 1,187 accounts arrived.")
    const typed = parseTotals({ accounts: " 1,187 ", balance: "−2,500", ledgers: "\nGAS; -1\n" })
    expect(typed).toEqual(parsed)
    const none = parseTotals(typedOf(null))
    expect([none, arrivedText(none, 5)]).toEqual([{ problem: null }, "Nothing is expected then."])
  })

  it.each([
    ["", "1.00", "", "Accounts: write a whole number, such as 187."],
    ["1.5", "", "", "Accounts: write a whole number, such as 187."],
    ["1", "1.005", "", "Balance: write an amount, such as -1204.36."],
    ["1", "", "GAS", "Ledger 1: write a code and an amount, such as GAS_LEDGER -12.34."],
    ["1", "", "GAS 1\nGAS 2", "The ledger GAS stands twice."]
  ])("are refused as %j, %j and %j: %s", (accounts, balance, ledgers, problem) =>
    expect(parseTotals({ accounts, balance, ledgers })).toEqual({ problem })
  )
})
