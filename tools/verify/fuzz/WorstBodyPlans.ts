/**
 * Cases of the most expensive bodies. The answer comes in time, lists at most 1,000 errors in the
 * order of the body, and the service answers the next request.
 */
import { bodyBytes } from "@data-import/api/Limits"
import { maxErrors } from "@data-import/domain/schema/FieldErrors"
import { get, isWire } from "@data-import/domain/testing/wire"
import * as Bodies from "@data-import/domain/testing/worstBodies"
import fc from "fast-check"
import { type Expectation, type Plan, post, type Reply } from "./Case.ts"
import { operation } from "./Document.ts"
import { answers, both, errorsOf, unlessTooLarge } from "./Expectation.ts"
import { imported, supplier } from "./TenantNames.ts"
import { answersToOneChange, validAnswers, validRequest } from "./ValidRequests.ts"

type Path = ReadonlyArray<string | number>

const rootOf = (body: unknown): unknown => {
  const payload = get(body, ["payload"])
  return isWire(payload) ? payload : body
}

const positions = new WeakMap<object, ReadonlyMap<string, number>>()

/** The position of the member in the object; undefined if it is not sent. */
const positionIn = (parent: unknown, name: string | number): number | undefined => {
  if (!isWire(parent)) return undefined
  const known =
    positions.get(parent) ?? new Map(Object.keys(parent).map((key, index) => [key, index] as const))
  positions.set(parent, known)
  return known.get(String(name))
}

/** Which of two paths comes first; zero if the body does not decide. */
const comparePlaces = (body: unknown, one: Path, other: Path): number => {
  let parent = body
  for (const [depth, segment] of one.entries()) {
    const another = other[depth]
    if (another === undefined) return -1
    if (segment !== another) {
      if (Array.isArray(parent)) return Number(segment) - Number(another)
      const [before, after] = [positionIn(parent, segment), positionIn(parent, another)]
      return before === undefined || after === undefined ? 0 : before - after
    }
    parent = get(parent, [segment])
  }
  return one.length < other.length ? 1 : 0
}

const wholePayload = "non_field_errors"

/** The first path that should have come before the previous one in the list. */
const outOfOrder = (body: unknown, places: ReadonlyArray<string>): string | undefined => {
  const root = rootOf(body)
  return places.find((place, index) => {
    const before = places[index - 1]
    if (before === undefined || place === wholePayload) return false
    if (before === wholePayload) return true
    return comparePlaces(root, before.split("."), place.split(".")) > 0
  })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How much larger the answer may be than the body. */
const room = 1_000_000

const complaintsOf = (body: string, reply: Reply): ReadonlyArray<string> => {
  const found: Array<string> = []
  const places = errorsOf(reply).map((error) => error.slice(0, error.lastIndexOf(" ")))
  const saysMore = String(get(reply.value, "detail")).includes("more than 1,000 rules")
  if (places.length > maxErrors) found.push(`${places.length} errors are listed`)
  if (saysMore && places.length !== maxErrors) {
    found.push(`${places.length} errors are listed, and the answer says that there are more`)
  }
  const wrong = places.length > 1 ? outOfOrder(parsed(body), places) : undefined
  if (wrong !== undefined) found.push(`${wrong.slice(0, 200)} is listed too late`)
  const size = Buffer.byteLength(reply.body)
  if (size > Buffer.byteLength(body) + room) found.push(`the answer has ${size} bytes`)
  return found
}

/** At most as many errors as an answer may list, in the order of the body. */
export const bounded =
  (body: string): Expectation =>
  (replies) =>
    replies.flatMap((reply) => complaintsOf(body, reply))

const outcomes = answers(
  ...answersToOneChange,
  "400 transaction_outside_open_period",
  "400 account_not_found",
  "400 too_many_existing_items"
)

const operationIds: Readonly<Record<Bodies.Operation, string>> = {
  stage: "stageAccount",
  process: "processAccount",
  notes: "createNotes",
  transactions: "createTransactions",
  statements: "createHistoricalStatements",
  instruction: "createPaymentInstruction"
}

/** No other case requests the items that are added here. */
const key = { import_supplier: supplier, external_account_number: imported[2] ?? "" }

const planOf = (body: Bodies.WorstBody, size: number, chunk: number | null): Plan => {
  const asked = operation(operationIds[body.operation])
  return {
    operation: asked.id,
    kind: "worst",
    name: `${body.called}, ${size} bytes`,
    steps: () => {
      const text = body.text()
      const request = {
        ...post(asked.template, text),
        ...(chunk !== null && { framing: { chunk } })
      }
      const afterwards = { request: validRequest(asked), expect: answers(...validAnswers) }
      const expect = unlessTooLarge(request, both(outcomes, bounded(text)))
      return [{ request, expect, next: () => [afterwards] }]
    }
  }
}

const smallest = 88_000
const largest = bodyBytes - 64 * 1024

/** Each body once, but only two of the maximum size, because each of these takes seconds. */
export const worstBodyCases: ReadonlyArray<Plan> = [
  ...Bodies.worstBodies(key, smallest).map((body) => planOf(body, smallest, null)),
  ...Bodies.worstBodies(key, largest)
    .filter(({ called, operation: of }) => called === "unknown fields" && of !== "transactions")
    .slice(0, 2)
    .map((body) => planOf(body, largest, null))
]

const sizes: fc.Arbitrary<number> = fc.oneof(
  { weight: 12, arbitrary: fc.constant(smallest) },
  { weight: 8, arbitrary: fc.constant(300_000) },
  { weight: 4, arbitrary: fc.constant(1_000_000) }
)

/** The worst bodies of every operation that takes one. */
export const worstBodyPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = [
  {
    weight: 1,
    arbitrary: fc
      .tuple(sizes, fc.constantFrom(null, null, 65_536))
      .chain(([size, chunk]) =>
        fc.constantFrom(...Bodies.worstBodies(key, size)).map((body) => planOf(body, size, chunk))
      )
  }
]
