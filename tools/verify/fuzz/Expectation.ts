/**
 * Expectations of answers, composed from small parts. Each part returns a sentence for each
 * difference. `Oracle.ts` checks what every answer must satisfy.
 */
import { bodyBytes, tokenBodyBytes } from "@data-import/api/Limits"
import { get } from "@data-import/domain/testing/wire"
import type { Expectation, Reply, Request } from "./Case.ts"
import { tokenPath } from "./Document.ts"

const clip = (text: string): string => (text.length > 600 ? `${text.slice(0, 600)}…` : text)

const codeOf = ({ value }: Reply): string => {
  const code = get(value, "code")
  return typeof code === "string" ? code : ""
}

/** `attr code` of every error object. */
export const errorsOf = ({ value }: Reply): ReadonlyArray<string> => {
  const errors = get(value, "errors")
  return Array.isArray(errors)
    ? errors.map((error) => `${String(get(error, "attr"))} ${String(get(error, "code"))}`)
    : []
}

/** How an answer is written where it is expected: the status, and the code if it has one. */
export const outcomeOf = (reply: Reply): string => `${reply.status} ${codeOf(reply)}`.trim()

const each =
  (check: (reply: Reply) => string | null): Expectation =>
  (replies) =>
    replies.flatMap((reply) => {
      const wrong = check(reply)
      return wrong === null ? [] : [`${wrong}, and the answer is ${clip(reply.body)}`]
    })

/** One of these, each written `200` or `404 not_found`. */
export const answers = (...outcomes: ReadonlyArray<string>): Expectation =>
  each((reply) =>
    outcomes.includes(outcomeOf(reply)) || outcomes.includes(String(reply.status))
      ? null
      : `${outcomes.join(" or ")} is expected, ${outcomeOf(reply)} came`
  )

/** This outcome; for HEAD without a body, and so without a code. */
export const answersTo = (method: string, outcome: string): Expectation =>
  answers(method === "HEAD" ? (outcome.split(" ")[0] ?? "") : outcome)

/** Exactly this many answers. */
export const hasAnswers =
  (count: number): Expectation =>
  (replies) =>
    replies.length === count ? [] : [`${count} answers are expected, ${replies.length} came`]

/** No expectation beyond that for every answer. */
export const anything: Expectation = () => []

/** A refusal with exactly these errors, each written `attr code`, in this order. */
export const errors = (outcome: string, ...expected: ReadonlyArray<string>): Expectation =>
  each((reply) => {
    const found = [outcomeOf(reply), ...errorsOf(reply)].join(", ")
    const wanted = [outcome, ...expected].join(", ")
    return found === wanted ? null : `${clip(wanted)} is expected, ${clip(found)} came`
  })

/** This, or a refusal for its size if the body exceeds the limit of the path. */
export const unlessTooLarge = ({ body = "", path }: Request, expect: Expectation): Expectation =>
  Buffer.byteLength(body) > (path === tokenPath ? tokenBodyBytes : bodyBytes)
    ? answers("413 payload_too_large")
    : expect

/**
 * A refusal with exactly this error, or for its size if the request exceeds every limit, as a list
 * of too many long elements does.
 */
export const errorIn = (request: Request, outcome: string, error: string): Expectation =>
  unlessTooLarge(request, errors(outcome, error))

/** No error with one of these codes, except at the excepted places. */
export const noError = (codes: ReadonlySet<string>, excepted: RegExp): Expectation =>
  each((reply) => {
    const wrong = errorsOf(reply).filter((error) => {
      const at = error.lastIndexOf(" ")
      return codes.has(error.slice(at + 1)) && !excepted.test(error.slice(0, at))
    })
    return wrong.length === 0 ? null : `what the document allows is refused: ${wrong.join(", ")}`
  })

/** The answer has this value at the path. */
export const has = (path: string, value: unknown): Expectation =>
  each((reply) => {
    const found = JSON.stringify(get(reply.value, path))
    const wanted = JSON.stringify(value)
    return found === wanted ? null : `${path} should be ${wanted} and is ${String(found)}`
  })

/** The answer has a list of this many elements at the path, or is one. */
export const hasLength = (path: string, length: number): Expectation =>
  each((reply) => {
    const list = path === "" ? reply.value : get(reply.value, path)
    const found = Array.isArray(list) ? list.length : "no list"
    return found === length ? null : `${length} elements are expected at "${path}", not ${found}`
  })

/** All of them. */
export const both =
  (...expectations: ReadonlyArray<Expectation>): Expectation =>
  (replies) =>
    expectations.flatMap((expectation) => expectation(replies))

/** The first if the answer has the status, otherwise the second. */
export const where =
  (status: number, then: Expectation, otherwise: Expectation): Expectation =>
  (replies) =>
    replies.flatMap((reply) => (reply.status === status ? then : otherwise)([reply]))

/** The connection ends with the answer. */
export const closes: Expectation = each(({ headers }) =>
  headers["connection"] === "close" ? null : "the connection stays open"
)
