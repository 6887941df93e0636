/**
 * JSON objects without documented members: those of any inner shape, kept as they were sent
 * (metadata values and structured street addresses), and the one that takes none.
 */
import { Schema } from "effect"
import { fieldCheck, isStorableText, listElements } from "./Field.ts"
import { isObject, type Path } from "./Shape.ts"

/** Whether something holds of every text, key and list inside; quicker than where it does not. */
const holdsInside = (
  value: unknown,
  holds: (part: string | ReadonlyArray<unknown>) => boolean
): boolean => {
  if (typeof value === "string") return holds(value)
  if (Array.isArray(value)) {
    return holds(value) && value.every((element) => holdsInside(element, holds))
  }
  if (!isObject(value)) return true
  for (const key of Object.keys(value)) {
    if (!holds(key) || !holdsInside(value[key], holds)) return false
  }
  return true
}

/** Where a list stands that is longer than any list may be. The depth is bounded by Json. */
const longLists = (value: unknown, path: Path): ReadonlyArray<Path> => {
  if (Array.isArray(value)) {
    if (value.length > listElements) return [path]
    return value.flatMap((element, index) => longLists(element, [...path, index]))
  }
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([key, member]) => longLists(member, [...path, key]))
}

/**
 * Where text stands that no database stores: NUL, or a lone surrogate. The depth is bounded by
 * Json.
 */
const unstorable = (value: unknown, path: Path): ReadonlyArray<Path> => {
  if (typeof value === "string") return isStorableText(value) ? [] : [path]
  if (Array.isArray(value)) {
    return value.flatMap((element, index) => unstorable(element, [...path, index]))
  }
  if (!isObject(value)) return []
  const members = Object.entries(value)
  const storable = members.filter(([key]) => isStorableText(key))
  const inside = storable.flatMap(([key, member]) => unstorable(member, [...path, key]))
  return storable.length === members.length ? inside : [...inside, path]
}

const isJsonObject = fieldCheck<unknown>(isObject, {
  code: "not_an_object",
  detail: "Must be a JSON object.",
  jsonSchema: { type: "object" },
  abort: true
})

/**
 * Codes: `not_an_object`, `invalid` at the text inside that holds NUL or a lone surrogate, and
 * `max_length` at a list inside that is too long.
 */
export const JsonObject = Schema.Unknown.check(
  isJsonObject,
  Schema.makeFilter<unknown>(
    (value) => unstorable(value, []).map((path) => ({ path, issue: "invalid" })),
    {
      code: "invalid",
      detail: "Must not contain NUL or a lone surrogate.",
      holds: (value: unknown) =>
        holdsInside(value, (part) => typeof part !== "string" || isStorableText(part)),
      toJsonSchema: () => [{}, true]
    }
  ),
  Schema.makeFilter<unknown>(
    (value) => longLists(value, []).map((path) => ({ path, issue: "too long" })),
    {
      code: "max_length",
      detail: `Must have at most ${listElements} elements.`,
      holds: (value: unknown) =>
        holdsInside(value, (part) => typeof part === "string" || part.length <= listElements),
      toJsonSchema: () => [{}, true]
    }
  )
)

/**
 * Codes: `not_an_object`, and `unknown_field` at every member. (A struct without fields takes any.)
 */
export const EmptyObject = Schema.Unknown.check(
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
