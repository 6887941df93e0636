/** The one-pass encoder writes exactly what the schema encodes. */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { Account } from "../src/accounts/Account.ts"
import {
  NotesRequest,
  StatementsRequest,
  TransactionsRequest
} from "../src/additions/PostImportValidation.ts"
import { parse } from "../src/schema/Json.ts"
import { finish } from "../src/support/Steps.ts"
import { textEncoderOf, encoderOf, jsonInSteps } from "../src/schema/Encoder.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import {
  domesticPayload,
  notesPayload,
  statementsPayload,
  transactionsPayload
} from "../testing/samples.ts"

const compare = <A, I>(schema: Schema.Codec<A, I>, input: unknown) => {
  const value = Schema.decodeUnknownSync(schema)(input)
  const encoded = Schema.encodeSync(schema)(value)
  const written = encoderOf(schema)(value)
  expect(written).toStrictEqual(encoded)
  expect(JSON.stringify(written)).toBe(JSON.stringify(encoded))
  expect(finish(textEncoderOf(schema)(value))).toBe(JSON.stringify(encoded))
}

const times = <A>(count: number, make: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, index) => make(index))

describe("the one-pass encoder", () => {
  it("encodes every valid account exactly as the schema does", { timeout: 60_000 }, () => {
    fc.assert(fc.property(accountPayload(), (payload) => compare(Account, payload)))
  })

  it("encodes the other request bodies exactly as the schema does", () => {
    compare(Account, domesticPayload())
    compare(NotesRequest, notesPayload())
    compare(TransactionsRequest, transactionsPayload())
    compare(StatementsRequest, statementsPayload())
  })
})

describe("the encoder in steps", () => {
  const stepsOf = (text: string, value: unknown): number => {
    const steps = jsonInSteps(value)
    for (let count = 0; ; count++) {
      const step = steps.next()
      if (step.done !== true) continue
      expect(step.value).toBe(text)
      return count
    }
  }

  it("encodes an account of any size exactly as the schema does", { timeout: 60_000 }, () => {
    const sample = domesticPayload()
    const [ledger] = sample.ledgers
    const [transaction] = ledger?.current_statement_transactions ?? []
    compare(Account, {
      ...sample,
      customers: times(5_000, (index) => ({ family_name: `Holm ${index}` })),
      notes: times(30, () => ({ document_paths: times(3_000, () => ({ document_path: "a" })) })),
      ledgers: times(3, () => ({
        ...ledger,
        current_statement_transactions: times(4_000, () => transaction)
      })),
      metadata: [{ key: "k", value: { a: times(5_000, () => ({ b: [1] })), c: {}, d: [] } }]
    })
  })

  it("preserves any JSON value, with its key order and number spelling", () => {
    const value = fc.jsonValue({ maxDepth: 4, stringUnit: "binary" })
    fc.assert(
      fc.property(fc.array(value, { maxLength: 5 }), fc.boolean(), (values, inObjects) => {
        const list = times(3_000, (index) => values[index % values.length] ?? null)
        const many = inObjects
          ? Object.fromEntries(list.map((each, index) => [`k${index % 2_500}`, { each }]))
          : [list, { list }]
        stepsOf(JSON.stringify(many), many)
      }),
      { numRuns: 60 }
    )
    const keys = times(3_000, (index) => `"${index * 7}":1,"k${index}":[12345678901234567890]`)
    const parsed = Result.getOrThrow(parse(`{"__proto__":{"a":1},${keys.join(",")}}`))
    stepsOf(JSON.stringify(parsed), parsed)
  })

  it("yields to the event loop repeatedly", () => {
    for (const value of [
      times(100_000, () => 1),
      times(100, () => times(1_000, () => [1])),
      Object.fromEntries(times(10_000, (index) => [`k${index}`, { a: times(10, () => 1) }]))
    ]) {
      expect(stepsOf(JSON.stringify(value), value)).toBeGreaterThan(40)
    }
  })
})
