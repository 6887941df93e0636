/**
 * A schema seen as a tree of structs, lists and leaves: what validation needs to know of a schema
 * beyond decoding it whole. It decodes the sound parts of an unsound payload, tells which field a
 * misspelled one was meant to be, and knows the order of the fields.
 */
import { Result, Schema } from "effect"
import { listElements } from "./Field.ts"
import { isRawNumber } from "./Json.ts"

export type Shape = StructShape | ListShape | LeafShape

export interface StructShape {
  readonly _tag: "Struct"
  readonly fields: ReadonlyMap<string, { readonly shape: Shape; readonly optional: boolean }>
}

export interface ListShape {
  readonly _tag: "List"
  readonly element: Shape
}

export interface LeafShape {
  readonly _tag: "Leaf"
  readonly schema: Schema.Constraint
  readonly decode: (input: unknown) => Result.Result<unknown, unknown>
}

/** A path from the root of a body: field names and list indexes. */
export type Path = ReadonlyArray<string | number>

type Wrapped = Schema.Constraint & {
  readonly fields?: Record<string, Schema.Constraint>
  readonly value?: Schema.Constraint
  readonly schema?: Schema.Constraint
}

/**
 * The tree of a schema made of `Schema.Struct`, `Schema.Array`, `Schema.optionalKey` and leaves.
 */
export const shapeOf = (schema: Schema.Constraint): Shape => {
  const { ast, fields, value } = schema as Wrapped
  if (ast._tag === "Objects" && fields !== undefined) {
    return {
      _tag: "Struct",
      fields: new Map(
        Object.entries(fields).map(([name, field]) => {
          const inner =
            field.ast.context?.isOptional === true ? (field as Wrapped).schema : undefined
          return [name, { shape: shapeOf(inner ?? field), optional: inner !== undefined }]
        })
      )
    }
  }
  if (ast._tag === "Arrays" && value !== undefined) {
    return { _tag: "List", element: shapeOf(value) }
  }
  return {
    _tag: "Leaf",
    schema,
    decode: Schema.decodeUnknownResult(schema as Schema.Codec<unknown>)
  }
}

export const isObject = (input: unknown): input is Record<string, unknown> =>
  typeof input === "object" && input !== null && !Array.isArray(input) && !isRawNumber(input)

/**
 * Calls `visit` for everything in `input` that the shape documents, lists that are too long apart.
 */
export const walk = (
  shape: Shape,
  input: unknown,
  visit: (shape: Shape, input: unknown, path: Path) => void,
  path: Path = []
): void => {
  visit(shape, input, path)
  if (shape._tag === "Struct" && isObject(input)) {
    for (const [name, { shape: field }] of shape.fields) {
      if (Object.hasOwn(input, name)) walk(field, input[name], visit, [...path, name])
    }
  } else if (shape._tag === "List" && isSoundList(input)) {
    input.forEach((element, index) => walk(shape.element, element, visit, [...path, index]))
  }
}

const isSoundList = (input: unknown): input is ReadonlyArray<unknown> =>
  Array.isArray(input) && input.length <= listElements

/**
 * `input` with an empty list in place of each one that is too long, so that the rest can be
 * examined.
 */
export const withoutLongLists = (shape: Shape, input: unknown): unknown => {
  if (shape._tag === "List" && Array.isArray(input)) {
    return isSoundList(input)
      ? input.map((element) => withoutLongLists(shape.element, element))
      : []
  }
  if (shape._tag !== "Struct" || !isObject(input)) return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const field = shape.fields.get(name)
      return [name, field === undefined ? value : withoutLongLists(field.shape, value)]
    })
  )
}

/**
 * Thrown where a rule reads a value that is itself invalid, and caught where the rule is applied.
 */
export class Unsound {}

/**
 * The decoded value of an unsound input, as far as it is sound: reading a member or element that is
 * missing against the schema or invalid throws `Unsound`.
 */
export const draftOf = (shape: Shape, input: unknown): unknown => {
  switch (shape._tag) {
    case "Leaf": {
      const decoded = shape.decode(input)
      if (Result.isFailure(decoded)) throw new Unsound()
      return decoded.success
    }
    case "List": {
      if (!isSoundList(input)) throw new Unsound()
      const draft: Array<unknown> = new Array(input.length)
      input.forEach((element, index) =>
        defineLazily(draft, index, () => draftOf(shape.element, element))
      )
      return draft
    }
    case "Struct": {
      if (!isObject(input)) throw new Unsound()
      const draft = {}
      for (const [name, field] of shape.fields) {
        if (Object.hasOwn(input, name)) {
          defineLazily(draft, name, () => draftOf(field.shape, input[name]))
        } else if (!field.optional) {
          defineLazily(draft, name, () => {
            throw new Unsound()
          })
        }
      }
      return draft
    }
  }
}

const defineLazily = (target: object, key: string | number, make: () => unknown): void => {
  Object.defineProperty(target, key, { enumerable: true, configurable: true, get: make })
}

/** How many single-character edits lead from one word to the other. */
const editDistance = (from: string, to: string): number => {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const current = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      current.push(
        Math.min(
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (previous[column - 1] ?? 0) + (same ? 0 : 1)
        )
      )
    }
    previous = current
  }
  return previous[to.length] ?? 0
}

const longestName = 64

/** The documented field that is spelled most like `name`. */
export const nearestField = (shape: StructShape, name: string): string => {
  const wanted = name.slice(0, longestName).toLowerCase()
  let nearest = ""
  let shortest = Infinity
  for (const field of shape.fields.keys()) {
    const distance = editDistance(wanted, field)
    if (distance < shortest) {
      nearest = field
      shortest = distance
    }
  }
  return nearest
}
