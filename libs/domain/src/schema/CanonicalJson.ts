/**
 * Canonical JSON: one text for each value, so that equal values have equal hashes. It follows RFC
 * 8785, with two additions for exact numbers: a decimal is written without an exponent, and a
 * number that a double cannot hold keeps its spelling. A large value is written in steps.
 * Source: docs/contract/import.md#payload-hash, RFC 8785.
 */
import type { Schema } from "effect"
import { encodedAtOnce, type EncodingPlan, fits, planOf } from "./Encoder.ts"
import { isRawNumber } from "./RawNumber.ts"
import { type SchemaTree, schemaTreeOf } from "./SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

/** Writes the canonical text of the encoded value, in steps if it is large. */
export const canonicalTextOf = <A, I>(
  schema: Schema.Codec<A, I>
): ((value: A) => Steps<string>) => {
  const tree = schemaTreeOf(schema)
  const writer = writerOf(planOf(tree), tree)
  return (value) => textInSteps(writer, value)
}

/** How the values of a part of a schema are written. */
interface Writer {
  readonly plan: EncodingPlan
  readonly write: (value: unknown) => string
  /** Of a struct, in canonical order. */
  readonly fields?: ReadonlyArray<FieldWriter>
  /** Of a list. */
  readonly element?: Writer
}

interface FieldWriter {
  readonly name: string
  /** The name as a key, with its colon. */
  readonly key: string
  readonly writer: Writer
}

/** Names in the order of their UTF-16 units, as `<` compares them. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1

/** Every part has a function of its own, so that none asks of a value what its schema is. */
const writerOf = (plan: EncodingPlan, tree: SchemaTree): Writer => {
  if (plan?._tag === "List" && tree._tag === "List") {
    const element = writerOf(plan.element, tree.element)
    const write = (value: unknown) =>
      `[${(value as ReadonlyArray<unknown>).map(element.write).join()}]`
    return { plan, write, element }
  }
  if (plan?._tag === "Struct" && tree._tag === "Struct") {
    const fields = plan.fields.toSorted(byName).map(({ name, written }): FieldWriter => {
      const node = tree.fields.get(name)?.node as SchemaTree
      return { name, key: `${JSON.stringify(name)}:`, writer: writerOf(written, node) }
    })
    return { plan, write: structOf(fields), fields }
  }
  if (plan?._tag !== "Leaf") return { plan, write: tree._tag === "Leaf" ? scalar : free }
  const { write: encode } = plan
  return { plan, write: (value) => scalar(encode(value)) }
}

const structOf = (fields: ReadonlyArray<FieldWriter>) => (value: unknown) => {
  let text = "{"
  for (const { key, name, writer } of fields) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    if (member === undefined) continue
    if (text !== "{") text += ","
    text += key + writer.write(member)
  }
  return `${text}}`
}

/** A decimal without an exponent, which only one below 0.000001 would have as a number. */
const plain = (value: number): string => {
  const text = JSON.stringify(value)
  if (!text.includes("e-")) return text
  const [coefficient = "", exponent] = text.split("e-")
  const digits = coefficient.replace(/[-.]/g, "")
  return `${value < 0 ? "-" : ""}0.${"0".repeat(Number(exponent) - 1)}${digits}`
}

/** Characters that JSON escapes, or may: half of a pair. Other texts are quoted as they are. */
const mayBeEscaped = /["\\\p{Cc}\p{Cs}]/u

const quoted = (text: string): string =>
  mayBeEscaped.test(text) ? JSON.stringify(text) : `"${text}"`

/** What a leaf is encoded as. A number is a decimal, and anything else has no schema. */
const scalar = (value: unknown): string =>
  typeof value === "string" ? quoted(value) : typeof value === "number" ? plain(value) : free(value)

/** A value without a schema: its keys are sorted by their UTF-16 units. */
const free = (value: unknown): string => {
  if (typeof value !== "object" || value === null || isRawNumber(value))
    return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(free).join()}]`
  const members = value as Readonly<Record<string, unknown>>
  const texts = Object.keys(members)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${free(members[key])}`)
  return `{${texts.join()}}`
}

const withoutSchema: Writer = { plan: null, write: free }

/** The members of a large value in canonical order, each with its key; a list has no keys. */
const membersOf = (
  { element = withoutSchema, fields }: Writer,
  value: object
): ReadonlyArray<readonly [key: string, member: unknown, writer: Writer]> => {
  if (Array.isArray(value)) return value.map((each: unknown) => ["", each, element])
  const members = value as Readonly<Record<string, unknown>>
  return fields === undefined
    ? Object.keys(members)
        .sort()
        .map((key) => [`${JSON.stringify(key)}:`, members[key], withoutSchema])
    : fields.map(({ key, name, writer }) => [key, members[name], writer])
}

function* textInSteps(writer: Writer, value: unknown): Steps<string> {
  if (fits(writer.plan, value, { left: encodedAtOnce })) return writer.write(value)
  const parts: Array<string> = []
  for (const [key, member, ofMember] of membersOf(writer, value as object)) {
    if (member === undefined) continue
    parts.push(key + (yield* textInSteps(ofMember, member)))
    yield
  }
  return Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`
}
