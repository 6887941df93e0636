/**
 * Values that the document's schemas allow, and values that they forbid at one path. A schema has
 * no rules between fields, so an allowed value may be refused, but never for its type.
 */
import { attrOf, drop, get, isWire, put, type Wire } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { resolved, type Schema } from "./Document.ts"

type Path = ReadonlyArray<string | number>

const numberOr = (value: unknown, fallback: number): number =>
  typeof value === "number" ? value : fallback

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const day = fc.date({
  min: new Date("1900-01-01T00:00:00Z"),
  max: new Date("2999-12-31T00:00:00Z"),
  noInvalidDate: true
})

const formats: Readonly<Record<string, fc.Arbitrary<string>>> = {
  date: day.map((date) => date.toISOString().slice(0, 10)),
  "date-time": day.map((date) => date.toISOString()),
  email: fc.emailAddress()
}

const text = (schema: Schema): fc.Arbitrary<string> => {
  const choices = listOf(schema["enum"])
  if (choices.length > 0) return fc.constantFrom(...choices.map(String))
  const format = formats[String(schema["format"])]
  if (format !== undefined) return format
  const { pattern } = schema
  if (typeof pattern === "string") return fc.stringMatching(new RegExp(pattern), { maxLength: 20 })
  const minLength = numberOr(schema["minLength"], 0)
  const maxLength = Math.min(numberOr(schema["maxLength"], 40), 40)
  // A text of white space may have the required length, but counts as blank.
  const inside = fc
    .string({ unit: "grapheme", maxLength: maxLength - minLength })
    .map((characters) =>
      Array.from(characters)
        .slice(0, maxLength - minLength)
        .join("")
    )
  return minLength === 0 ? inside : inside.map((characters) => `x${characters}`)
}

const list = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
  const minLength = numberOr(schema["minItems"], 0)
  const maxLength = Math.min(numberOr(schema["maxItems"], 2), Math.max(minLength, 2))
  return fc.array(valueOf(schema["items"], depth + 1), { minLength, maxLength })
}

const object = (schema: Schema, depth: number): fc.Arbitrary<unknown> => {
  const members = resolved(schema["properties"])
  const names = Object.keys(members)
  if (names.length === 0) {
    const maxKeys = schema["additionalProperties"] === false ? 0 : 2
    return fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys })
  }
  const requiredKeys = listOf(schema["required"]).map(String)
  const model = Object.fromEntries(
    names.map((name) => [name, valueOf(members[name], depth + 1)] as const)
  )
  return fc.record(model, { requiredKeys })
}

/** Values that the schema allows. */
export const valueOf = (described: unknown, depth = 0): fc.Arbitrary<unknown> => {
  const schema = resolved(described)
  const branches = listOf(schema["anyOf"])
  if (branches.length > 0) return fc.oneof(...branches.map((branch) => valueOf(branch, depth)))
  switch (schema["type"]) {
    case "string":
      return text(schema)
    case "integer":
      return fc.integer({
        min: numberOr(schema["minimum"], -1_000),
        max: numberOr(schema["maximum"], 1_000)
      })
    case "number":
      return fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100)
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array":
      return list(schema, depth)
    case "object":
      return object(schema, depth)
    default:
      return fc.jsonValue()
  }
}

/** One error, and the body that has it. */
export interface SchemaViolation {
  readonly attr: string
  readonly code: string
  readonly body: Wire
}

interface Place {
  readonly path: Path
  readonly schema: Schema
  readonly value: unknown
}

const placesIn = (schema: Schema, value: unknown, path: Path): ReadonlyArray<Place> => {
  const here = { path, schema, value }
  if (Array.isArray(value)) {
    const items = resolved(schema["items"])
    return [here, ...value.flatMap((item, index) => placesIn(items, item, [...path, index]))]
  }
  if (!isWire(value)) return [here]
  const members = resolved(schema["properties"])
  const inside = Object.entries(value).flatMap(([name, member]) =>
    Object.hasOwn(members, name) ? placesIn(resolved(members[name]), member, [...path, name]) : []
  )
  return [here, ...inside]
}

type Wrong = readonly [code: string, value: unknown]

const wrongTexts = (schema: Schema): ReadonlyArray<Wrong> => {
  const types: ReadonlyArray<Wrong> = [5, true, [], {}].map((value) => ["invalid_type", value])
  const blank: ReadonlyArray<Wrong> = schema["minLength"] === 1 ? [["blank", ""]] : []
  if (schema["enum"] !== undefined) return [...types, ...blank, ["invalid_choice", "NOTHING"]]
  if (schema["format"] === "date") return [...types, ...blank, ["invalid_date", "2025-02-30"]]
  if (schema["format"] === "date-time") {
    const tooLong = `2025-01-01T10:00:00.${"0".repeat(44)}Z`
    return [...types, ...blank, ["invalid_datetime", "now"], ["invalid_datetime", tooLong]]
  }
  if (schema["format"] === "email") return [...types, ...blank, ["invalid_email", "a"]]
  const { maxLength, pattern } = schema
  return typeof maxLength === "number" && pattern === undefined
    ? [...types, ...blank, ["max_length", "x".repeat(maxLength + 1)]]
    : [...types, ...blank]
}

const wrongValues = (schema: Schema): ReadonlyArray<Wrong> => {
  switch (schema["type"]) {
    case "string":
      return [["null", null], ...wrongTexts(schema)]
    case "boolean":
      return [
        ["null", null],
        ["invalid_type", "true"],
        ["invalid_type", 1]
      ]
    case "integer":
      return [
        ["null", null],
        ["invalid_type", "1"],
        ["invalid_type", 1.5],
        ["min_value", numberOr(schema["minimum"], 0) - 1],
        ["max_value", numberOr(schema["maximum"], 0) + 1]
      ]
    case "array":
      return [
        ["null", null],
        ["not_a_list", {}],
        ["not_a_list", "[]"],
        ...(schema["minItems"] === 1 ? [["empty", []] as const] : [])
      ]
    case "object":
      return [
        ["null", null],
        ["not_an_object", []],
        ["not_an_object", "{}"]
      ]
    default:
      return []
  }
}

const violationsAt = (
  body: Wire,
  { path, schema, value }: Place
): ReadonlyArray<SchemaViolation> => {
  const at = attrOf(path)
  const replaced = path.length === 0 ? [] : wrongValues(schema)
  const required = isWire(value) ? listOf(schema["required"]).map(String) : []
  const unknown = isWire(value) && schema["additionalProperties"] === false ? ["surprise"] : []
  return [
    ...replaced.map(([code, wrong]) => ({ attr: at, code, body: put(body, path, wrong) })),
    ...required.map((name) => ({
      attr: attrOf([...path, name]),
      code: "required",
      body: drop(body, [...path, name])
    })),
    ...unknown.map((name) => ({
      attr: attrOf([...path, name]),
      code: "unknown_field",
      body: put(body, [...path, name], 1)
    }))
  ]
}

/** Every violation of the schema at one path of this valid body. */
export const schemaViolations = (schema: Schema, body: Wire): ReadonlyArray<SchemaViolation> =>
  placesIn(resolved(schema), body, []).flatMap((place) => violationsAt(body, place))

/** Every place of a value but the value itself, the outer ones first. */
export const pathsIn = (value: unknown, path: Path = []): ReadonlyArray<Path> => {
  const names = Array.isArray(value) ? [...value.keys()] : isWire(value) ? Object.keys(value) : []
  return names.flatMap((name) => {
    const inside = [...path, name]
    return [inside, ...pathsIn(get(value, [name]), inside)]
  })
}
