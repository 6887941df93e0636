/** The statistics count the answers, and name the documented ones that never came. */
import { describe, expect, it } from "vitest"
import { get, post, type Reply, type Request } from "../Case.ts"
import { fieldCodes, operations } from "../Document.ts"
import { type Exchange, Tally } from "../Tally.ts"
import { errorOf, record, refusalOf, replyOf, statusPath } from "./replies.ts"

const validatePath = "/v1/data-import/validate-account/"

const seen = (request: Request, reply: Reply, more: Partial<Exchange> = {}): Exchange => ({
  request,
  reply,
  column: "valid",
  milliseconds: 1,
  ...more
})

const tallyOf = (...all: ReadonlyArray<Exchange>): Tally => {
  const tally = new Tally()
  for (const one of all) tally.add(one)
  return tally
}

const gone = (before: ReadonlyArray<string>, after: ReadonlyArray<string>) =>
  before.filter((answer) => !after.includes(answer))

describe("what a run has not seen", () => {
  const nothing = tallyOf().unseen()

  it("is every documented answer at first", () => {
    const successes = operations.flatMap(({ answers, id }) =>
      [...answers.keys()].filter((status) => status < 300).map((status) => `${id} ${status}`)
    )
    expect(nothing.reachable).toEqual(expect.arrayContaining(successes))
    expect(tallyOf().unseenFieldCodes()).toEqual(fieldCodes)
  })

  it.each([
    [get(statusPath), replyOf(200, record), "getAccountImportStatus 200"],
    [get(statusPath), replyOf(404, errorOf("not_found")), "getAccountImportStatus 404 not_found"],
    [
      post(validatePath, {}),
      replyOf(400, refusalOf("a blank")),
      "validateAccount 400 account_failed_validation"
    ]
  ])("is one answer less with each: %#", (request, reply, answer) => {
    const { reachable } = tallyOf(seen(request, reply)).unseen()
    expect(gone(nothing.reachable, reachable)).toEqual([answer])
  })

  it("lists answers of a service in trouble separately", () => {
    const full = replyOf(503, errorOf("service_unavailable"), { "retry-after": "1" })
    const { ofTrouble, reachable } = tallyOf(seen(get(statusPath), full)).unseen()
    expect(reachable).toEqual(nothing.reachable)
    expect(gone(nothing.ofTrouble, ofTrouble)).toEqual([
      "getAccountImportStatus 503 service_unavailable"
    ])
  })

  it.each([
    ["an answer that nobody describes", get(statusPath), replyOf(418, errorOf("teapot"))],
    ["an answer without a body", { ...get(statusPath), method: "HEAD" }, replyOf(200, "")],
    ["a path of no operation", get("/v2/"), replyOf(404, errorOf("not_found"))],
    ["no request", { ...get(statusPath), malformed: true as const }, replyOf(200, record)]
  ])("is not less with %s", (_, request, reply) => {
    expect(tallyOf(seen(request, reply)).unseen()).toEqual(nothing)
  })

  it("counts an error's code at any place", () => {
    const tally = tallyOf(seen(post(validatePath, {}), replyOf(400, refusalOf("a.0.b blank"))))
    expect(gone(fieldCodes, tally.unseenFieldCodes())).toEqual(["blank"])
  })
})

describe("what a run has seen", () => {
  const tally = tallyOf(
    seen(get(statusPath), replyOf(200, record), { milliseconds: 4 }),
    seen(get(statusPath), replyOf(200, record), { milliseconds: 2 }),
    seen(get(statusPath), replyOf(404, errorOf("not_found")), { milliseconds: 1 }),
    seen(get(statusPath), replyOf(502, ""), { column: "before", milliseconds: 3 }),
    seen(get("/v2/"), replyOf(404, errorOf("not_found")), { column: "path" })
  )

  it("is a line for each operation and kind", () => {
    expect(tally.table().map((line) => line.replaceAll(/ {2,}/g, "  "))).toEqual([
      "(none of them)  path  404 × 1",
      "getAccountImportStatus  before  502 × 1",
      "getAccountImportStatus  valid  200 × 2  404 × 1"
    ])
  })

  it("is counted and timed", () => {
    expect(tally.requests).toBe(5)
    expect(tally.serverErrors).toBe(1)
    expect(tally.slowest).toEqual({ milliseconds: 4, what: `GET ${statusPath}` })
    expect([0, 0.5, 0.99].map((share) => tally.within(share))).toEqual([1, 2, 4])
  })
})
