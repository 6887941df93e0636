/** What is written in one pass is what the schema encodes, to the letter. */
import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import fc from "fast-check"
import { Account } from "../src/Account.ts"
import {
  NotesRequest,
  StatementsRequest,
  TransactionsRequest
} from "../src/PostImportValidation.ts"
import { writerOf } from "../src/Writer.ts"
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
  const written = writerOf(schema)(value)
  expect(written).toStrictEqual(encoded)
  expect(JSON.stringify(written)).toBe(JSON.stringify(encoded))
}

describe("what is written in one pass", () => {
  it("is what the schema encodes of any valid account", { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(accountPayload(), (payload) => compare(Account, payload)),
      { numRuns: 200 }
    )
  })

  it("is what the schema encodes of the other bodies", () => {
    compare(Account, domesticPayload())
    compare(NotesRequest, notesPayload())
    compare(TransactionsRequest, transactionsPayload())
    compare(StatementsRequest, statementsPayload())
  })

  it("is what the schema encodes of shapes that no body has", () => {
    const Pair = Schema.Tuple([Schema.NumberFromString, Schema.Date])
    compare(Pair, ["1", new Date(0)])
    compare(Schema.Record(Schema.String, Schema.NumberFromString), { a: "1", b: "2" })
    compare(Schema.Union([Schema.NumberFromString, Schema.Null]), null)
    compare(Schema.Union([Schema.Struct({ a: Schema.NumberFromString }), Schema.Null]), { a: "1" })
    compare(Schema.Array(Schema.Array(Schema.NumberFromString)), [["1"], []])
    compare(Schema.Struct({ a: Schema.optionalKey(Schema.Date), b: Schema.Date }), {
      b: new Date(0)
    })
  })
})
