/**
 * The expected form of an answer, written like the answer itself: an object with the relevant
 * members, a list with exactly its elements, a pattern for a text that is not known beforehand.
 */
import { Predicate } from "effect"

export type ResponsePattern =
  | string
  | number
  | boolean
  | null
  | RegExp
  | ReadonlyArray<ResponsePattern>
  | { readonly [member: string]: ResponsePattern }

const written = (value: unknown): string =>
  value instanceof RegExp ? `a text like ${value.source}` : (JSON.stringify(value) ?? "nothing")

const isList = (expected: ResponsePattern): expected is ReadonlyArray<ResponsePattern> =>
  Array.isArray(expected)

/** Every path at which the value is not as expected; `path` is that of the value. */
export const differences = (
  expected: ResponsePattern,
  actual: unknown,
  path = "body"
): ReadonlyArray<string> => {
  const different = [`${path}: expected ${written(expected)}, got ${written(actual)}`]
  if (expected instanceof RegExp) {
    return typeof actual === "string" && expected.test(actual) ? [] : different
  }
  if (isList(expected)) {
    if (!Array.isArray(actual) || actual.length !== expected.length) return different
    return expected.flatMap((element, index) =>
      differences(element, actual[index], `${path}.${index}`)
    )
  }
  if (typeof expected === "object" && expected !== null) {
    if (!Predicate.isObject(actual)) return different
    return Object.entries(expected).flatMap(([name, member]) =>
      differences(member, Reflect.get(actual, name), `${path}.${name}`)
    )
  }
  return expected === actual ? [] : different
}
