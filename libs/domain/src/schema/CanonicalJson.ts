/**
 * Canonical JSON: one text for each value, so that equal values have equal hashes. It follows RFC
 * 8785, with two additions for exact numbers: a decimal is written without an exponent, and a
 * number that a double cannot hold keeps its spelling. A large value is written in steps.
 * Source: docs/contract/import.md#payload-hash, RFC 8785.
 */
import type { Schema } from "effect"
import { fits, type EncodingPlan, planOf, encodedAtOnce } from "./Encoder.ts"
import { isRawNumber, rawNumber } from "./RawNumber.ts"
import { type SchemaTree, schemaTreeOf } from "./SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

/** Writes the canonical text of the encoded value, in steps if it is large. */
export const canonicalTextOf = <A, I>(
  schema: Schema.Codec<A, I>
): ((value: A) => Steps<string>) => {
  const tree = schemaTreeOf(schema)
  const written = sorted(planOf(tree), tree)
  return (value) => textInSteps(written, value)
}

/** Names in the order of their UTF-16 units, as `<` compares them. */
const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1

/**
 * The plans whose values have a schema in every part. The order of their keys is known, so the
 * platform writes them as a whole, which takes half as long as text by text.
 */
const known = new WeakSet<object>()

const isKnown = (written: EncodingPlan, tree: SchemaTree | undefined): boolean =>
  tree?._tag === "Leaf" || (written !== null && known.has(written))

/** The same with the fields of structs in canonical order. */
const sorted = (written: EncodingPlan, tree: SchemaTree): EncodingPlan => {
  if (written?._tag === "List" && tree._tag === "List") {
    const element = sorted(written.element, tree.element) ?? leaf
    const list = { ...written, element }
    if (isKnown(element, tree.element)) known.add(list)
    return list
  }
  if (written?._tag !== "Struct" || tree._tag !== "Struct") return written
  const nodeOf = (name: string) => tree.fields.get(name)?.node as SchemaTree
  const fields = written.fields.map(({ name, written: ofMember }) => ({
    name,
    written: sorted(ofMember, nodeOf(name))
  }))
  const containers = written.containers
  const struct = { _tag: "Struct", fields: fields.sort(byName), containers } as const
  if (fields.every((field) => isKnown(field.written, nodeOf(field.name)))) known.add(struct)
  return struct
}

const leaf = { _tag: "Leaf", write: (value: unknown) => value } as const

/** A decimal without an exponent, which only one below 0.000001 would have as a number. */
const plain = (value: number): string => {
  const text = JSON.stringify(value)
  if (!text.includes("e-")) return text
  const [coefficient = "", exponent] = text.split("e-")
  const digits = coefficient.replace(/[-.]/g, "")
  return `${value < 0 ? "-" : ""}0.${"0".repeat(Number(exponent) - 1)}${digits}`
}

/** What the platform writes as `plain` does. */
const platformNumber = (value: number) =>
  Math.abs(value) < 1e-6 && value !== 0 ? rawNumber(plain(value)) : value

/** The encoded value of a known plan, with its keys in canonical order. */
const encoded = (written: EncodingPlan, value: unknown): unknown => {
  if (written === null) return value
  switch (written._tag) {
    case "Leaf": {
      const output = written.write(value)
      return typeof output === "number" ? platformNumber(output) : output
    }
    case "List":
      return (value as ReadonlyArray<unknown>).map((each) => encoded(written.element, each))
    case "Struct": {
      const output: Record<string, unknown> = {}
      for (const { name, written: ofMember } of written.fields) {
        const member = (value as Readonly<Record<string, unknown>>)[name]
        if (member !== undefined) output[name] = encoded(ofMember, member)
      }
      return output
    }
  }
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

const write = (written: EncodingPlan, value: unknown): string => {
  if (written === null) return free(value)
  if (known.has(written)) return JSON.stringify(encoded(written, value))
  switch (written._tag) {
    case "Leaf": {
      const output = written.write(value)
      return typeof output === "number" ? plain(output) : free(output)
    }
    case "List":
      return `[${(value as ReadonlyArray<unknown>).map((each) => write(written.element, each)).join()}]`
    case "Struct": {
      let text = ""
      for (const { name, written: ofMember } of written.fields) {
        const member = (value as Readonly<Record<string, unknown>>)[name]
        if (member === undefined) continue
        text += `${text === "" ? "" : ","}"${name}":${write(ofMember, member)}`
      }
      return `{${text}}`
    }
  }
}

/** The members of a large value in canonical order, each with its key; a list has no keys. */
const membersOf = (
  written: EncodingPlan,
  value: object
): ReadonlyArray<readonly [key: string | null, member: unknown, written: EncodingPlan]> => {
  if (Array.isArray(value)) {
    const ofElement = written?._tag === "List" ? written.element : null
    return value.map((element: unknown) => [null, element, ofElement])
  }
  const members = value as Readonly<Record<string, unknown>>
  return written?._tag === "Struct"
    ? written.fields.map(({ name, written: ofMember }) => [name, members[name], ofMember])
    : Object.keys(members)
        .sort()
        .map((key) => [key, members[key], null])
}

function* textInSteps(written: EncodingPlan, value: unknown): Steps<string> {
  if (fits(written, value, { left: encodedAtOnce })) return write(written, value)
  const parts: Array<string> = []
  for (const [key, member, ofMember] of membersOf(written, value as object)) {
    if (member === undefined) continue
    const text = yield* textInSteps(ofMember, member)
    parts.push(key === null ? text : `${JSON.stringify(key)}:${text}`)
    yield
  }
  return Array.isArray(value) ? `[${parts.join()}]` : `{${parts.join()}}`
}
