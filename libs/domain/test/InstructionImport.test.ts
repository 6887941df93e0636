/**
 * Creating a payment instruction: the request to the vendor, the meaning of its answer, and the
 * stored data.
 * Source: docs/contract/post-import.md#create-payment-instruction,
 * docs/contract/post-import.md#payment-vendors.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { noFaults } from "../testing/faults.ts"
import { get, type Wire } from "../testing/wire.ts"
import {
  audited,
  beginImported,
  call,
  onAccount,
  operations,
  postImport,
  world
} from "./postImportPrograms.ts"
import { demo, errorsOf } from "./importPrograms.ts"

/** Words in a reference, and the refusal that they cause. */
const refusals: ReadonlyArray<readonly [reference: string, code: string, reason?: string]> = [
  ["missing", "payment_instruction_rejected_by_vendor", "unknown"],
  ["inactive", "payment_instruction_rejected_by_vendor", "inactive"],
  ["fault_wrongtype", "payment_instruction_rejected_by_vendor", "wrong_type"],
  ["fault_unauthorized", "payment_instruction_rejected_by_vendor", "credentials"],
  ["fault_refused", "payment_instruction_rejected_by_vendor", "refused"],
  ["fault_redirect", "payment_vendor_unreachable"],
  ["down", "payment_vendor_unavailable"],
  ["slow", "payment_vendor_unavailable"],
  ["fault_429", "payment_vendor_unavailable"]
]

describe("an instruction that the vendor does not confirm", () => {
  it.effect.each(refusals)("changes nothing on the account: %s", ([reference, code, reason]) =>
    Effect.gen(function* () {
      yield* beginImported()
      const before = yield* onAccount
      const program = yield* postImport()
      const refused = yield* Effect.flip(call(program, "instruction", { reference }))
      expect(refused).toMatchObject(reason === undefined ? { code } : { code, reason })
      expect(yield* onAccount).toEqual(before)
      expect(yield* audited).toEqual([`create_payment_instruction ${code}`])
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused if the vendor is on the code list but not configured", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const unknown = yield* Effect.flip(call(program, "instruction", { vendor: "ADYEN" }))
      expect(errorsOf(unknown)).toEqual(["vendor invalid_choice"])
      const configuration = yield* Configuration
      yield* configuration.addCode("vendor", "ADYEN")
      const refused = yield* Effect.flip(call(program, "instruction", { vendor: "ADYEN" }))
      expect(refused).toMatchObject({ code: "payment_vendor_unreachable" })
    }).pipe(Effect.provide(world))
  )
})

describe("a payment instruction", () => {
  it.effect("is verified once, stored with its details and answered with the account", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const plan = noFaults()
      const program = yield* postImport(plan)
      const { body } = operations.instruction
      const answer = yield* program.createPaymentInstruction(demo, body)
      expect(answer).toMatchObject({ reference: "pm_1" })
      expect(answer.kraken_account_number).toMatch(/^A-[0-9A-F]{8}$/)
      expect(answer.isNew).toBe(true)
      const again = yield* program.createPaymentInstruction(demo, body)
      expect(again).toEqual({ ...answer, isNew: false })
      expect(plan.calls().filter(({ operation }) => operation === "verify")).toHaveLength(1)
      expect((yield* onAccount).payment_instructions).toEqual([
        {
          vendor: "STRIPE",
          reference: "pm_1",
          type: "CARD",
          details: { brand: "visa", last_four: "4242", expiry_month: 12, expiry_year: 2099 },
          ended_at: null
        }
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect.each<readonly [string, Wire]>([
    ["another reference", { reference: "pm_2" }],
    ["another vendor", { vendor: "GOCARDLESS", type: "DIRECT_DEBIT" }],
    ["one that the vendor would refuse", { reference: "missing" }]
  ])("blocks every other instruction, and no vendor is asked: %s", ([, values]) =>
    Effect.gen(function* () {
      yield* beginImported()
      const plan = noFaults()
      const program = yield* postImport(plan)
      yield* call(program, "instruction")
      const before = yield* onAccount
      const refused = yield* Effect.flip(call(program, "instruction", values))
      expect(refused).toMatchObject({ code: "active_payment_instruction_exists" })
      expect(yield* onAccount).toEqual(before)
      expect(plan.calls().filter(({ operation }) => operation === "verify")).toHaveLength(1)
    }).pipe(Effect.provide(world))
  )

  it.effect("is added once when it is sent concurrently", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const program = yield* postImport()
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => call(program, "instruction")),
        { concurrency: "unbounded" }
      )
      const accounts = answers.map((answer) => get(answer, "kraken_account_number"))
      expect(new Set(accounts).size).toBe(1)
      const isNew = answers.map((answer) => JSON.stringify(answer).includes('"isNew":true'))
      expect(isNew.filter(Boolean)).toHaveLength(1)
      expect((yield* onAccount).payment_instructions).toHaveLength(1)
    }).pipe(Effect.provide(world))
  )
})
