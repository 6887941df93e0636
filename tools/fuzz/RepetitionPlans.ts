/**
 * Cases of what is sent again: what came with the account is on it already, what is sent several
 * times at once is added once, and no answer is an error.
 */
import { get as at, objectsAt, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { accounts, numbered, processStep, stageStep } from "./AccountPlans.ts"
import { accepted, type Addition, notes, requestOf, statements, transactions } from "./Addition.ts"
import { type Expectation, type Plan, post, type Reply, type Step } from "./Case.ts"
import type { Day } from "./Day.ts"
import { answers, both } from "./Expectation.ts"
import { card, instructionStep } from "./InstructionPlans.ts"
import { imported } from "./Tenant.ts"

const statusesOf = ({ value }: Reply): ReadonlyArray<string> => {
  const results = at(value, "results") ?? value
  return Array.isArray(results) ? results.map((result) => String(at(result, "status"))) : []
}

/** Every result of every answer says that the element is there. */
const areThere: Expectation = (replies) => {
  const others = replies.flatMap(statusesOf).filter((status) => !status.endsWith("_ALREADY_EXISTS"))
  return others.length === 0 ? [] : [`what came with the account was added: ${others.join(", ")}`]
}

/** Of the results for one element, exactly one says that it was added. */
const addedOnce =
  (count: number): Expectation =>
  (replies) =>
    Array.from({ length: count }, (_, index) => {
      const statuses = replies.map((reply) => statusesOf(reply)[index] ?? "none")
      const added = statuses.filter((status) => !status.endsWith("_ALREADY_EXISTS"))
      return added.length === 1 ? [] : [`element ${index} was added ${added.length} times`]
    }).flat()

/** What the account came with, as the request for it has it. */
const broughtAlong = ({ operation }: Addition, account: Wire): ReadonlyArray<Wire> => {
  if (operation === notes.operation) return objectsAt(account, "notes")
  if (operation === statements.operation) return objectsAt(account, "statements")
  return objectsAt(account, "ledgers").flatMap((ledger) => [
    ...objectsAt(ledger, "historical_statement_transactions"),
    ...objectsAt(ledger, "current_statement_transactions")
  ])
}

const onceMore = (addition: Addition, account: Wire, number: string): ReadonlyArray<Step> => {
  const elements = broughtAlong(addition, account)
  if (elements.length === 0) return []
  const request = post(addition.path, requestOf(addition, elements, number))
  const expect = accepted(addition, elements.length)
  return [{ request, expect: addition === statements ? expect : both(expect, areThere) }]
}

const additions = [notes, transactions, statements]

const sentAgain = (day: Day): fc.Arbitrary<Plan> =>
  fc
    .tuple(
      accounts(day).filter((account) =>
        additions.some((addition) => broughtAlong(addition, account).length > 0)
      ),
      fc.constantFrom(...additions)
    )
    .map(([payload, last]) => ({
      operation: last.operation,
      kind: "state",
      name: "what came with the account",
      steps: (mark) => {
        const account = numbered(payload, mark)
        const number = String(account["external_account_number"])
        const order = [...additions.filter((addition) => addition !== last), last]
        return [
          stageStep(account),
          processStep(number),
          ...order.flatMap((addition) => onceMore(addition, account, number))
        ]
      }
    }))

/** Under bodies of their own, since two notes of the same body are one. */
const ownElements = (addition: Addition, account: Wire, mark: string): ReadonlyArray<Wire> => {
  const elements = addition.elements(account, mark)
  return addition === notes
    ? elements.map((note, index) => ({ ...note, body: `${mark} ${index}` }))
    : elements
}

const atOnce = (day: Day): fc.Arbitrary<Plan> =>
  fc
    .constantFrom(...additions)
    .chain((addition) =>
      fc.tuple(
        fc.constant(addition),
        accounts(day).filter((account) => addition.elements(account, "").length > 0),
        fc.constantFrom(...imported),
        fc.integer({ min: 2, max: 4 })
      )
    )
    .map(([addition, account, number, times]) => ({
      operation: addition.operation,
      kind: "state",
      name: `${addition.list} several times at once`,
      steps: (mark) => {
        const elements = ownElements(addition, account, mark)
        const request = post(addition.path, requestOf(addition, elements, number))
        const expect = accepted(addition, elements.length)
        const once = addedOnce(elements.length)
        return [{ request, times, expect: addition === statements ? expect : both(expect, once) }]
      }
    }))

const oneInstruction = (day: Day): fc.Arbitrary<Plan> =>
  fc.tuple(accounts(day), fc.integer({ min: 2, max: 4 })).map(([payload, times]) => ({
    operation: "createPaymentInstruction",
    kind: "state",
    name: "a card several times at once",
    steps: (mark) => {
      const account = numbered(payload, mark)
      const number = String(account["external_account_number"])
      return [
        stageStep(account),
        processStep(number),
        { ...instructionStep(number, card("pm_1"), answers("201")), times }
      ]
    }
  }))

/** What is sent again, each kind as often as its weight says. */
export const repetitionPlans = (day: Day): ReadonlyArray<fc.WeightedArbitrary<Plan>> => [
  { weight: 4, arbitrary: sentAgain(day) },
  { weight: 3, arbitrary: atOnce(day) },
  { weight: 1, arbitrary: oneInstruction(day) }
]
