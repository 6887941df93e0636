/**
 * Cases of additions to an account after its import. The items and their errors come from generated
 * accounts, which hold the same notes, transactions and statements.
 */
import { listElements } from "@data-import/domain/schema/Json"
import { type Mutant, mutationsOf } from "@data-import/domain/testing/mutants"
import { ruleBreakings } from "@data-import/domain/testing/mutantsOfRules"
import { get as at, objectsAt, put, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Expectation, type Plan, post, type Request, type Step } from "./Case.ts"
import type { Day } from "./Day.ts"
import { operation } from "./Document.ts"
import { answers, both, errorIn, has, hasLength } from "./Expectation.ts"
import { accounts, marked } from "./Steps.ts"
import { imported, openSince, supplier } from "./TenantNames.ts"

/** One of the requests that add a list; they differ only in the list. */
interface Addition {
  readonly operation: string
  readonly list: string
  /** The elements of an account payload, with ids that no other case has. */
  readonly elements: (account: Wire, mark: string) => ReadonlyArray<Wire>
  /** The path of the list in an account payload; the rest of the path is captured. */
  readonly place: RegExp
  /** The path of the results in the answer; empty for the answer itself. */
  readonly results: string
}

const renamed = (elements: ReadonlyArray<Wire>, id: string, mark: string): ReadonlyArray<Wire> =>
  elements.map((element, index) =>
    put(element, [id], marked(mark, `${index} ${String(element[id])}`))
  )

const notes: Addition = {
  operation: "createNotes",
  list: "notes",
  elements: (account) => objectsAt(account, "notes"),
  place: /^notes(?=\.|$)(.*)$/,
  results: ""
}

const transactions: Addition = {
  operation: "createTransactions",
  list: "transactions",
  elements: (account, mark) => {
    const ledgers = objectsAt(account, "ledgers")
    const all = ledgers.flatMap((ledger) => objectsAt(ledger, "current_statement_transactions"))
    return renamed(all, "transaction_id", mark)
  },
  place: /^ledgers\.\d+\.current_statement_transactions(?=\.|$)(.*)$/,
  results: "results"
}

const statements: Addition = {
  operation: "createHistoricalStatements",
  list: "statements",
  elements: (account, mark) => renamed(objectsAt(account, "statements"), "statement_id", mark),
  place: /^statements(?=\.|$)(.*)$/,
  results: "statements"
}

const requestOf = (addition: Addition, elements: unknown, number: string): Request =>
  post(operation(addition.operation).template, {
    import_supplier: supplier,
    external_account_number: number,
    [addition.list]: elements
  })

const accepted = ({ results }: Addition, count: number): Expectation =>
  both(answers("201"), hasLength(results, count))

const someAccount = fc.constantFrom(...imported)

const withList = (day: Day, { elements }: Addition): fc.Arbitrary<Wire> =>
  accounts(day).filter((account) => elements(account, "").length > 0)

const valid = (day: Day, addition: Addition): fc.Arbitrary<Plan> =>
  fc.tuple(withList(day, addition), someAccount).map(([account, number]) => ({
    operation: addition.operation,
    kind: "valid",
    name: `generated ${addition.list}, twice`,
    steps: (mark) => {
      const elements = addition.elements(account, mark)
      const step: Step = {
        request: requestOf(addition, elements, number),
        expect: accepted(addition, elements.length)
      }
      return [step, step]
    }
  }))

/** An error of the list in an account, as the request for the list has it. */
const brokenList = (addition: Addition, { body, error }: Mutant) => {
  const [, ledger] = error.attr.split(".")
  const elements =
    addition === transactions
      ? at(body, ["ledgers", Number(ledger), "current_statement_transactions"])
      : body[addition.list]
  const attr = error.attr.replace(addition.place, `${addition.list}$1`)
  return { elements, error: `${attr} ${error.code}` }
}

/** A rule of the account payload that does not hold for transactions that are added. */
const onlyInAccounts = "transaction_in_future"

/** The ways to break the list in an account. */
const breakings = (day: Day, { place }: Addition, account: Wire) =>
  mutationsOf(account, day.begin).filter(({ code, make, name }) => {
    if (code === onlyInAccounts) return false
    const [attr = ""] = Object.hasOwn(ruleBreakings, name) ? [make().error.attr] : name.split(" ")
    return place.test(attr)
  })

/** The smallest part of the account with the list, because every error of it is made. */
const around = ({ list }: Addition, account: Wire): Wire => {
  const name = list === "transactions" ? "ledgers" : list
  return {
    import_supplier: supplier,
    external_account_number: "1",
    unknown_occupier: true,
    [name]: account[name]
  }
}

const broken = (day: Day, addition: Addition): fc.Arbitrary<Plan> =>
  fc
    .tuple(withList(day, addition), someAccount)
    .chain(([account, number]) =>
      fc
        .constantFrom(...breakings(day, addition, around(addition, account)))
        .map((breaking) => ({ ...brokenList(addition, breaking.make()), number }))
    )
    .map(({ elements, error, number }) => ({
      operation: addition.operation,
      kind: "mutant",
      name: error,
      steps: () => {
        const request = requestOf(addition, elements, number)
        return [{ request, expect: errorIn(request, "400 request_failed_validation", error) }]
      }
    }))

/** A transaction of 20,000 items, as many as one may have. */
const largeTransaction = (transaction_id: string): Wire => ({
  transaction_id,
  transaction_date: openSince,
  amount: 0,
  type: "SUPPLY_CHARGE",
  product_code: "E",
  line_items: Array.from({ length: listElements }, () => ({
    start_date: openSince,
    end_date: openSince,
    number_of_units: 0,
    net_amount: 0
  })),
  tax_items: Array.from({ length: listElements }, () => ({
    amount: 0,
    tax_type: "VAT",
    value_taxed: 0,
    rate: 0,
    unit_type: "PROPORTION"
  }))
})

/** Names more stored items than one request may read. */
const tooManyItems: Plan = {
  operation: "createTransactions",
  kind: "state",
  name: "transactions of too many items that were added before",
  steps: (mark) => {
    const [number = ""] = imported
    const ids = Array.from({ length: 11 }, (_, index) => `${mark} ${index}`)
    const named = ids.map((transaction_id) => ({
      transaction_id,
      transaction_date: openSince,
      amount: 0,
      type: "CREDIT"
    }))
    return [
      ...ids.map((id) => ({
        request: requestOf(transactions, [largeTransaction(id)], number),
        expect: accepted(transactions, 1)
      })),
      {
        request: requestOf(transactions, named, number),
        expect: both(
          answers("400 too_many_existing_items"),
          has("status", "TRANSACTION_IMPORT_ERROR")
        )
      }
    ]
  }
}

export const postImportCases: ReadonlyArray<Plan> = [tooManyItems]

/** Additions to an account, each kind with its weight. */
export const postImportPlans = (day: Day): ReadonlyArray<fc.WeightedArbitrary<Plan>> =>
  [notes, transactions, statements].flatMap((addition) => [
    { weight: 3, arbitrary: valid(day, addition) },
    { weight: 4, arbitrary: broken(day, addition) }
  ])
