/**
 * Encodes values as JSON by the transformations of their schema. A decoder or the compiler has
 * already ensured the type of a value, so an encoder checks nothing, unlike the schema itself. A
 * large value is encoded in steps.
 */
import { Schema, type SchemaAST } from "effect"
import { isObject } from "./Json.ts"
import type { ElementBudget } from "./JsonObject.ts"
import { type SchemaTree, schemaTreeOf } from "./SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

/** How to write a value; null to write it unchanged. */
export type EncodingPlan = StructPlan | ListPlan | FreePlan | LeafPlan | null

interface FieldPlan {
  readonly name: string
  readonly written: EncodingPlan
}

interface StructPlan {
  readonly _tag: "Struct"
  readonly fields: ReadonlyArray<FieldPlan>
  /** Those that may contain elements or members; the others are single values. */
  readonly containers: ReadonlyArray<FieldPlan>
}

interface ListPlan {
  readonly _tag: "List"
  readonly element: Exclude<EncodingPlan, null>
}

/** Unchanged, but with the keys of every object in the order of their UTF-16 units. */
interface FreePlan {
  readonly _tag: "Free"
}

interface LeafPlan {
  readonly _tag: "Leaf"
  readonly write: (value: unknown) => unknown
}

const asDeclared: WrittenForm = {
  leaf: (ast) => leafPlanOf(ast),
  free: null,
  members: (fields) => fields
}

/** Encodes values as the schema does. */
export const encoderOf = <A, I>(schema: Schema.Codec<A, I>): ((value: A) => I) => {
  const written = planOf(asDeclared, schemaTreeOf(schema))
  return (value) => encoded(written, value) as I
}

/** Writes the JSON text of the encoded value, in steps if it is large. */
export const textEncoderOf = <A, I>(
  schema: Schema.Codec<A, I>,
  form: WrittenForm = asDeclared
): ((value: A) => Steps<string>) => {
  const written = planOf(form, schemaTreeOf(schema))
  return (value) => textInSteps(written, value)
}

/** Writes the JSON text of an unchanged value, in steps if it is large. */
export const jsonInSteps = (value: unknown): Steps<string> => textInSteps(null, value)

/** How a kind of JSON writes what a schema leaves open. */
export interface WrittenForm {
  readonly leaf: (ast: SchemaAST.AST) => LeafPlan | FreePlan | null
  readonly free: FreePlan | null
  /** In the order in which members are written. */
  readonly members: (fields: ReadonlyArray<FieldPlan>) => ReadonlyArray<FieldPlan>
}

/** How the values of a schema are written. */
const planOf = (form: WrittenForm, tree: SchemaTree): EncodingPlan => {
  switch (tree._tag) {
    case "Leaf":
      return form.leaf(tree.schema.ast)
    case "Free":
      return form.free
    case "List": {
      const element = planOf(form, tree.element)
      return element && { _tag: "List", element }
    }
    case "Struct": {
      const fields = form.members(
        [...tree.fields].map(([name, { node }]) => ({ name, written: planOf(form, node) }))
      )
      const isContainer = ({ name }: FieldPlan) => tree.fields.get(name)?.node._tag !== "Leaf"
      return { _tag: "Struct", fields, containers: fields.filter(isContainer) }
    }
  }
}

export const leafPlanOf = (ast: SchemaAST.AST): LeafPlan | null => {
  if (ast.encoding !== undefined) return transformed(ast, ast.encoding)
  switch (ast._tag) {
    case "String":
    case "Number":
    case "Boolean":
    case "Null":
    case "Literal":
    case "Unknown":
      return null
    case "Union":
      return ast.types.every(isPlain) ? null : encoder(ast)
    default:
      return encoder(ast)
  }
}

const isPlain = (ast: SchemaAST.AST): boolean =>
  ast.encoding === undefined && ast._tag !== "Objects" && ast._tag !== "Arrays"

/** Falls back to the schema for types without an encoder here. */
const encoder = (ast: SchemaAST.AST): LeafPlan => ({
  _tag: "Leaf",
  write: Schema.encodeUnknownSync(Schema.make<Schema.Codec<unknown>>(ast))
})

/** Follows the links from the type to its encoding. */
const transformed = (ast: SchemaAST.AST, links: SchemaAST.Encoding): LeafPlan | null => {
  const writes: Array<(value: unknown) => unknown> = []
  for (const { to, transformation } of links) {
    if (transformation._tag !== "Transformation") return encoder(ast)
    const { encode } = transformation
    if (encode._tag === "Transform") writes.push(encode.transform)
    else if (encode._tag !== "Passthrough") return encoder(ast)
    const further = leafPlanOf(to)
    if (further !== null) writes.push((value) => encoded(further, value))
  }
  const [first, ...others] = writes
  if (first === undefined) return null
  if (others.length === 0) return { _tag: "Leaf", write: first }
  return { _tag: "Leaf", write: (value) => writes.reduce((given, next) => next(given), value) }
}

