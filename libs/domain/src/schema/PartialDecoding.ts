/**
 * Decodes a body that is invalid or large, in steps, and reports its errors. Every leaf is decoded
 * once. Rules can read the valid parts.
 */
import { Result, SchemaAST, type SchemaIssue } from "effect"
import type { CheckMeaning } from "./Field.ts"
import type { Broken, FieldErrors } from "./FieldErrors.ts"
import { isObject, listElements, type Path } from "./Json.ts"
import { refusedInside, tooManyElements } from "./JsonObject.ts"
import { invalid } from "./LeafDecoder.ts"
import { type LeafNode, nearestOf, type SchemaTree, type StructNode } from "./SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

/** Thrown when a rule reads an invalid value, and caught where the rule is applied. */
export class Invalid {}

/** An object or a list whose members are not decoded yet. */
type Task =
  | {
      readonly _tag: "Struct"
      readonly node: StructNode
      readonly input: Readonly<Record<string, unknown>>
      readonly output: object
      readonly path: Path
    }
  | {
      readonly _tag: "List"
      readonly element: SchemaTree
      readonly input: ReadonlyArray<unknown>
      readonly output: Array<unknown>
      readonly path: Path
    }
  | {
      readonly _tag: "Free"
      readonly input: object
      readonly path: Path
      /** The place of the object, which becomes invalid if a member is. */
      readonly place: Place
    }

/** Where to store a decoded value. */
interface Place {
  readonly target: object
  readonly key: string | number
}

/** Steps between two pauses. */
const stepsPerYield = 64

class PartialDecoding {
  readonly #fieldErrors: FieldErrors
  readonly #open: Array<Task> = []

  constructor(fieldErrors: FieldErrors) {
    this.#fieldErrors = fieldErrors
  }

  /** The decoded value, or `invalid` if the body has the wrong JSON type. */
  *decode(node: SchemaTree, input: unknown): Steps<unknown> {
    const whole = { target: {}, key: "body" }
    const decoded = this.#begin(node, input, [], whole)
    for (let task = this.#open.pop(); task !== undefined; task = this.#open.pop()) {
      if (this.#fieldErrors.areMore) return decoded
      const further = this.#open.length
      if (task._tag === "Struct") yield* this.#decodeMembers(task)
      else if (task._tag === "List") yield* this.#decodeElements(task)
      else yield* this.#decodeFree(task)
      // The stack is last in, first out.
      this.#open.push(...this.#open.splice(further).reverse())
    }
    return decoded
  }

  /** The value of a leaf, or an object or list that is filled later. */
  #begin(node: SchemaTree, input: unknown, path: Path, place: Place): unknown {
    switch (node._tag) {
      case "Leaf":
        return this.#decodeLeaf(node, input, path)
      case "Struct": {
        if (!isObject(input)) return this.#refuse(path, wrongType(node, input))
        const output = {}
        this.#open.push({ _tag: "Struct", node, input, output, path })
        return output
      }
      case "List": {
        if (!Array.isArray(input)) return this.#refuse(path, wrongType(node, input))
        if (input.length > listElements) return this.#refuse(path, tooManyElements)
        const output: Array<unknown> = []
        this.#open.push({ _tag: "List", element: node.element, input, output, path })
        return output
      }
      case "Free": {
        if (input === null && node.nullable) return null
        if (!isObject(input)) return this.#refuse(path, wrongType(node, input))
        this.#open.push({ _tag: "Free", input, path, place })
        return input
      }
    }
  }

  #refuse(path: Path, broken: Broken): typeof invalid {
    this.#fieldErrors.add({ path, ...broken })
    return invalid
  }

  #decodeLeaf(node: LeafNode, input: unknown, path: Path): unknown {
    const value = node.read(input)
    if (value !== invalid) return value
    const decoded = node.decode(input)
    if (Result.isSuccess(decoded)) return decoded.success
    for (const broken of brokenBy(decoded.failure.issue, node, input)) this.#refuse(path, broken)
    return invalid
  }

  *#decodeMembers({ input, output, path, node }: Task & { readonly _tag: "Struct" }): Steps<void> {
    let documented = 0
    for (const [name, field] of node.fields) {
      const isSent = Object.hasOwn(input, name)
      if (isSent) documented++
      else if (field.optional) continue
      const at = [...path, name]
      const place = { target: output, key: name }
      const value = isSent
        ? this.#begin(field.node, input[name], at, place)
        : this.#refuse(at, { code: "required", detail: "This field is required." })
      put(place, value)
    }
    yield
    const names = Object.keys(input)
    if (names.length === documented) return
    for (const name of names) {
      if (node.fields.has(name)) continue
      if (this.#fieldErrors.areMore) return
      this.#refuse([...path, name], unknownField(node, name))
      yield
    }
  }

  *#decodeElements({ element, input, output, path }: Task & { _tag: "List" }): Steps<void> {
    for (let index = 0; index < input.length; index++) {
      if (index % stepsPerYield === 0) yield
      if (this.#fieldErrors.areMore) return
      const place = { target: output, key: index }
      put(place, this.#begin(element, input[index], [...path, index], place))
    }
  }

  *#decodeFree({ input, path, place }: Task & { _tag: "Free" }): Steps<void> {
    for (const part of refusedInside(input, path)) {
      if (typeof part === "number") {
        yield
      } else {
        this.#fieldErrors.add(part)
        put(place, invalid)
        if (this.#fieldErrors.areMore) return
      }
    }
  }
}

