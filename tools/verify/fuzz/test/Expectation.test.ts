/** Each expectation accepts one answer and complains about another. */
import { bodyBytes } from "@data-import/api/Limits"
import { framingAttacks } from "@data-import/server/testing/FramingAttacks"
import { describe, expect, it } from "vitest"
import { type Expectation, post, type Reply } from "../Case.ts"
import * as Expect from "../Expectation.ts"
import { honestly } from "../FramingPlans.ts"
import { Tally } from "../Tally.ts"
import { nextRequestId } from "../Wire.ts"
import { bounded } from "../WorstBodyPlans.ts"
import { errorOf, record, refusalOf, replyOf } from "./replies.ts"

type Replies = ReadonlyArray<Reply>

const failed = "400 account_failed_validation"
const ok = replyOf(200, record)
const created = replyOf(201, [1, 2])
const gone = replyOf(404, errorOf("not_found"))
const large = replyOf(413, errorOf("payload_too_large"))
const refused = (...found: ReadonlyArray<string>) => replyOf(400, refusalOf(...found))
const tooLong = (size: number) =>
  Expect.errorIn(post("/", "x".repeat(size)), failed, "a max_length")

const parts: ReadonlyArray<readonly [string, Expectation, good: Reply, bad: Reply]> = [
  ["a code", Expect.answers("404 not_found"), gone, replyOf(404, errorOf("parse_error"))],
  [
    "errors in their order",
    Expect.errors(failed, "a blank", "b null"),
    refused("a blank", "b null"),
    refused("b null", "a blank")
  ],
  ["the error in a body as large as may be", tooLong(bodyBytes), refused("a max_length"), large],
  ["the size of a larger body", tooLong(bodyBytes + 1), large, refused("a max_length")],
  [
    "no error of a code",
    Expect.noError(new Set(["blank"]), /^customers$/),
    refused("a null", "customers blank"),
    refused("customers.0 blank")
  ],
  ["a value", Expect.has("status", "COMPLETED"), ok, created],
  ["the end of the connection", Expect.closes, replyOf(200, record, { connection: "close" }), ok]
]

const close = { connection: "close" }
const refusal = replyOf(400, errorOf("parse_error"), close)
const kept = replyOf(400, errorOf("parse_error"))
const next = replyOf(200, {}, { "x-request-id": nextRequestId })
const toHead = replyOf(405, "", close)

const doubtful = "CL.TE"
const clear = "a length that is right"
const two = "pipelining"

const attacks: ReadonlyArray<
  readonly [attack: string, Replies, complaint: string | null, method?: string]
> = [
  [doubtful, [refusal], null],
  [doubtful, [ok, refusal], null],
  [clear, [kept, next], null],
  [clear, [replyOf(200, record, close)], null],
  [two, [kept, ok, next], null],
  [clear, [toHead], null, "HEAD"],
  [clear, [kept, ok, next], "2 answers came to 1 requests"],
  [two, [ok, ok, ok, next], "3 answers came to 2 requests"],
  [clear, [refusal, ok], "came after the last one"],
  [clear, [refusal, next], "came after the last one"],
  [doubtful, [kept, next], "the connection lives on"],
  [doubtful, [ok], "in doubt got 200 on a connection to keep"],
  [clear, [replyOf(500, errorOf("error"), close)], "500 error came"],
  [clear, [gone, next], "404 not_found came"],
  [clear, [next], "nobody answered the attack"],
  [clear, [kept], "the next request on the connection got no answer"],
  [clear, [toHead], "405 came"]
]

const body = JSON.stringify({
  payload: { b: [{ y: 1, x: 2 }, { z: 3 }], a: 1, [`${"k".repeat(300)}`]: {} }
})
const many = (count: number) => refusalOf(...Array.from({ length: count }, () => "a blank"))
const andMore = { detail: "The body breaks more than 1,000 rules; 1,000 are listed." }

const lists: ReadonlyArray<readonly [Reply, complaint: string | null]> = [
  [refused("b.0.y blank", "b.0.x null", "b.0 null", "b.1.z null", "b empty", "a null"), null],
  [refused("c required", "a null", "d required"), null],
  [refused("a null", "non_field_errors empty"), null],
  [replyOf(400, { ...many(1_000), ...andMore }), null],
  [replyOf(400, errorOf("parse_error")), null],
  [refused("b.0.x null", "b.0.y null"), "b.0.y is listed too late"],
  [refused("b.1.z null", "b.0.y null"), "b.0.y is listed too late"],
  [refused("b.0 null", "b.0.x null"), "b.0.x is listed too late"],
  [refused("non_field_errors empty", "a null"), "a is listed too late"],
  [replyOf(400, many(1_001)), "1001 errors are listed"],
  [replyOf(400, { ...many(7), ...andMore }), "7 errors are listed, and the answer says"],
  [replyOf(400, { ...refusalOf("a blank"), detail: "x".repeat(1_100_000) }), "the answer has"]
]

const expectOnly = (complaints: ReadonlyArray<string>, complaint: string | null): void => {
  if (complaint === null) expect(complaints).toEqual([])
  else expect(complaints.join("\n")).toContain(complaint)
}

describe("what a case expects", () => {
  it.each(parts)("is met or not: %s", (_, expectation, good, bad) => {
    expect(expectation([good])).toEqual([])
    expect(expectation([bad])).toHaveLength(1)
  })

  it("is so many answers", () => {
    expect(Expect.hasAnswers(2)([ok, ok])).toEqual([])
    expect(Expect.hasAnswers(2)([ok])).toHaveLength(1)
  })

  it.for(attacks)("of an attack, %s, is met or not: %#", ([name, replies, complaint, method]) => {
    const attack = framingAttacks.find((each) => each.name === name)
    if (attack === undefined) throw new Error(`There is no attack ${name}`)
    expectOnly(honestly(attack, method ?? "POST")(replies), complaint)
  })

  it.for(lists)("of the errors of a large body is met or not: %#", ([reply, complaint]) => {
    expectOnly(bounded(body)([reply]), complaint)
  })
})

describe("a run that has seen nothing", () => {
  it("misses every documented answer, and each code of an error", () => {
    const none = new Tally()
    expect(none.unseen().reachable).toContain("getAccountImportStatus 404 not_found")
    expect(none.unseenFieldCodes()).toContain("blank")
  })
})