/** The value as its plan encodes it. */
const encoded = (written: EncodingPlan, value: unknown): unknown => {
  if (written === null) return value
  if (written._tag === "Leaf") return written.write(value)
  if (written._tag === "Free") return sorted(value)
  if (written._tag === "List") {
    return (value as ReadonlyArray<unknown>).map((element) => encoded(written.element, element))
  }
  const output: Record<string, unknown> = {}
  for (const { name, written: ofMember } of written.fields) {
    const member = (value as Record<string, unknown>)[name]
    if (member !== undefined) output[name] = encoded(ofMember, member)
  }
  return output
}

const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const keys = Object.keys(value).sort()
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]))
}

/** JavaScript puts such keys before all others, and in the order of their numbers. */
const isIndex = (key: string): boolean => /^\d/.test(key)

/** The elements and members that are written without a pause. */
const encodedAtOnce = 2_000

/**
 * Whether the value has so few elements and members that it fits into the room, and an object of
 * JavaScript keeps the order of its keys.
 */
const fits = (written: EncodingPlan, value: unknown, room: ElementBudget): boolean => {
  if (typeof value !== "object" || value === null || written?._tag === "Leaf") return true
  if (Array.isArray(value)) {
    room.left -= value.length
    if (room.left < 0) return false
    const ofElement = elementOf(written)
    for (const element of value) if (!fits(ofElement, element, room)) return false
    return true
  }
  if (written?._tag === "Struct") {
    for (const { name, written: ofMember } of written.containers) {
      if (!fits(ofMember, (value as Record<string, unknown>)[name], room)) return false
    }
    return true
  }
  if (!isObject(value)) return true
  const keys = Object.keys(value)
  room.left -= keys.length
  if (room.left < 0) return false
  const free = written?._tag === "Free" ? written : null
  if (free !== null && keys.some(isIndex)) return false
  for (const key of keys) if (!fits(free, value[key], room)) return false
  return true
}

const elementOf = (written: EncodingPlan): EncodingPlan => {
  if (written?._tag === "List") return written.element
  return written?._tag === "Free" ? written : null
}

function* textInSteps(written: EncodingPlan, value: unknown): Steps<string> {
  if (fits(written, value, { left: encodedAtOnce })) return JSON.stringify(encoded(written, value))
  const parts: Array<string> = []
  yield* writeLargeInSteps(written, value as object, parts)
  return parts.join("")
}

interface Member {
  readonly key: string | number
  readonly value: unknown
  readonly written: EncodingPlan
}

function* membersOf(written: EncodingPlan, value: object): Generator<Member, void> {
  if (Array.isArray(value)) {
    const element = elementOf(written)
    for (let key = 0; key < value.length; key++) {
      yield { key, value: value[key] as unknown, written: element }
    }
  } else if (written?._tag === "Struct") {
    for (const { name: key, written: ofMember } of written.fields) {
      const member = (value as Record<string, unknown>)[key]
      if (member !== undefined) yield { key, value: member, written: ofMember }
    }
  } else {
    const free = written?._tag === "Free" ? written : null
    const keys = free === null ? Object.keys(value) : Object.keys(value).sort()
    for (const key of keys) {
      yield { key, value: (value as Record<string, unknown>)[key], written: free }
    }
  }
}

/** Members that fit are written at once, larger ones in parts. */
function* writeLargeInSteps(
  written: EncodingPlan,
  value: object,
  parts: Array<string>
): Steps<void> {
  const isList = Array.isArray(value)
  // Without a prototype any key can be a member, even `__proto__`.
  const none = () => (isList ? [] : (Object.create(null) as {}))
  let chunk: { [key: string | number]: unknown } = none()
  let count = 0
  let room: ElementBudget = { left: encodedAtOnce }
  let separator = ""
  const flush = (): void => {
    if (count > 0) parts.push(separator, JSON.stringify(chunk).slice(1, -1))
    separator = count > 0 ? "," : separator
    chunk = none()
    count = 0
    room = { left: encodedAtOnce }
  }
  parts.push(isList ? "[" : "{")
  for (const member of membersOf(written, value)) {
    if (room.left <= 0 || !fits(member.written, member.value, room)) {
      flush()
      yield
      if (!fits(member.written, member.value, room)) {
        parts.push(separator, isList ? "" : `${JSON.stringify(member.key)}:`)
        separator = ","
        yield* writeLargeInSteps(member.written, member.value as object, parts)
        room = { left: encodedAtOnce }
        continue
      }
    }
    // Members with sorted keys are written one by one, so that they stay in order.
    room.left -= written?._tag === "Free" && !isList ? room.left : 1
    chunk[isList ? count : member.key] = encoded(member.written, member.value)
    count++
  }
  flush()
  parts.push(isList ? "]" : "}")
}
