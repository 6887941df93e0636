/**
 * Canonical JSON: one text for each value, so that equal values have equal hashes. It follows RFC
 * 8785, with two additions for exact numbers: a decimal is written without an exponent, and a
 * number that a double cannot hold keeps its spelling. A large value is written in steps.
 * Source: docs/contract/import.md#payload-hash, RFC 8785.
 */
import type { Schema } from "effect"
import { leafPlanOf, textEncoderOf, type WrittenForm } from "./Encoder.ts"
import { rawNumber } from "./RawNumber.ts"
import type { Steps } from "../support/Steps.ts"

const canonical: WrittenForm = {
  leaf: (ast) => {
    if (ast._tag === "Unknown") return { _tag: "Free" }
    const plan = leafPlanOf(ast)
    return plan && { ...plan, write: (value) => plain(plan.write(value)) }
  },
  free: { _tag: "Free" },
  // In the order of their UTF-16 units, as `<` compares names.
  members: (fields) => fields.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** A decimal without an exponent, which only one below 0.000001 would have as a number. */
const plain = (value: unknown): unknown => {
  if (typeof value !== "number" || value === 0 || Math.abs(value) >= 1e-6) return value
  const [coefficient = "", exponent] = JSON.stringify(value).split("e-")
  const digits = coefficient.replace(/[-.]/g, "")
  return rawNumber(`${value < 0 ? "-" : ""}0.${"0".repeat(Number(exponent) - 1)}${digits}`)
}

/** Writes the canonical text of the encoded value, in steps if it is large. */
export const canonicalTextOf = <A, I>(schema: Schema.Codec<A, I>): ((value: A) => Steps<string>) =>
  textEncoderOf(schema, canonical)
