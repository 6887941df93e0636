/** The control totals of a migration, and of one of its cohorts. */
import type * as Migrations from "@data-import/api/board/Migrations"
import { instant } from "./sampleMigrations.ts"

export const controlTotals = (
  { import_supplier, states, total }: Migrations.MigrationBody,
  now: number
): (typeof Migrations.ControlTotalsListBody.Type)["totals"] => {
  const expected = { set_by: "manager", set_at: instant(now - 86_400_000) } as const
  const { FAILED: failed, IMPORTED: accounts } = states
  const ledger = { ledger_code: "ELECTRICITY_LEDGER", balance: "-981022.10" }
  const whole = {
    import_supplier,
    cohort: null,
    at: instant(now),
    expected: {
      ...expected,
      accounts: total + 222,
      balance: "-1204518.36",
      ledger_balances: [ledger]
    },
    sent: { accounts: total },
    staged: { accounts: states.PENDING + failed + states.IN_PROGRESS, failed },
    arrived: {
      accounts,
      balance: "-771204.11",
      ledger_balances: [{ ...ledger, ledgers: accounts }]
    },
    differences: {
      accounts: accounts - total - 222,
      balance: "433314.25",
      ledger_balances: [{ ...ledger, balance: "0.00" }]
    }
  }
  const wave = { ...expected, accounts, balance: null, ledger_balances: null }
  const none = { accounts: 0, balance: null, ledger_balances: null }
  return [whole, { ...whole, cohort: "wave-1", expected: wave, differences: none }]
}
