/** Each part of an expectation accepts one answer and complains about another. */
import { bodyBytes } from "@data-import/api/Limits"
import { describe, expect, it } from "vitest"
import { type Expectation, post, type Reply } from "../Case.ts"
import {
  answers,
  anything,
  both,
  errorIn,
  errors,
  has,
  hasLength,
  noError,
  where
} from "../Expectation.ts"
import { errorOf, record, refusalOf, replyOf } from "./replies.ts"

const ok = replyOf(200, record)
const gone = replyOf(404, errorOf("not_found"))
const created = replyOf(201, [1, 2])
const refused = (...found: ReadonlyArray<string>) => replyOf(400, refusalOf(...found))
const failed = "400 account_failed_validation"

interface Example {
  readonly expectation: Expectation
  readonly met: ReadonlyArray<Reply>
  readonly unmet: ReadonlyArray<Reply>
  readonly complaint: string
}

const examples: Readonly<Record<string, Example>> = {
  "a status": {
    expectation: answers("200"),
    met: [ok],
    unmet: [created],
    complaint: "200 is expected, 201 came"
  },
  "a code": {
    expectation: answers("200", "404 not_found"),
    met: [gone, ok],
    unmet: [replyOf(404, errorOf("parse_error"))],
    complaint: "200 or 404 not_found is expected, 404 parse_error came"
  },
  "the errors": {
    expectation: errors(failed, "a blank", "b null"),
    met: [refused("a blank", "b null")],
    unmet: [refused("b null", "a blank")],
    complaint: `${failed}, a blank, b null is expected, ${failed}, b null, a blank came`
  },
  "no error besides": {
    expectation: errors(failed, "a blank"),
    met: [refused("a blank")],
    unmet: [refused("a blank", "b null")],
    complaint: "a blank, b null came"
  },
  "the envelope of the errors": {
    expectation: errors(failed, "a blank"),
    met: [refused("a blank")],
    unmet: [replyOf(400, { ...refusalOf("a blank"), code: "request_failed_validation" })],
    complaint: "400 request_failed_validation, a blank came"
  },
  "the error in a body as large as may be": {
    expectation: errorIn(post("/", "x".repeat(bodyBytes)), failed, "a max_length"),
    met: [refused("a max_length")],
    unmet: [replyOf(413, errorOf("payload_too_large"))],
    complaint: `${failed}, a max_length is expected, 413 payload_too_large came`
  },
  "the size of a body that is larger": {
    expectation: errorIn(post("/", "x".repeat(bodyBytes + 1)), failed, "a max_length"),
    met: [replyOf(413, errorOf("payload_too_large"))],
    unmet: [refused("a max_length")],
    complaint: `413 payload_too_large is expected, ${failed} came`
  },
  "no error of these codes": {
    expectation: noError(new Set(["blank"]), /^customers$/),
    met: [refused("a null", "customers blank"), ok],
    unmet: [refused("a null", "customers.0 blank")],
    complaint: "what the document allows is refused: customers.0 blank"
  },
  "a value": {
    expectation: has("status", "COMPLETED"),
    met: [ok],
    unmet: [replyOf(200, { status: "UNKNOWN" })],
    complaint: 'status should be "COMPLETED" and is "UNKNOWN"'
  },
  "a value that is not there": {
    expectation: has("status", "COMPLETED"),
    met: [ok],
    unmet: [created],
    complaint: 'status should be "COMPLETED" and is undefined'
  },
  "a length": {
    expectation: hasLength("", 2),
    met: [created],
    unmet: [replyOf(201, [1])],
    complaint: '2 elements are expected at "", not 1'
  },
  "a length at a place": {
    expectation: hasLength("results", 1),
    met: [replyOf(201, { results: [1] })],
    unmet: [replyOf(201, { results: {} })],
    complaint: '1 elements are expected at "results", not no list'
  },
  "both, the second": {
    expectation: both(answers("200"), has("status", "COMPLETED")),
    met: [ok],
    unmet: [replyOf(200, { status: "UNKNOWN" })],
    complaint: "status should be"
  },
  "both, the first": {
    expectation: both(answers("201"), has("status", "COMPLETED")),
    met: [replyOf(201, record)],
    unmet: [ok],
    complaint: "201 is expected, 200 came"
  },
  "the one of two that is due": {
    expectation: where(400, noError(new Set(["blank"]), /^$/), answers("200")),
    met: [refused("a null"), ok],
    unmet: [gone],
    complaint: "200 is expected, 404 not_found came"
  }
}

describe("what a case expects", () => {
  it.each(Object.entries(examples))("is met: %s", (_, { expectation, met }) => {
    expect(expectation(met)).toEqual([])
  })

  it.each(Object.entries(examples))("is not met: %s", (_, { complaint, expectation, unmet }) => {
    expect(expectation(unmet)).toEqual([expect.stringContaining(complaint)])
  })

  it("is nothing when any answer is allowed", () => {
    expect(anything([gone, replyOf(500, errorOf("error"))])).toEqual([])
  })
})
