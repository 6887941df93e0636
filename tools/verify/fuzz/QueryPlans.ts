/** The fixed cases of queries about imports in every state. */
import { type Expectation, get, type Plan, plan } from "./Case.ts"
import { operations } from "./Document.ts"
import { answers, both, errors, has } from "./Expectation.ts"
import { importPath, statusPath } from "./Steps.ts"
import { held, imported, skipped, staged, supplier } from "./TenantNames.ts"
import { pathOf, shortened } from "./ValidRequests.ts"

/** The states of the summary add up to its total. */
const statesClose: Expectation = (replies) =>
  replies.every(({ value }) => {
    const { states, total } = value as { readonly states: Record<string, number>; total: number }
    return Object.values(states).reduce((sum, count) => sum + count, 0) === total
  })
    ? []
    : ["the states do not sum up to the total"]

export const queryPlans: ReadonlyArray<Plan> = [
  ...[
    [staged, "UNKNOWN"],
    [skipped, "UNKNOWN"],
    [held, "IN_PROGRESS"],
    [imported[0] ?? "", "COMPLETED"]
  ].map(([number = "", status = ""]) =>
    plan("getAccountImportStatus", "state", `${number} is ${status}`, [
      get(statusPath(supplier, number)),
      both(answers("200"), has("status", status))
    ])
  ),
  ...[
    [staged, "PENDING"],
    [skipped, "SKIPPED"],
    [held, "IN_PROGRESS"],
    [imported[0] ?? "", "IMPORTED"]
  ].map(([number = "", told = ""]) =>
    plan("getImport", "state", `${number} is ${told}`, [
      get(importPath(supplier, number)),
      both(answers("200"), has("state", told))
    ])
  ),
  plan("getSupplierSummary", "state", "a summary that closes", [
    get(`/v1/data-import/suppliers/${supplier}/summary/`),
    both(answers("200"), statesClose)
  ]),
  plan("getSupplierSummary", "state", "a cohort without imports", [
    get(`/v1/data-import/suppliers/${supplier}/summary/?cohort=nobody`),
    both(answers("200"), has("total", 0))
  ]),
  plan("getSupplierSummary", "mutant", "a blank cohort", [
    get(`/v1/data-import/suppliers/${supplier}/summary/?cohort=%20`),
    errors("400 request_failed_validation", "cohort blank")
  ]),
  plan("getSupplierConfiguration", "state", "the configuration", [
    get(`/v1/data-import/suppliers/${supplier}/configuration/`),
    both(answers("200"), has("import_supplier", supplier))
  ]),
  plan("getSupplierConfiguration", "mutant", "a parameter that it does not have", [
    get(`/v1/data-import/suppliers/${supplier}/configuration/?cohort=wave`),
    errors("400 request_failed_validation", "cohort unknown_parameter")
  ]),
  ...operations
    .filter(({ method, template }) => method === "GET" && template.includes("{import_supplier}"))
    .map(({ id, template }) =>
      plan(id, "state", "a supplier that is not there", [
        get(template.replace(/\{\w+\}/g, "NOBODY")),
        answers("404 not_found")
      ])
    ),
  ...operations
    .filter((asked) => shortened(asked).includes("limit="))
    .map((asked) =>
      plan(asked.id, "mutant", "a limit of nothing", [
        get(`${pathOf(asked)}?${shortened(asked).replace("limit=2", "limit=0")}`),
        errors("400 request_failed_validation", "limit min_value")
      ])
    )
]
