/**
 * Payloads with exactly one error, and the error: from any valid payload, for each of its fields
 * and every rule. A validator must report this error and no other.
 */
import type { DateTime } from "effect"
import fc from "fast-check"
import { fieldMutations } from "./mutantsOfFields.ts"
import { type Mutant, ruleBreakings } from "./mutantsOfRules.ts"
import { sampleTime } from "./samples.ts"
import { attrOf, drop, put, type Wire } from "./wire.ts"

export type { Mutant } from "./mutantsOfRules.ts"

/** One way to break a payload; the mutant is made lazily. */
interface Mutation {
  readonly name: string
  readonly code: string
  readonly make: () => Mutant
}

const ofFields = (payload: Wire): ReadonlyArray<Mutation> =>
  fieldMutations(payload).map(({ called, code, isDropped, path, value }) => {
    const attr = attrOf(path)
    const name = `${attr} ${called}`
    return {
      name,
      code,
      make: () => ({
        name,
        body: isDropped ? drop(payload, path) : put(payload, path, value),
        error: { attr, code }
      })
    }
  })

const ofRules = (payload: Wire, now: DateTime.Utc): ReadonlyArray<Mutation> =>
  Object.entries(ruleBreakings).flatMap(([name, breaking]) => {
    const mutant = breaking(payload, now)
    return mutant === null
      ? []
      : [{ name, code: mutant.error.code, make: () => ({ name, ...mutant }) }]
  })

/** Every way to break a payload that is valid as of `now`, once. */
export const mutationsOf = (payload: Wire, now = sampleTime): ReadonlyArray<Mutation> => [
  ...ofFields(payload),
  ...ofRules(payload, now)
]

/** A random mutant; all codes are equally likely. */
export const mutant = (payload: Wire, now = sampleTime): fc.Arbitrary<Mutant> => {
  const byCode = Map.groupBy(mutationsOf(payload, now), ({ code }) => code)
  return fc
    .constantFrom(...byCode.values())
    .chain((mutations) => fc.constantFrom(...mutations))
    .map(({ make }) => make())
}
