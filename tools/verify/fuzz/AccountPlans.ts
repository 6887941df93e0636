/** Cases of accounts that are read back: their owner and their content. */
import { get, plan, type Plan } from "./Case.ts"
import { answers, both, has } from "./Expectation.ts"
import { readAccount, readSupplier, rivalSupplier } from "./TenantNames.ts"

const root = "/v1/data-import/accounts/"
const account = `${root}${readAccount}/`
const listOf = (supplier: string) => `${root}?import_supplier=${supplier}`

const notFound = answers("404 not_found")

export const accountPlans: ReadonlyArray<Plan> = [
  plan("getAccount", "state", "the account of the run", [
    get(account),
    both(answers("200"), has("account.import_supplier", readSupplier))
  ]),
  plan("getAccount", "state", "an account of another", [get(account, "rival"), notFound]),
  plan("getAccount", "state", "an account that is not there", [
    get(`${root}A-00000000/`),
    notFound
  ]),
  plan("listAccounts", "state", "a supplier of another", [get(listOf(rivalSupplier)), notFound]),
  plan("listAccounts", "state", "a supplier that is not there", [get(listOf("NOBODY")), notFound])
]
