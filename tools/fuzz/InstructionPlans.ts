/**
 * Cases of payment instructions, whose vendor is simulated and fails at the words that a reference
 * has. References at which STRIPE fails are left to the fixed cases: it is asked by all others as
 * well, and after five failures in a row it is not asked for a while.
 */
import fc from "fast-check"
import { numbered, processStep, stageStep } from "./AccountPlans.ts"
import { type Expectation, type Plan, post, type Step } from "./Case.ts"
import { answers, both, faults, has } from "./Expectation.ts"
import { soundBody } from "./SoundBody.ts"
import { supplier } from "./Tenant.ts"

const path = "/v1/data-import/payment-instruction/create/"

/** An account as small as one can be. */
const smallAccount = (mark: string) =>
  numbered({ import_supplier: supplier, external_account_number: "", unknown_occupier: true }, mark)

interface Instruction {
  readonly vendor: string
  readonly reference: string
  readonly type: string
}

/** Puts the instruction on the account of this number. */
export const instructionStep = (
  number: string,
  instruction: Instruction,
  expect: Expectation
): Step => ({
  request: post(path, {
    import_supplier: supplier,
    external_account_number: number,
    ...instruction
  }),
  expect
})

/** On a new account, one instruction after the other. */
export const onNewAccount = (
  name: string,
  kind: Plan["kind"],
  ...instructions: ReadonlyArray<readonly [Instruction, Expectation]>
): Plan => ({
  operation: "createPaymentInstruction",
  kind,
  name,
  steps: (mark) => {
    const account = smallAccount(mark)
    const number = String(account["external_account_number"])
    return [
      stageStep(account),
      processStep(number),
      ...instructions.map(([instruction, expect]) => instructionStep(number, instruction, expect))
    ]
  }
})

export const card = (reference: string): Instruction => ({
  vendor: "STRIPE",
  reference,
  type: "CARD"
})

export const debit = (reference: string): Instruction => ({
  vendor: "GOCARDLESS",
  reference,
  type: "DIRECT_DEBIT"
})

/** Words at which the simulated vendors do not simply answer with an active instruction. */
const striking = /missing|inactive|down|slow|fault_/

/** Whole segments of a path that no vendor can have an instruction under. */
const leadsElsewhere = /^\.\.?$/

const reference = fc
  .oneof(
    fc.string({ unit: "binary", minLength: 1, maxLength: 60 }),
    fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 60 }),
    fc.constantFrom("../mandates", "a?b=c", "a#b", "%2e%2e/", "a b", "é", "x".repeat(512), "😀")
  )
  .map((text) => text.toWellFormed().replaceAll("\0", "~").trim())
  .filter((text) => text !== "" && !striking.test(text) && !leadsElsewhere.test(text))

const created = (sent: string): Expectation => both(answers("201"), has("reference", sent))

const valid: fc.Arbitrary<Plan> = fc.tuple(reference, reference).map(([first, other]) => {
  const second = first === other ? "another" : other
  const isActive = answers("400 active_payment_instruction_exists")
  return onNewAccount(
    "a card, again, and another one",
    "valid",
    [card(first), created(first)],
    [card(first), created(first)],
    [card(second), isActive]
  )
})

const rejected: fc.Arbitrary<Plan> = fc
  .constantFrom("missing", "inactive", "pm_missing", "seti_inactive_1", ".", "..")
  .map((word) =>
    onNewAccount(`a card that is ${word}`, "state", [
      card(word),
      answers("400 payment_instruction_rejected_by_vendor")
    ])
  )

const failing = [
  "fault_429",
  "fault_500",
  "fault_reset",
  "fault_garbage",
  "fault_unexpected",
  "fault_cut",
  "fault_truncated",
  "fault_huge",
  "down"
]

const away = answers("500 payment_vendor_unavailable")

/** Unless it has failed so often that it is not asked, the vendor is found at a wrong address. */
const moved = answers("400 payment_vendor_unreachable", "500 payment_vendor_unavailable")

const failures: fc.Arbitrary<Plan> = fc
  .constantFrom(...failing.map((word) => [word, away] as const), ["fault_redirect", moved] as const)
  .map(([word, expected]) => onNewAccount(`a debit at ${word}`, "state", [debit(word), expected]))

const spoiled: fc.Arbitrary<Plan> = fc
  .constantFrom(
    ["vendor", "PAYPAL", "vendor invalid_choice"],
    ["vendor", "stripe", "vendor invalid_choice"],
    ["type", "DIRECT_DEBIT", "type invalid_choice"],
    ["type", "card", "type invalid_choice"],
    ["reference", " ", "reference blank"],
    ["reference", "x".repeat(513), "reference max_length"],
    ["reference", "a\0", "reference invalid"],
    ["reference", "\ud800", "reference invalid"]
  )
  .map(([member = "", value, fault = ""]): Plan => ({
    operation: "createPaymentInstruction",
    kind: "mutant",
    name: fault,
    steps: () => [
      {
        request: post(path, { ...soundBody("createPaymentInstruction"), [member]: value }),
        expect: faults("400 request_failed_validation", fault)
      }
    ]
  }))

/** Payment instructions, each kind as often as its weight says. */
export const instructionPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  { weight: 4, arbitrary: valid },
  { weight: 2, arbitrary: rejected },
  { weight: 2, arbitrary: failures },
  { weight: 3, arbitrary: spoiled }
]
