/** The fixed cases of control totals: whose they are, and what they may be. */
import { get, type Plan, plan, post } from "./Case.ts"
import { operation } from "./Document.ts"
import { answers, errors } from "./Expectation.ts"
import { completeSupplier, rivalSupplier, supplier } from "./TenantNames.ts"
import { pathOf, validBody } from "./ValidRequests.ts"

const own = pathOf(operation("setControlTotals"))
const of = (code: string): string => own.replace(supplier, () => code)
const put = (path: string, body: unknown) => ({ ...post(path, body), method: "PUT" })

const unknown: ReadonlyArray<Plan> = ["NOBODY", rivalSupplier, "%00"].flatMap((code) => [
  plan("getControlTotals", "state", `the supplier ${code}`, [
    get(of(code)),
    answers("404 not_found")
  ]),
  plan("setControlTotals", "state", `the supplier ${code}`, [
    put(of(code), validBody("setControlTotals")),
    answers("404 not_found")
  ])
])

const mutants: ReadonlyArray<readonly [path: string, body: unknown, error: string]> = [
  [own, { accounts: 1 }, "accounts unknown_field"],
  [own, { expected: { accounts: 100_000_001 } }, "expected.accounts max_value"],
  [own, { expected: { accounts: 1, balance: "1e999" } }, "expected.balance invalid"],
  [`${own}?cohort=`, {}, "cohort blank"],
  [`${own}?cohort=%00`, {}, "cohort invalid"]
]

export const controlTotalsPlans: ReadonlyArray<Plan> = [
  ...unknown,
  plan("setControlTotals", "state", "a supplier that is Complete", [
    put(of(completeSupplier), validBody("setControlTotals")),
    answers("400 import_supplier_migration_not_ongoing")
  ]),
  ...mutants.map(([path, body, error]) =>
    plan("setControlTotals", "mutant", `${path} ${JSON.stringify(body)}`, [
      put(path, body),
      errors("400 request_failed_validation", error)
    ])
  )
]
