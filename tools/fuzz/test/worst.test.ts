/** The worst bodies: which are sent, and what their judge complains of. */
import { describe, expect, it } from "vitest"
import { bodyBytes, tokenBodyBytes } from "@data-import/api/Limits"
import { type Case, caseOf, type Reply, type Request } from "../Case.ts"
import { tokenPath } from "../Document.ts"
import { posts } from "../SoundBody.ts"
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
  it("are of every operation with a body, of 88 KB or as long as a list may be", () => {
    expect(new Set(cases.map(({ operation }) => operation))).toEqual(
      new Set(posts.map(({ id }) => id))
    )
    const small = cases.filter((tried) => sizeOf(firstOf(tried)) < 20_000)
    expect(small.map(({ name }) => name)).toEqual([])
  })

  it("are of each kind of unknown field, wrong element and dear value", () => {
    const names = cases.map(({ name }) => name).join("\n")
    const some = ["unknown fields", "nulls", "numbers", "the same element", "nested objects"]
    const dear = ["phones", "dates", "decimals", "escapes", "a name again and again"]
    for (const name of [...some, ...dear]) expect(names).toContain(name)
  })

  it("are as large as may be, a few of them", () => {
    const large = cases.map(firstOf).filter((request) => sizeOf(request) > 10_000_000)
    expect(large).toHaveLength(2)
    expect(large.filter((request) => sizeOf(request) > bodyBytes)).toEqual([])
  })

  it("are too large for the token mutation", () => {
    const ofToken = cases.filter((tried) => {
      const request = firstOf(tried)
      return request.path === tokenPath && sizeOf(request) > tokenBodyBytes
    })
    const tooLarge = replyOf(413, errorOf("payload_too_large"))
    expect(ofToken.length).toBeGreaterThan(5)
    for (const tried of ofToken) {
      const { expect: judge } = tried.steps[0] ?? { expect: () => ["no step"] }
      expect(judge([tooLarge])).toEqual([])
      expect(judge([replyOf(200, { data: {} })])).not.toEqual([])
    }
  })

  it("ask something sound afterwards", () => {
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

type Judged = readonly [Reply, faults?: number]

const good: Readonly<Record<string, Judged>> = {
  "in the order of the body": [
    replyOf(
      400,
      refusalOf("b.0.y blank", "b.0.x null", "b.0 null", "b.1.z null", "b empty", "a null")
    )
  ],
  "of missing fields, anywhere": [replyOf(400, refusalOf("c required", "a null", "d required"))],
  "of the whole payload, last": [replyOf(400, refusalOf("a null", "non_field_errors empty"))],
  "1,000 of more": [replyOf(400, { ...many(1_000), ...andMore }), 5_000],
  "1,000 of 1,000": [replyOf(400, many(1_000)), 1_000],
  "no JSON": [replyOf(400, errorOf("parse_error")), 5_000],
  "a success, where there need be no fault": [replyOf(200, {})]
}

const bad: Readonly<Record<string, readonly [complaint: string, ...Judged]>> = {
  "members in another order": [
    "b.0.y is told too late",
    replyOf(400, refusalOf("b.0.x null", "b.0.y null"))
  ],
  "lists in another order": [
    "b.0.y is told too late",
    replyOf(400, refusalOf("b.1.z null", "b.0.y null"))
  ],
  "an object before its members": [
    "b.0.x is told too late",
    replyOf(400, refusalOf("b.0 null", "b.0.x null"))
  ],
  "the whole payload first": [
    "a is told too late",
    replyOf(400, refusalOf("non_field_errors empty", "a null"))
  ],
  "too many": ["1001 faults are told", replyOf(400, many(1_001)), 5_000],
  "too few": ["3 faults are told of at least 5", replyOf(400, many(3)), 5],
  "too few, and more": [
    "7 faults are told, and that there are more",
    replyOf(400, { ...many(7), ...andMore })
  ],
  "not that there are more": [
    "nobody is told that there are more",
    replyOf(400, many(1_000)),
    5_000
  ],
  "that all is well": ["a body with faults got 200", replyOf(200, {}), 1],
  "more than can be read": [
    "the answer has",
    replyOf(400, { ...refusalOf("a blank"), detail: "x".repeat(1_100_000) })
  ]
}

describe("what is told of a body", () => {
  it.each(Object.entries(good))("may be %s", (_, [reply, faults = 0]) => {
    expect(bounded(body, faults)([reply])).toEqual([])
  })

  it.each(Object.entries(bad))("may not be %s", (_, [complaint, reply, faults = 0]) => {
    expect(bounded(body, faults)([reply]).join("\n")).toContain(complaint)
  })
})
