/**
 * JSON objects without documented members: those of any inner shape, kept as they were sent
 * (metadata values and structured street addresses), and the one that takes none.
 */
import { Schema, type SchemaAST } from "effect"
import { fieldCheck, isStorableText } from "./Field.ts"
import { isObject, listElements } from "./Json.ts"
import type { Path } from "./Json.ts"

/** What may stand in an object without documented members, told by an annotation of its schema. */
export type Inside = "anything" | "nothing"

export const insideOf = (ast: SchemaAST.AST): Inside | undefined =>
  ast.annotations?.["inside"] as Inside | undefined

export const unstorableText = {
  code: "invalid",
  detail: "Must not contain NUL or a lone surrogate."
} as const

export const tooManyElements = {
  code: "max_length",
  detail: `Must have at most ${listElements} elements.`,
  parameters: { limit: listElements }
} as const

export const tooManyMembers = {
  code: "max_length",
  detail: `Must have at most ${listElements} members.`,
  parameters: { limit: listElements }
} as const

/** Where something holds, below `path`, of what stands there; the depth is bounded by Json. */
const placesWhere = (
  value: unknown,
  holds: (part: unknown) => boolean,
  path: Path
): ReadonlyArray<Path> => {
  const here = holds(value) ? [path] : []
  if (Array.isArray(value)) {
    if (value.length > listElements) return here
    const inside = value.map((element, index) => placesWhere(element, holds, [...path, index]))
    return [...inside.flat(), ...here]
  }
  if (!isObject(value)) return here
  const keys = Object.keys(value)
  if (keys.length > listElements) return here
  const storable = keys.filter(isStorableText)
  const inside = storable.map((key) => placesWhere(value[key], holds, [...path, key]))
  return [...inside.flat(), ...here]
}

/** Text that no database stores, as a value or as a key. */
const isUnstorable = (part: unknown): boolean =>
  typeof part === "string"
    ? !isStorableText(part)
    : isObject(part) && hasFewMembers(part) && !Object.keys(part).every(isStorableText)

const hasFewMembers = (value: object): boolean => Object.keys(value).length <= listElements

const isLongList = (part: unknown): boolean => Array.isArray(part) && part.length > listElements

const isLargeObject = (part: unknown): boolean => isObject(part) && !hasFewMembers(part)

const nowhere = (
  holds: (part: unknown) => boolean,
  broken: typeof unstorableText | typeof tooManyElements | typeof tooManyMembers
) =>
  Schema.makeFilter<unknown>(
    (value) => placesWhere(value, holds, []).map((path) => ({ path, issue: broken.detail })),
    { ...broken, toJsonSchema: () => [{}, true] }
  )

const isJsonObject = fieldCheck<unknown>(isObject, {
  code: "not_an_object",
  detail: "Must be an object.",
  jsonSchema: { type: "object" },
  abort: true
})

/**
 * Codes: `not_an_object`, `invalid` at the text inside that holds NUL or a lone surrogate, and
 * `max_length` at a list or object inside that is too long.
 */
export const JsonObject = Schema.Unknown.annotate({ inside: "anything" satisfies Inside }).check(
  isJsonObject,
  nowhere(isUnstorable, unstorableText),
  nowhere(isLongList, tooManyElements),
  nowhere(isLargeObject, tooManyMembers)
) as Schema.Codec<unknown, AnyObject>

type AnyObject = { readonly [key: string]: unknown }

/**
 * Codes: `not_an_object`, and `unknown_field` at every member. (A struct without fields takes any.)
 */
export const EmptyObject = Schema.Unknown.annotate({ inside: "nothing" satisfies Inside }).check(
  isJsonObject,
  Schema.makeFilter<unknown>(
    (value) => Object.keys(value as object).map((name) => ({ path: [name], issue: "unknown" })),
    {
      code: "unknown_field",
      detail: "No field may be sent here.",
      toJsonSchema: () => ({ additionalProperties: false })
    }
  )
)

/** How much more may be read before it is too much to be read without a pause. */
export interface Room {
  left: number
}

/** Whether a JSON value holds nothing that `JsonObject` refuses inside, and fits into the room. */
export const isValidInside = (value: unknown, room: Room): boolean => {
  if (typeof value === "string") return isStorableText(value)
  if (Array.isArray(value)) {
    room.left -= value.length
    if (value.length > listElements || room.left < 0) return false
    for (const element of value) if (!isValidInside(element, room)) return false
    return true
  }
  if (!isObject(value)) return true
  const keys = Object.keys(value)
  room.left -= keys.length
  if (keys.length > listElements || room.left < 0) return false
  for (const key of keys) {
    if (!isStorableText(key) || !isValidInside(value[key], room)) return false
  }
  return true
}
