/**
 * The three requests that add a list to an imported account, alike but for what is in the list. An
 * account payload has the same elements.
 */
import { objectsAt, put, type Wire } from "@data-import/domain/testing/wire"
import type { Expectation } from "./Case.ts"
import { answers, both, hasLength } from "./Expectation.ts"
import { supplier } from "./Tenant.ts"

/** One of the requests that add a list. */
export interface Addition {
  readonly operation: string
  readonly path: string
  readonly list: string
  /** The elements that an account payload has of it, with what is different here. */
  readonly elements: (account: Wire, mark: string) => ReadonlyArray<Wire>
  /** Where the list stands in an account payload: the rest of its path in parentheses. */
  readonly place: RegExp
  /** Rules of the account payload that do not hold here. */
  readonly without: ReadonlySet<string>
}

const cut = (text: string): string => Array.from(text).slice(0, 128).join("").trim()

/** The elements under ids that no other case has. */
const renamed = (elements: ReadonlyArray<Wire>, id: string, mark: string): ReadonlyArray<Wire> =>
  elements.map((element, index) =>
    put(element, [id], cut(`${mark} ${index} ${String(element[id])}`))
  )

export const notes: Addition = {
  operation: "createNotes",
  path: "/v1/data-import/notes/create/",
  list: "notes",
  elements: (account) => objectsAt(account, "notes"),
  place: /^notes(?=\.|$)(.*)$/,
  without: new Set()
}

export const transactions: Addition = {
  operation: "createTransactions",
  path: "/v1/data-import/transactions/create/",
  list: "transactions",
  elements: (account, mark) => {
    const ledgers = objectsAt(account, "ledgers")
    const all = ledgers.flatMap((ledger) => objectsAt(ledger, "current_statement_transactions"))
    return renamed(all, "transaction_id", mark)
  },
  place: /^ledgers\.\d+\.current_statement_transactions(?=\.|$)(.*)$/,
  without: new Set(["transaction_in_future"])
}

export const statements: Addition = {
  operation: "createHistoricalStatements",
  path: "/v1/data-import/historical-statements/create/",
  list: "statements",
  elements: (account, mark) => renamed(objectsAt(account, "statements"), "statement_id", mark),
  place: /^statements(?=\.|$)(.*)$/,
  without: new Set()
}

/** The request that adds these to the account of this number. */
export const requestOf = ({ list }: Addition, elements: unknown, number: string): Wire => ({
  import_supplier: supplier,
  external_account_number: number,
  [list]: elements
})

/** So many results, or as many elements as were sent. */
export const accepted = ({ operation: id }: Addition, count: number): Expectation => {
  if (id === "createNotes") return both(answers("201"), hasLength("", count))
  if (id === "createTransactions") return both(answers("201"), hasLength("results", count))
  return both(answers("201"), hasLength("statements", count))
}