/**
 * The valid part of the decoded value. Reading a missing or invalid member throws `Invalid`. The
 * result is `invalid` if the body has the wrong JSON type. Decoding stops once more errors are
 * found than can be listed.
 */
export const decodePartiallyInSteps = (
  node: SchemaTree,
  input: unknown,
  fieldErrors: FieldErrors
): Steps<unknown> => new PartialDecoding(fieldErrors).decode(node, input)

const put = ({ key, target }: Place, value: unknown): void => {
  if (value !== invalid) (target as Record<string | number, unknown>)[key] = value
  else Object.defineProperty(target, key, { enumerable: true, configurable: true, get: unreadable })
}

const unreadable = (): never => {
  throw new Invalid()
}

const mustNotBeNull = "Must not be null; omit the field instead."

/** The error of a value of the wrong JSON type. */
const wrongType = (node: SchemaTree, value: unknown): Broken => {
  if (value === null) return { code: "null", detail: mustNotBeNull }
  if (node._tag === "List") {
    return { code: "not_a_list", detail: "Must be a list.", parameters: { expected: "list" } }
  }
  if (node._tag !== "Leaf") {
    const parameters = { expected: "object" }
    return { code: "not_an_object", detail: "Must be an object.", parameters }
  }
  const expected = typeOf(node.schema.ast)
  const { [expected]: detail = "Must be of another type." } = typeDetails
  return { code: "invalid_type", detail, parameters: { expected } }
}

const typeDetails: Readonly<Record<string, string>> = {
  text: "Must be text.",
  number: "Must be a number.",
  boolean: "Must be true or false."
}

/** The JSON type of the encoded form; of a union, that of its first type besides null. */
const typeOf = (ast: SchemaAST.AST): string => {
  const encoded = SchemaAST.toEncoded(ast)
  switch (encoded._tag) {
    case "Number":
      return "number"
    case "Boolean":
      return "boolean"
    case "Union": {
      const [first] = encoded.types.filter(({ _tag }) => _tag !== "Null")
      return first === undefined ? "null" : typeOf(first)
    }
    default:
      return "text"
  }
}

const unknownField = ({ fields }: StructNode, name: string): Broken => {
  const nearest = nearestOf(fields.keys(), name)
  if (nearest === undefined) return { code: "unknown_field", detail: "No field may be sent here." }
  const detail = `Not a documented field; the nearest is ${nearest}.`
  return { code: "unknown_field", detail, parameters: { nearest } }
}

/** The error of a failed check. */
const brokenCheck = (meaning: CheckMeaning<unknown>, input: unknown): Broken => {
  const { code, parameters } = meaning
  const detail = typeof meaning.detail === "function" ? meaning.detail(input) : meaning.detail
  if (parameters === undefined) return { code, detail }
  return {
    code,
    detail,
    parameters: typeof parameters === "function" ? parameters(input) : parameters
  }
}

/** The error of a schema issue, with a code of the contract. */
const brokenBy = (
  issue: SchemaIssue.Issue,
  node: LeafNode,
  input: unknown
): ReadonlyArray<Broken> => {
  switch (issue._tag) {
    case "Composite":
      return issue.issues.flatMap((inner) => brokenBy(inner, node, input))
    case "Encoding":
      return brokenBy(issue.issue, node, input)
    case "Filter": {
      if (input === null) return [{ code: "null", detail: mustNotBeNull }]
      return [brokenCheck(issue.filter.annotations as unknown as CheckMeaning<unknown>, input)]
    }
    case "AnyOf": {
      const checked = issue.issues.filter((inner) => inner._tag !== "InvalidType")
      if (checked.length > 0) return checked.flatMap((inner) => brokenBy(inner, node, input))
      return [wrongType(node, input)]
    }
    default:
      return [wrongType(node, input)]
  }
}
