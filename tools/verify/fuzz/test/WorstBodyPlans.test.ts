/** The worst bodies: which are sent, and what their oracle reports. */
import { describe, expect, it } from "vitest"
import { bodyBytes } from "@data-import/api/Limits"
import { type Case, caseOf, type Reply, type Request } from "../Case.ts"
import { posts } from "../ValidRequests.ts"
import { bounded, worstBodyCases } from "../WorstBodyPlans.ts"
import { errorOf, refusalOf, replyOf } from "./replies.ts"

const cases: ReadonlyArray<Case> = worstBodyCases.map((plan, index) =>
  caseOf(plan, `${index}.1`, { apiKey: "k" })
)

const firstOf = ({ steps }: Case): Request => {
  const [step] = steps
  if (step === undefined) throw new Error("a case has a step")
  return step.request
}

const sizeOf = ({ body = "" }: Request): number => Buffer.byteLength(body)

describe("the cases of every run", () => {
  it("are of every operation that writes", () => {
    const writes = posts
      .map(({ id }) => id)
      .filter((id) => !/^validate|^obtain|Batch$|Upload$/.test(id))
    expect(new Set(cases.map(({ operation }) => operation))).toEqual(new Set(writes))
  })

  it("are of about 88 KB or larger", () => {
    const small = cases.filter((tried) => sizeOf(firstOf(tried)) < 20_000)
    expect(small.map(({ name }) => name)).toEqual([])
  })

  it("include two of the largest size", () => {
    const large = cases.map(firstOf).filter((request) => sizeOf(request) > 10_000_000)
    expect(large).toHaveLength(2)
    expect(large.filter((request) => sizeOf(request) > bodyBytes)).toEqual([])
  })

  it("are followed by a valid request", () => {
    const afterwards = cases.map(({ steps: [step] }) => step?.next?.(replyOf(400, {}))[0])
    expect(afterwards.every((step) => step?.request.path !== undefined)).toBe(true)
    expect(afterwards[0]?.expect([replyOf(503, errorOf("service_unavailable"))])).not.toEqual([])
  })
})

const body = JSON.stringify({
  payload: { b: [{ y: 1, x: 2 }, { z: 3 }], a: 1, [`${"k".repeat(300)}`]: {} }
})

const many = (count: number) => refusalOf(...Array.from({ length: count }, () => "a blank"))
const andMore = { detail: "The body breaks more than 1,000 rules; 1,000 are listed." }

const good: Readonly<Record<string, Reply>> = {
  "in the order of the body": replyOf(
    400,
    refusalOf("b.0.y blank", "b.0.x null", "b.0 null", "b.1.z null", "b empty", "a null")
  ),
  "of missing fields, anywhere": replyOf(400, refusalOf("c required", "a null", "d required")),
  "of the whole payload, last": replyOf(400, refusalOf("a null", "non_field_errors empty")),
  "1,000 of more": replyOf(400, { ...many(1_000), ...andMore }),
  "1,000 of 1,000": replyOf(400, many(1_000)),
  "no JSON": replyOf(400, errorOf("parse_error")),
  "a success, where there need be no error": replyOf(200, {})
}

const bad: Readonly<Record<string, readonly [complaint: string, reply: Reply]>> = {
  "members in another order": [
    "b.0.y is listed too late",
    replyOf(400, refusalOf("b.0.x null", "b.0.y null"))
  ],
  "lists in another order": [
    "b.0.y is listed too late",
    replyOf(400, refusalOf("b.1.z null", "b.0.y null"))
  ],
  "an object before its members": [
    "b.0.x is listed too late",
    replyOf(400, refusalOf("b.0 null", "b.0.x null"))
  ],
  "the whole payload first": [
    "a is listed too late",
    replyOf(400, refusalOf("non_field_errors empty", "a null"))
  ],
  "too many": ["1001 errors are listed", replyOf(400, many(1_001))],
  "too few, and more": [
    "7 errors are listed, and the answer says that there are more",
    replyOf(400, { ...many(7), ...andMore })
  ],
  "more than can be read": [
    "the answer has",
    replyOf(400, { ...refusalOf("a blank"), detail: "x".repeat(1_100_000) })
  ]
}

describe("the errors listed in an answer", () => {
  it.each(Object.entries(good))("may be %s", (_, reply) => {
    expect(bounded(body)([reply])).toEqual([])
  })

  it.each(Object.entries(bad))("may not be %s", (_, [complaint, reply]) => {
    expect(bounded(body)([reply]).join("\n")).toContain(complaint)
  })
})
