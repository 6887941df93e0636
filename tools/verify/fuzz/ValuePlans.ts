/**
 * Cases of hostile values inside an otherwise valid body: of the wrong type, too long, too deep, or
 * made to be slow for the patterns of e-mail addresses, phone numbers, dates, decimals and paths.
 */
import { withSource } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import type { Plan, Step } from "./Case.ts"
import type { Operation } from "./Document.ts"
import { answers, unlessTooLarge } from "./Expectation.ts"
import { pathsIn } from "./Schema.ts"
import { sources } from "./HostileTexts.ts"
import { answersToOneChange, bodied, validBody, withBody } from "./ValidRequests.ts"

const stepOf = (asked: Operation, body: string): Step => {
  const request = withBody(asked, body)
  return { request, expect: unlessTooLarge(request, answers(...answersToOneChange)) }
}

const inside = (asked: Operation): fc.Arbitrary<Plan> => {
  const valid = validBody(asked.id)
  return fc
    .tuple(fc.constantFrom(...pathsIn(valid)), fc.constantFrom(...Object.entries(sources)))
    .map(([path, [name, source]]) => ({
      operation: asked.id,
      kind: "value",
      name: `${name} at ${path.join(".")}`,
      steps: () => [stepOf(asked, withSource(valid, path, source))]
    }))
}

const random = (asked: Operation): fc.Arbitrary<Plan> => {
  const valid = validBody(asked.id)
  return fc
    .tuple(fc.constantFrom(...pathsIn(valid)), fc.json({ stringUnit: "binary", maxDepth: 6 }))
    .map(([path, source]) => ({
      operation: asked.id,
      kind: "value",
      name: `any JSON at ${path.join(".")}`,
      steps: () => [stepOf(asked, withSource(valid, path, source))]
    }))
}

/** Hostile values, in every request that takes a body. */
export const valuePlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = bodied.flatMap((asked) => [
  { weight: 2, arbitrary: inside(asked) },
  { weight: 1, arbitrary: random(asked) }
])
