/**
 * JSON objects without documented members: free objects, stored as they were sent (metadata values
 * and structured street addresses), and the empty object.
 */
import { Schema, type SchemaAST } from "effect"
import { fieldCheck, isStorableText } from "./Field.ts"
import type { Broken } from "./FieldErrors.ts"
import { isObject, listElements } from "./Json.ts"
import type { Path } from "./Json.ts"

/**
 * What an object without documented members may contain, declared by an annotation of its schema.
 */
export type AllowedContent = "anything" | "nothing"

export const insideOf = (ast: SchemaAST.AST): AllowedContent | undefined =>
  ast.annotations?.["inside"] as AllowedContent | undefined

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

/** A rejected part of a free object. */
interface RefusedPart extends Broken {
  readonly path: Path
}

/** Elements and members between two pauses. */
const stepsPerYield = 64

/**
 * The errors inside a JSON value, in document order, and the number of elements or members that
 * come next, so that the caller can pause or stop. The parser bounds the depth.
 */
export function* refusedInside(value: unknown, path: Path): Generator<number | RefusedPart> {
  if (Array.isArray(value)) {
    if (value.length > listElements) {
      yield { path, ...tooManyElements }
      return
    }
    for (const [index, element] of value.entries()) {
      if (index % stepsPerYield === 0) yield Math.min(stepsPerYield, value.length - index)
      if (canBeRefused(element)) yield* refusedInside(element, [...path, index])
    }
  } else if (isObject(value)) {
    const keys = Object.keys(value)
    if (keys.length > listElements) {
      yield { path, ...tooManyMembers }
      return
    }
    for (const [index, key] of keys.entries()) {
      if (index % stepsPerYield === 0) yield Math.min(stepsPerYield, keys.length - index)
      const member = value[key]
      if (isStorableText(key) && canBeRefused(member)) yield* refusedInside(member, [...path, key])
    }
    // The path of an error cannot contain a key with such text.
    if (!keys.every(isStorableText)) yield { path, ...unstorableText }
  } else if (isRefusedText(value)) {
    yield { path, ...unstorableText }
  }
}

const isRefusedText = (part: unknown): boolean => typeof part === "string" && !isStorableText(part)

/** Most parts cannot be rejected and need no generator. */
const canBeRefused = (part: unknown): boolean => typeof part === "object" || isRefusedText(part)

const nowhere = (broken: typeof unstorableText | typeof tooManyElements | typeof tooManyMembers) =>
  Schema.makeFilter<unknown>(
    (value) =>
      [...refusedInside(value, [])]
        .filter((part) => typeof part !== "number")
        .filter(({ detail }) => detail === broken.detail)
        .map(({ path }) => ({ path, issue: broken.detail })),
    { ...broken, toJsonSchema: () => [{}, true] }
  )

const isJsonObject = fieldCheck<unknown>(isObject, {
  code: "not_an_object",
  detail: "Must be an object.",
  parameters: { expected: "object" },
  jsonSchema: { type: "object" },
  abort: true
})

/**
 * Codes: `not_an_object`, `invalid` for text inside with NUL or a lone surrogate, and `max_length`
 * for a list or object inside that is too long.
 */
export const JsonObject = Schema.Unknown.annotate({
  inside: "anything" satisfies AllowedContent
}).check(
  isJsonObject,
  nowhere(unstorableText),
  nowhere(tooManyElements),
  nowhere(tooManyMembers)
) as Schema.Codec<unknown, AnyObject>

type AnyObject = { readonly [key: string]: unknown }

/**
 * Codes: `not_an_object`, and `unknown_field` for every member. (A struct without fields would
 * accept any.)
 */
export const EmptyObject = Schema.Unknown.annotate({
  inside: "nothing" satisfies AllowedContent
}).check(
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

/** How much more may be read without a pause. */
export interface ElementBudget {
  left: number
}

/** Whether a JSON value has no errors inside and fits into the room. */
export const isValidInside = (value: unknown, room: ElementBudget): boolean => {
  for (const part of refusedInside(value, [])) {
    if (typeof part !== "number") return false
    room.left -= part
    if (room.left < 0) return false
  }
  return true
}
