/** The decision whether an account is reverted, and the order of its refusals. */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import { AccountNumber, ExternalAccountNumber } from "../src/accounts/Account.ts"
import { AttemptId, type ImportProcess } from "../src/imports/ImportProcess.ts"
import { decideRevert, type NamedAccount, type RevertView } from "../src/imports/Revert.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"
import { noon, noonPlus } from "../testing/freshNames.ts"

const key = {
  import_supplier: SupplierCode.make("ENERGY"),
  external_account_number: ExternalAccountNumber.make("AL-1")
}
const number = AccountNumber.make("A-0000000A")
const other = AccountNumber.make("A-0000000B")
const none = { transactions: 0, notes: 0, statements: 0, payment_instructions: 0 }

const account: NamedAccount = {
  createdAt: noon,
  isReverted: false,
  additions: none,
  active: null,
  hasPayload: true
}

const process: ImportProcess = {
  key,
  skipped: false,
  erased: false,
  lease: null,
  account: { number, createdAt: noon },
  revertedAt: null
}

const view: RevertView = {
  at: noonPlus(60),
  details: { process, hasFailed: false },
  status: "Ongoing",
  window: 14,
  named: account
}

const decided = (
  more: Partial<Omit<RevertView, "details">>,
  changed: Partial<ImportProcess> = {},
  options = {}
) => {
  const details = { ...view.details, process: { ...process, ...changed } }
  const decision = decideRevert(
    key,
    { ...view, details, ...more },
    { number, withAdditions: false, ...options }
  )
  return Result.isSuccess(decision) ? decision.success : decision.failure.code
}

const pending = { account: null }
const running = {
  account: null,
  lease: { attempt: AttemptId.make("a"), expiresAt: noonPlus(90), isDryRun: false }
}
const added = { ...account, additions: { ...none, notes: 1 } }
const closed = DateTime.addDuration(noon, "14 days")

describe("a revert", () => {
  it("is allowed while the supplier is Ongoing or Paused, and repeated without effect", () => {
    expect(decided({})).toBe(true)
    expect(decided({ status: "Paused" })).toBe(true)
    expect(decided({ named: { ...account, isReverted: true } }, pending)).toBe(false)
    expect(decided({ named: { ...account, isReverted: true } }, running)).toBe(false)
  })

  it("is open until the last instant of the window, and longer for the operator", () => {
    expect(decided({ at: DateTime.subtract(closed, { milliseconds: 1 }) })).toBe(true)
    expect(decided({ at: closed })).toBe("revert_window_closed")
    expect(decided({ window: 0 })).toBe("revert_window_closed")
    expect(decided({ at: closed }, {}, { beyondWindow: true })).toBe(true)
  })

  it("ends with additions only if that is said", () => {
    expect(decided({ named: added }, {}, { withAdditions: true })).toBe(true)
  })

  it("is refused with the first of these codes that applies", () => {
    const late = { at: closed, named: added }
    expect([
      decided({ status: "Complete" }, { erased: true }),
      decided({ named: { ...account, isReverted: true } }, { erased: true }),
      decided({ named: null }, running),
      decided({ named: null }, pending),
      decided({ named: null }, { ...pending, skipped: true }),
      decided({ ...late, named: null }),
      decided(late, { account: { number: other, createdAt: noon } }),
      decided(late),
      decided({ named: { ...added, hasPayload: false } }),
      decided({ named: { ...account, hasPayload: false } })
    ]).toEqual([
      "import_supplier_migration_not_ongoing",
      "account_import_process_erased",
      "account_import_process_in_progress",
      "account_import_process_not_imported",
      "account_import_process_not_imported",
      "account_number_differs",
      "account_number_differs",
      "revert_window_closed",
      "account_has_additions",
      "payload_not_kept"
    ])
  })
})
