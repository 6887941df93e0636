/**
 * Canonical JSON: one text for each value, so that equal values have equal hashes. It follows RFC
 * 8785, with two additions for exact numbers: a decimal is written without an exponent, and a
 * number that a double cannot hold keeps its spelling. A large value is written in steps.
 * Source: docs/contract/import.md#payload-hash, RFC 8785.
 */
import { Array as Arr, type Schema } from "effect"
import { encoded, encodedAtOnce, type EncodingPlan, fits, planOf } from "./Encoder.ts"
import { isRawNumber, rawNumber } from "./RawNumber.ts"
import { type SchemaTree, schemaTreeOf } from "./SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

/** Writes the canonical text of the encoded value, in steps if it is large. */
export const canonicalTextOf = <A, I>(
  schema: Schema.Codec<A, I>
): ((value: A) => Steps<string>) => {
  const tree = schemaTreeOf(schema)
  const writer = writerOf(canonical(planOf(tree)), tree)
  return (value) => textInSteps(writer, value)
}

/** How the values of a part of a schema are written. */
interface Writer {
  readonly plan: EncodingPlan
  readonly write: (value: unknown) => string
  /** Whether nothing in it has keys of its own, so that the platform's writer keeps the order. */
  readonly isFixed: boolean
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

/** Encodes members in canonical order, and decimals without an exponent. */
const canonical = (plan: EncodingPlan): EncodingPlan => {
  if (plan === null) return null
  const { _tag } = plan
  if (_tag === "Leaf") return { _tag, write: (value) => plain(plan.write(value)) }
  if (_tag === "List") return { _tag, element: canonical(plan.element) ?? plan.element }
  const inOrder = (fields: typeof plan.fields) =>
    fields.toSorted(byName).map(({ name, written }) => ({ name, written: canonical(written) }))
  return { _tag, fields: inOrder(plan.fields), containers: inOrder(plan.containers) }
}

const writerOf = (plan: EncodingPlan, tree: SchemaTree): Writer => {
  const writeFixed = (value: unknown) => JSON.stringify(encoded(plan, value))
  if (tree._tag === "Leaf") {
    const isFixed = plan !== null || tree.schema.ast._tag !== "Unknown"
    return isFixed ? { plan, write: writeFixed, isFixed } : withoutSchema
  }
  if (tree._tag === "List") {
    const element = writerOf(plan?._tag === "List" ? plan.element : null, tree.element)
    const { isFixed } = element
    const writeFree = (value: unknown) =>
      `[${(value as ReadonlyArray<unknown>).map(element.write).join()}]`
    return { plan, write: isFixed ? writeFixed : writeFree, isFixed, element }
  }
  if (plan?._tag !== "Struct" || tree._tag !== "Struct") return withoutSchema
  const fields = plan.fields.map(({ name, written }): FieldWriter => {
    const node = tree.fields.get(name)?.node as SchemaTree
    return { name, key: `${JSON.stringify(name)}:`, writer: writerOf(written, node) }
  })
  const isFixed = fields.every(({ writer }) => writer.isFixed)
  return { plan, write: isFixed ? writeFixed : structOf(fields), isFixed, fields }
}

/** Fixed members that follow each other are written at once. */
const structOf = (fields: ReadonlyArray<FieldWriter>) => {
  const runs = Arr.groupWith(
    fields as Arr.NonEmptyReadonlyArray<FieldWriter>,
    (one, next) => one.writer.isFixed && next.writer.isFixed
  ).map(runOf)
  return (value: unknown) =>
    `{${runs
      .map((run) => run(value as Readonly<Record<string, unknown>>))
      .filter((text) => text !== "")
      .join()}}`
}

/** Writes the members without braces. */
const runOf = (fields: Arr.NonEmptyReadonlyArray<FieldWriter>) => {
  const [{ key, name, writer }] = fields
  if (!writer.isFixed) {
    return (value: Readonly<Record<string, unknown>>) =>
      value[name] === undefined ? "" : key + writer.write(value[name])
  }
  const ofRun = fields.map((field) => ({ name: field.name, written: field.writer.plan }))
  const plan: EncodingPlan = { _tag: "Struct", fields: ofRun, containers: [] }
  return (value: unknown) => JSON.stringify(encoded(plan, value)).slice(1, -1)
}

/** A decimal without an exponent, which only one below 0.000001 would have as a number. */
const plain = (value: unknown): unknown => {
  if (typeof value !== "number" || value === 0 || Math.abs(value) >= 1e-6) return value
  const [coefficient = "", exponent] = JSON.stringify(value).split("e-")
  const digits = coefficient.replace(/[-.]/g, "")
  return rawNumber(`${value < 0 ? "-" : ""}0.${"0".repeat(Number(exponent) - 1)}${digits}`)
}

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

const withoutSchema: Writer = { plan: null, write: free, isFixed: false }

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
