/** The kinds of client: which are tried, what they send, and what their oracle reports. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { methods } from "@data-import/server/testing/FramingAttacks"
import { type Case, caseOf, get, post, type Reply, type Request, type Step } from "../Case.ts"
import { connectionCases, plansOf } from "../ConnectionPlans.ts"
import { operation, withEachMethod } from "../Document.ts"
import { complaintsAbout } from "../Oracle.ts"
import { exchange, NoAnswer, type Target } from "../Wire.ts"
import { errorOf, record, replyOf } from "./replies.ts"
import { answer, behaving } from "./server.ts"

const path = "/v1/data-import/limits/"

const sent = (target: Target, request: Request, seconds = 5) =>
  Effect.promise(() =>
    exchange(target, request, { seconds, from: "127.0.0.1", probe: false }).catch(
      (error: unknown) => {
        if (error instanceof NoAnswer) return error
        throw error
      }
    )
  )

const bodiesOf = (heard: Effect.Success<ReturnType<typeof sent>>) =>
  heard instanceof NoAnswer ? heard.message : heard.replies.map(({ body }) => body)

describe("a client that closes its sending side", () => {
  const request: Request = { ...post(path, "{}"), halfClosed: true }

  it.live("does so after the request, and gets all answers", () =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: () => {},
        onEnd: (bytes, socket) => socket.end(answer(200, bytes.slice(-2)) + answer(200, "more"))
      })
      expect(bodiesOf(yield* sent(target, request))).toEqual(["{}", "more"])
    })
  )

  it.live("fails when it gets no answer", () =>
    Effect.gen(function* () {
      const target = yield* behaving({ onBytes: () => {} })
      expect(bodiesOf(yield* sent(target, request))).toContain("the connection ended with")
    })
  )

  it.live("fails when the connection does not end", () =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: () => {},
        onEnd: (_, socket) => void socket.write(answer(200, "{}"))
      })
      expect(bodiesOf(yield* sent(target, request, 0.1))).toContain("no answer within")
    })
  )
})

describe("a client that reads slowly", () => {
  const request: Request = { ...get(path), bytesPerRead: 7 }
  const long = "x".repeat(100_000)

  it.live("gets the whole answer", () =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: (_, socket) => socket.end(answer(200, long))
      })
      expect(bodiesOf(yield* sent(target, request))).toEqual([long])
    })
  )

  it.live("begins when another client has been answered", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const target = yield* behaving({
        onBytes: (bytes, socket) => {
          seen.push(bytes.slice(0, bytes.indexOf(" HTTP")))
          socket.end(answer(200, "{}"))
        },
        onHealth: () => void seen.push("another")
      })
      yield* sent(target, request)
      expect(seen).toEqual([`GET ${path}`, "another"])
    })
  )

  it.live("fails when the answer is cut off", () =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: (_, socket) => socket.end(answer(200, long).slice(0, -1))
      })
      expect(bodiesOf(yield* sent(target, request))).toContain("the connection ended with")
    })
  )
})

const cases: ReadonlyArray<Case> = connectionCases.map((plan, index) =>
  caseOf(plan, `${index}.1`, { apiKey: "k" })
)

describe("the cases of every run", () => {
  it("are each operation with each method", () => {
    const asked = new Set(
      cases.flatMap(({ operation, steps }) =>
        steps.map(({ request }) => `${operation} ${request.method}`)
      )
    )
    expect(asked.size).toBe(withEachMethod(methods).length)
  })

  it("are of every kind of client", () => {
    const names = cases.map(({ name }) => name).join("\n")
    for (const kind of ["upgrade", "host", "nothing to come", "header", "a body", "reading"]) {
      expect(names).toContain(kind)
    }
    const sent = cases.flatMap(({ steps }) => steps.map(({ request }) => request))
    expect(sent.some(({ halfClosed }) => halfClosed)).toBe(true)
    expect(sent.some(({ bytesPerRead = 0 }) => bytesPerRead > 1_000)).toBe(true)
  })
})

/** The first step of the first case of this name. */
const stepNamed = (name: string, method: string): Step => {
  const found = plansOf(operation(status), method).find(
    (plan) => plan.name === `${name}, ${method}`
  )
  const [step] = found?.steps("1.1", { apiKey: "k" }) ?? []
  if (step === undefined) throw new Error(`There is no case ${name}, ${method}`)
  return step
}

const last = { connection: "close" }
const ok = replyOf(200, record)
const okLast = replyOf(200, record, last)
const malformed = replyOf(400, errorOf("parse_error"), last)
const tooLarge = replyOf(431, errorOf("headers_too_large"), last)
const kept = replyOf(400, errorOf("parse_error"))
const unavailable = replyOf(503, errorOf("service_unavailable"))

const status = "getAccountImportStatus"

const checked: ReadonlyArray<
  readonly [name: string, method: string, good: ReadonlyArray<Reply>, bad: ReadonlyArray<Reply>]
> = [
  ["an upgrade to h2c", "GET", [okLast], [ok]],
  ["an upgrade to websocket", "GET", [okLast], [unavailable]],
  ["an upgrade to h2c", "DELETE", [replyOf(405, errorOf("method_not_allowed"), last)], [okLast]],
  ["the host [::1", "GET", [malformed], [unavailable]],
  ["two hosts", "GET", [malformed], [okLast]],
  ["two hosts", "HEAD", [replyOf(400, "", last)], [replyOf(200, "", last)]],
  ["the host user@127.0.0.1", "GET", [malformed], [kept]],
  ["a host of 64 KiB", "GET", [tooLarge], [malformed]],
  ["nothing to come after the request", "GET", [ok], [ok, ok]],
  ["the end within the body", "GET", [malformed], [ok]],
  ["a header of 16 KiB", "GET", [tooLarge], [ok]],
  ["a head as large as may be", "GET", [ok], [tooLarge]],
  ["a token of 60 KB", "GET", [tooLarge], [replyOf(413, errorOf("payload_too_large"), last)]],
  ["a body, whatever the method", "GET", [malformed], [ok]],
  ["a body, whatever the method", "TRACE", [malformed], [kept]],
  ["reading 7 bytes at a time", "GET", [okLast, okLast, okLast], [okLast, okLast]]
]

describe("the answers on a connection", () => {
  it.each(checked)("are validated: %s, %s", (name, method, good, bad) => {
    const { expect: check } = stepNamed(name, method)
    expect(check(good)).toEqual([])
    expect(check(bad)).not.toEqual([])
  })

  it("may refuse HEAD before its operation is known, without a code", () => {
    const target: Target = { port: 8080, tokenOf: () => "a-token" }
    const head: Request = { ...get(path), method: "HEAD", malformed: true }
    expect(complaintsAbout(head, replyOf(431, "", last), target, [])).toEqual([])
    expect(complaintsAbout(head, replyOf(418, "", last), target, [])).not.toEqual([])
  })
})
