/**
 * Cases of what is added to an account after its import. The items come from generated accounts,
 * which have the same notes, transactions and statements, and so do their faults.
 */
import { listElements } from "@data-import/domain/schema/Json"
import { type Mutant, mutationsOf } from "@data-import/domain/testing/mutants"
import { ruleBreakings } from "@data-import/domain/testing/mutantsOfRules"
import { get as at, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { accounts } from "./AccountPlans.ts"
import { accepted, type Addition, notes, requestOf, statements, transactions } from "./Addition.ts"
import { type Expectation, type Plan, post, type Step } from "./Case.ts"
import type { Day } from "./Day.ts"
import { answers, both, faultIn, faults, has } from "./Expectation.ts"
import { soundBody } from "./SoundBody.ts"
import { imported, openSince, supplier } from "./Tenant.ts"

const failed = "400 request_failed_validation"

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
      const request = post(addition.path, requestOf(addition, elements, number))
      const step: Step = { request, expect: accepted(addition, elements.length) }
      return [step, step]
    }
  }))

/** Whether a day lies in the open statement period of every imported account. */
const isOpen = (day: Day, date: unknown): boolean =>
  String(date) >= openSince && String(date) <= day.text

const parameters = fc.record({
  check_previously_added: fc.constantFrom("", "true", "false", "True"),
  force_add_to_current_statement: fc.constantFrom("", "true", "false", "FALSE")
})

const queryOf = (values: Readonly<Record<string, string>>): string => {
  const given = Object.entries(values).filter(([, value]) => value !== "")
  return given.length === 0 ? "" : `?${new URLSearchParams(given).toString()}`
}

const outsidePeriod: Expectation = both(
  answers("400 transaction_outside_open_period"),
  has("status", "TRANSACTION_IMPORT_ERROR")
)

const withParameters = (day: Day): fc.Arbitrary<Plan> =>
  fc
    .tuple(withList(day, transactions), someAccount, parameters)
    .map(([account, number, values]) => ({
      operation: "createTransactions",
      kind: "valid",
      name: `transactions with ${queryOf(values)}`,
      steps: (mark) => {
        const elements = transactions.elements(account, mark)
        const isForced = values.force_add_to_current_statement.toLowerCase() !== "false"
        const fits = elements.every(({ transaction_date }) => isOpen(day, transaction_date))
        const request = post(
          `${transactions.path}${queryOf(values)}`,
          requestOf(transactions, elements, number)
        )
        const expect = isForced || fits ? accepted(transactions, elements.length) : outsidePeriod
        return [{ request, expect }]
      }
    }))

const wrongParameters: fc.Arbitrary<Plan> = fc
  .tuple(
    fc.constantFrom("check_previously_added", "force_add_to_current_statement"),
    fc.constantFrom("", "1", "yes", "null", "truefalse", "true%00", "%E2%98%83", "true&X=1")
  )
  .map(([name, value]) => {
    const repeated = value.includes("&") ? value.replace("X", name) : value
    return {
      operation: "createTransactions",
      kind: "mutant",
      name: `${name}=${repeated}`,
      steps: () => [
        {
          request: post(
            `${transactions.path}?${name}=${repeated}`,
            soundBody("createTransactions")
          ),
          expect: faults(failed, `${name} invalid`)
        }
      ]
    }
  })

/** A misspelt parameter would move the date of money without a word. */
const misspelt: fc.Arbitrary<Plan> = fc
  .constantFrom("force_add_to_current_statment", "forceAddToCurrentStatement", "force", "dry_run")
  .map((name) => ({
    operation: "createTransactions",
    kind: "mutant",
    name: `${name}=false`,
    steps: () => {
      const { transactions: _, ...withoutList } = soundBody("createTransactions")
      const wrong = [`${name} unknown_parameter`, "transactions required"]
      const path = `${transactions.path}?${name}=false`
      return [{ request: post(path, withoutList), expect: faults(failed, ...wrong) }]
    }
  }))

/** A fault of the list in an account, as the request for the list has it. */
const brokenList = (addition: Addition, { body, fault }: Mutant) => {
  const [, ledger] = fault.attr.split(".")
  const elements =
    addition === transactions
      ? at(body, ["ledgers", Number(ledger), "current_statement_transactions"])
      : body[addition.list]
  const attr = fault.attr.replace(addition.place, `${addition.list}$1`)
  return { elements, fault: `${attr} ${fault.code}` }
}

/** The ways to break the list in an account. */
const breakings = (day: Day, { place, without }: Addition, account: Wire) =>
  mutationsOf(account, day.begin).filter(({ code, make, name }) => {
    if (without.has(code)) return false
    const [attr = ""] = Object.hasOwn(ruleBreakings, name) ? [make().fault.attr] : name.split(" ")
    return place.test(attr)
  })

/** As little of the account as has the list, since every fault of it is made. */
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
      fc.constantFrom(...breakings(day, addition, around(addition, account))).map((breaking) => {
        const { elements, fault } = brokenList(addition, breaking.make())
        return { elements, fault, number }
      })
    )
    .map(({ elements, fault, number }) => ({
      operation: addition.operation,
      kind: "mutant",
      name: fault,
      steps: () => {
        const request = post(addition.path, requestOf(addition, elements, number))
        return [{ request, expect: faultIn(request, failed, fault) }]
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

/** Names more of what is stored than one request may have read. */
const tooManyItems: Plan = {
  operation: "createTransactions",
  kind: "state",
  name: "transactions of too many items that were added before",
  steps: (mark) => {
    const [number = ""] = imported
    const ids = Array.from({ length: 11 }, (_, index) => `${mark} ${index}`)
    const request = (elements: ReadonlyArray<Wire>) =>
      post(transactions.path, requestOf(transactions, elements, number))
    const named = ids.map((transaction_id) => ({
      transaction_id,
      transaction_date: openSince,
      amount: 0,
      type: "CREDIT"
    }))
    return [
      ...ids.map((id) => ({
        request: request([largeTransaction(id)]),
        expect: accepted(transactions, 1)
      })),
      {
        request: request(named),
        expect: both(
          answers("400 too_many_existing_items"),
          has("status", "TRANSACTION_IMPORT_ERROR")
        )
      }
    ]
  }
}

export const postImportCases: ReadonlyArray<Plan> = [tooManyItems]

/** What is added to an account, each kind as often as its weight says. */
export const postImportPlans = (day: Day): ReadonlyArray<fc.WeightedArbitrary<Plan>> => [
  ...[notes, transactions, statements].flatMap((addition) => [
    { weight: 6, arbitrary: valid(day, addition) },
    { weight: 8, arbitrary: broken(day, addition) }
  ]),
  { weight: 5, arbitrary: withParameters(day) },
  { weight: 2, arbitrary: wrongParameters },
  { weight: 1, arbitrary: misspelt }
]
