/**
 * The reported errors of a body: all if there are at most 1,000, otherwise 1,000 of them.
 * Source: docs/contract/errors.md#number-of-errors.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { Account, encodeAccount } from "../src/accounts/Account.ts"
import { account, factsAt, processRequest } from "../src/accounts/AccountValidation.ts"
import { maxErrors } from "../src/schema/FieldErrors.ts"
import { parseInSteps } from "../src/schema/Json.ts"
import { finish, type Steps } from "../src/support/Steps.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import { objectsAt, type Wire } from "../testing/wire.ts"
import { damaged } from "./damagedPayloads.ts"
import { errorsIn, sampleWith } from "./validationErrors.ts"

const slow = { timeout: 60_000 }
const facts = factsAt(sampleTime)

const found = (payload: unknown) => {
  const result = finish(account.validateInSteps(payload, facts))
  return Result.isFailure(result) ? result.failure : { errors: [], more: false }
}

const times = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index))

describe("a body with up to 1,000 errors", () => {
  it("has the same errors reported if it is decoded in steps", slow, () => {
    fc.assert(
      fc.property(accountPayload().chain(damaged), (payload) => {
        const withCustomers = (count: number) =>
          found({ ...payload, customers: times(count, () => ({ family_name: "Holm" })) })
        expect(withCustomers(5_000)).toEqual(withCustomers(1))
      }),
      { numRuns: 20 }
    )
  })
})

describe("a body with more than 1,000 errors", () => {
  it.each([999, 1_000, 1_001, 1_002])("is reported with the first 1,000 of %i errors", (count) => {
    const payload = sampleWith({ customers: times(count, () => ({ family_name: "" })) })
    const { errors, more } = found(payload)
    expect(errors.map(({ attr }) => attr)).toEqual(
      times(Math.min(count, maxErrors), (index) => `customers.${index}`)
    )
    expect(more).toBe(count > maxErrors)
  })

  const free = (value: unknown) => ({ metadata: [{ key: "k", value: { value } }] })
  const transaction = (values: object) => ({
    transaction_id: "T",
    transaction_date: "2025-01-01",
    amount: 1,
    type: "CREDIT",
    ...values
  })
  const ofLedger = (make: (index: number) => unknown) => ({
    ledgers: [{ ledger_code: "L", current_statement_transactions: times(5_000, make) }]
  })

  it.each<[string, Wire]>([
    ["unknown fields", Object.fromEntries(times(5_000, (index) => [`f${index}`, 1]))],
    ["unknown fields, one an object", { customers: times(5_000, () => ({ family: "A" })) }],
    ["wrong types", { customers: times(5_000, () => 1) }],
    ["nulls", { notes: times(5_000, () => null) }],
    ["missing fields", { supply_addresses: times(5_000, () => ({})) }],
    ["wrong decimals", ofLedger(() => transaction({ amount: "1,5" }))],
    ["wrong dates", ofLedger(() => transaction({ transaction_date: "2025-13-01" }))],
    ["wrong phone numbers", { customers: times(5_000, () => ({ landline: "12" })) }],
    ["rules broken by elements", ofLedger(() => transaction({ payment_type: "CASH" }))],
    ["rules broken by one rule", { customers: times(5_000, () => ({})) }],
    ["texts that cannot be stored", free(times(5_000, () => "\0"))],
    ["keys that cannot be stored", free(times(5_000, () => ({ "\0": 1 })))],
    ["lists too long", free(times(1_100, () => times(10_001, () => 0)))]
  ])("is reported as cut for errors of %s", slow, (_name, values) => {
    const { errors, more } = found({ ...domesticPayload(), ...values })
    expect([errors.length, more]).toEqual([maxErrors, true])
  })

  it("is reported as cut for errors of task_params", () => {
    const params = Object.fromEntries(times(5_000, (index) => [`p${index}`, 1]))
    const result = finish(processRequest.validateInSteps({ task_params: params }, facts))
    expect(Result.isFailure(result) && result.failure).toMatchObject({ more: true })
  })
})

describe("the attr of an error", () => {
  it("has bounded length for long keys on its path", () => {
    const long = "k".repeat(100_000)
    const value = { [long]: { a: "\0", [long]: "\0" } }
    const { errors } = found(sampleWith({ "metadata.0.value": value }))
    const within = `metadata.0.value.${"k".repeat(256)}…`
    expect(errors.map(({ attr }) => attr)).toEqual([`${within}.a`, `${within}.${long}`])
  })

  it("has bounded length for many long keys on its path", () => {
    const long = "k".repeat(200)
    const value = times(20, () => 0).reduce<unknown>((inside) => ({ [long]: inside }), ["\0", "\0"])
    const { errors } = found(sampleWith({ "metadata.0.value": value }))
    const within = `metadata.0.value.${long}.${long}.${"k".repeat(93)}…`
    expect(errors.map(({ attr }) => attr)).toEqual([`${within}.0`, `${within}.1`])
  })
})

describe("the detail of an error", () => {
  it("names ten of the repeated values", () => {
    const ids = times(60, (index) => `T${index % 30}`)
    const current = ids.map((transaction_id) => ({
      transaction_id,
      transaction_date: "2025-05-02",
      amount: 1,
      type: "CREDIT"
    }))
    const ledger = { ledger_code: "L", current_statement_transactions: current }
    const { errors } = found({ ...domesticPayload(), transfer_balance: 60, ledgers: [ledger] })
    expect(errors.map(({ code, detail }) => `${code}: ${detail}`)).toEqual([
      "duplicate_transaction_ids: Sent more than once: " +
        "T0, T1, T2, T3, T4, T5, T6, T7, T8, T9 and 20 more."
    ])
  })
})

describe("a free object", () => {
  const membersOf = (count: number) => Object.fromEntries(times(count, (index) => [`m${index}`, 1]))

  it("may have at most as many members as a list has elements, at any depth", () => {
    expect(errorsIn(sampleWith({ "metadata.0.value": { a: [membersOf(10_000)] } }))).toEqual([])
    expect(errorsIn(sampleWith({ "metadata.0.value": { a: [membersOf(10_001)] } }))).toEqual([
      "metadata.0.value.a.0 max_length"
    ])
    const address = { country: "DK", structured_street_address: membersOf(10_001) }
    expect(errorsIn(sampleWith({ billing_address: address }))).toEqual([
      "billing_address.structured_street_address max_length"
    ])
  })
})

describe("a body of any size", () => {
  const stepsOf = <A>(steps: Steps<A>): number => {
    let count = 0
    while (steps.next().done !== true) count++
    return count
  }

  it("is decoded to the same value as by the schema", slow, () => {
    const sample = domesticPayload()
    const ledger = objectsAt(sample, "ledgers")[0] as Wire
    const large = sampleWith({
      transfer_balance: 50,
      customers: times(6_000, (index) => ({ family_name: ` Holm ${index} ` })),
      ledgers: times(400, (index) => ({ ...ledger, ledger_code: `L${index}` })),
      metadata: times(500, (index) => ({ key: `k${index}`, value: { a: [index, { b: "x" }] } }))
    })
    const reversed = Object.fromEntries(Object.entries(large).toReversed())
    expect(found(reversed).errors.map(({ code }) => code)).toEqual([
      "duplicate_transaction_ids",
      "ledger_balances_not_equal_to_transfer_balance"
    ])
    const valid = Result.getOrThrow(
      finish(account.validateInSteps({ ...reversed, ledgers: [ledger] }, facts))
    )
    const decoded = Schema.decodeUnknownSync(Account)({ ...reversed, ledgers: [ledger] })
    expect(JSON.stringify(encodeAccount(valid))).toBe(JSON.stringify(encodeAccount(decoded)))
  })

  it("is parsed and validated in steps of about a thousandth of the work", slow, () => {
    const large = sampleWith({ customers: times(10_000, () => ({ family_name: "Holm" })) })
    const broken = sampleWith({ customers: times(10_000, () => ({ family_name: "Holm", a: 1 })) })
    const text = JSON.stringify(large)
    expect(stepsOf(parseInSteps(text))).toBeGreaterThanOrEqual(Math.floor(text.length / 5_000))
    expect(stepsOf(account.validateInSteps(large, facts))).toBeGreaterThan(10_000 / 64)
    expect(stepsOf(account.validateInSteps(broken, facts))).toBeGreaterThan(1_000)
    const deep = sampleWith({ "metadata.0.value": { a: times(9_000, () => ({ b: [1, 2] })) } })
    expect(stepsOf(account.validateInSteps(deep, facts))).toBeGreaterThan(9_000)
  })

  it("is validated no further once it has too many errors", slow, () => {
    const customers = times(10_000, () => 1)
    let read = 0
    const watched = new Proxy(customers, {
      get: (target, key, receiver) => {
        if (typeof key === "string" && /^\d+$/.test(key)) read++
        return Reflect.get(target, key, receiver) as unknown
      }
    })
    expect(found({ ...domesticPayload(), customers: watched }).more).toBe(true)
    expect(read).toBeLessThan(2_100)
  })
})
