/** The one-pass decoder returns the schema's values, and none that the schema rejects. */
import { describe, expect, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import fc from "fast-check"
import { Account } from "../src/accounts/Account.ts"
import { AccountRequest, ProcessRequest } from "../src/accounts/AccountValidation.ts"
import { listElements, parse } from "../src/schema/Json.ts"
import { NotesRequest, TransactionsRequest } from "../src/additions/PostImportValidation.ts"
import { decoderOf } from "../src/schema/Decoder.ts"
import { invalid } from "../src/schema/LeafDecoder.ts"
import { accountPayload } from "../testing/arbitraries.ts"
import { mutationsOf } from "../testing/mutants.ts"
import { domesticPayload, notesPayload, transactionsPayload } from "../testing/samples.ts"
import { get, put } from "../testing/wire.ts"

const slow = { timeout: 60_000 }

const many = (length: number) => Array.from({ length }, () => ({ document_path: "a.pdf" }))

/** Expects equal results of both, including the order of members. */
const compare = <A>(schema: Schema.Codec<A, unknown>, input: unknown) => {
  const decode = Schema.decodeUnknownResult(schema, { onExcessProperty: "error" })
  const read = decoderOf(schema)(input)
  const decoded = decode(input)
  if (Result.isFailure(decoded)) return expect(read).toBe(invalid)
  expect(read).toStrictEqual(decoded.success)
  expect(JSON.stringify(read)).toBe(JSON.stringify(decoded.success))
}

describe("the one-pass decoder", () => {
  it("returns the same value as the schema for any valid account", slow, () => {
    fc.assert(
      fc.property(accountPayload(), (payload) => {
        expect(decoderOf(Account)(payload)).not.toBe(invalid)
        compare(Account, payload)
      })
    )
  })

  it("returns the same value as the schema for the other request bodies", () => {
    compare(AccountRequest, { payload: domesticPayload() })
    compare(NotesRequest, { payload: notesPayload() })
    compare(TransactionsRequest, { payload: transactionsPayload() })
    compare(ProcessRequest, {
      payload: { import_supplier: "S", external_account_number: "1", operations_team_name: " T " },
      task_params: {}
    })
  })

  it("rejects an account with any single error that the schema detects", slow, () => {
    for (const { make } of mutationsOf(domesticPayload())) {
      const { body, error } = make()
      if (error.code === "max_length" && Array.isArray(get(body, error.attr))) {
        expect(decoderOf(Account)(body)).toBe(invalid)
      } else {
        compare(Account, body)
      }
    }
  })

  it.each<[string, unknown]>([
    ["text that nobody can store", { a: [{ b: "\0" }] }],
    ["half of a character", { a: ["\ud800"] }],
    ["a key that nobody can store", { a: { "b\0": 1 } }],
    ["a list that is too long", { a: { b: Array.from({ length: listElements + 1 }, () => 1) } }],
    ["all that can be stored", { a: [null, 1.5, true, "é", { "": [[]] }], b: {} }]
  ])("agrees with the schema on an object without documented members, with %s", (_name, value) => {
    compare(Account, put(domesticPayload(), "metadata.0.value", value))
    compare(Account, put(domesticPayload(), "billing_address.structured_street_address", value))
  })

  it.each<[string, unknown]>([
    ["elements", { customers: Array.from({ length: 5_000 }, () => ({ family_name: "Holm" })) }],
    ["inner elements", { notes: Array.from({ length: 70 }, () => ({ document_paths: many(70) })) }],
    ["members", { metadata: [{ key: "k", value: Object.fromEntries(many(5_000).entries()) }] }],
    ["lists", { metadata: [{ key: "k", value: { a: many(70).map(() => many(70)) } }] }]
  ])("leaves an account with many %s to the decoder that works in steps", (_name, values) => {
    const account = { ...domesticPayload(), ...(values as object) }
    const decoded = Schema.decodeUnknownResult(Account)(account)
    expect(Result.isSuccess(decoded)).toBe(true)
    expect(decoderOf(Account)(account)).toBe(invalid)
  })

  it("keeps the spelling of a number only in decimal fields", () => {
    const body = (member: string) =>
      Result.getOrThrow(parse(`{"import_supplier":"S","external_account_number":"1",${member}}`))
    compare(Account, body('"transfer_balance":12.500000000000000000000'))
    compare(Account, body('"billing_name":12.500000000000000000001'))
    compare(Account, body('"billing_address":12.500000000000000000001'))
  })
})
