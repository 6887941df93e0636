/** Attacks on the framing: which are sent, their bytes, and what their oracle reports. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { framingAttacks, methods } from "@data-import/server/testing/FramingAttacks"
import { type Case, caseOf, get, post, type Reply, type Request } from "../Case.ts"
import { withEachMethod } from "../Document.ts"
import { framingCases, hiddenEffects, honestly } from "../FramingPlans.ts"
import { complaintsAbout } from "../Oracle.ts"
import { hiddenSupplier, stagePath } from "../Tenant.ts"
import { exchange, nextRequestId, type Target } from "../Wire.ts"
import { errorOf, record, replyOf } from "./replies.ts"
import { answer, behaving } from "./server.ts"

const close = { connection: "close" }
const refused = replyOf(400, errorOf("parse_error"), close)
const kept = replyOf(400, errorOf("parse_error"))
const ok = replyOf(200, record)
const last = replyOf(200, record, close)
const next = replyOf(200, {}, { "x-request-id": nextRequestId })
const gone = replyOf(500, errorOf("error"), close)
const toHead = replyOf(405, "", close)

const doubtful = "CL.TE"
const clear = "a length that is right"
const two = "pipelining"

type Exchange = readonly [attack: string, replies: ReadonlyArray<Reply>, method?: string]

const honest: Readonly<Record<string, Exchange>> = {
  "a refusal that ends the connection": [doubtful, [refused]],
  "an answer before the refusal of what is no request": [doubtful, [ok, refused]],
  "a refusal of the body, and the next answer": [clear, [kept, next]],
  "the last answer of a connection": [clear, [last]],
  "two answers to two requests": [two, [kept, ok, next]],
  "an answer without a body": [clear, [toHead], "HEAD"]
}

const dishonest: Readonly<Record<string, readonly [complaint: string, ...Exchange]>> = {
  "an answer too many": ["2 answers came to 1 requests", clear, [kept, ok, next]],
  "two answers too many": ["3 answers came to 2 requests", two, [ok, ok, ok, next]],
  "an answer after the refusal": ["came after the last one", clear, [refused, ok]],
  "a next answer after the refusal": ["came after the last one", clear, [refused, next]],
  "a connection that goes on": ["the connection lives on", doubtful, [kept, next]],
  "a success": ["in doubt got 200 on a connection to keep", doubtful, [ok]],
  "an error of the server": ["500 error came", clear, [gone]],
  "an error that nobody expects": [
    "404 not_found came",
    clear,
    [replyOf(404, errorOf("not_found")), next]
  ],
  "the next answer alone": ["nobody answered the attack", clear, [next]],
  "no next answer": ["the next request on the connection got no answer", clear, [kept]],
  "no code where there is a body": ["405 came", clear, [toHead], "POST"]
}

const attackOf = (name: string) => {
  const found = framingAttacks.find((attack) => attack.name === name)
  if (found === undefined) throw new Error(`There is no attack ${name}`)
  return found
}

const complaintsOf = ([name, replies, method = "POST"]: Exchange) =>
  honestly(attackOf(name), method)(replies)

describe("the answers to an attack", () => {
  it.each(Object.entries(honest))("are honest: %s", (_, exchange) => {
    expect(complaintsOf(exchange)).toEqual([])
  })

  it.each(Object.entries(dishonest))("are not honest: %s", (_, [complaint, ...exchange]) => {
    expect(complaintsOf(exchange).join("\n")).toContain(complaint)
  })
})

const cases: ReadonlyArray<Case> = framingCases.map((plan, index) =>
  caseOf(plan, `${index}.1`, { apiKey: "k" })
)

const requestsOf = ({ steps }: Case): ReadonlyArray<Request> => steps.map(({ request }) => request)

describe("the cases of every run", () => {
  it("are each operation with each method, and each attack, whole and split", () => {
    const attacked = new Set(
      cases.flatMap((tried) =>
        requestsOf(tried).map(({ method }) => `${tried.operation} ${method}`)
      )
    )
    expect(attacked.size).toBe(withEachMethod(methods).length)
    const requests = cases.flatMap(requestsOf)
    expect(new Set(requests.map(({ smuggled }) => smuggled?.attack)).size).toBe(
      framingAttacks.length
    )
    expect(new Set(requests.map(({ split }) => split))).toEqual(new Set([true, undefined]))
    expect(new Set(requests.map(({ who }) => who))).toEqual(new Set(["demo", "tester", "nobody"]))
  })

  it("hide a staging with a unique number, and check it afterwards", () => {
    const hidden = cases.flatMap(requestsOf).map(({ smuggled }) => String(smuggled?.request.body))
    expect(new Set(hidden).size).toBe(cases.length)
    const asked = cases.map(({ steps: [step] }) => step?.next?.(refused)[0]?.request.path)
    expect(asked[0]).toBe(`/v1/data-import/account-transfer-status/${hiddenSupplier}/hidden%200.1/`)
    expect(new Set(asked).size).toBe(cases.length)
  })
})

const attacked: Request = {
  ...post("/v1/data-import/validate-account/", undefined),
  smuggled: { attack: doubtful, request: post(stagePath, "{}") }
}

const sent = (target: Target, request: Request) =>
  Effect.promise(() => exchange(target, request, { seconds: 5, from: "127.0.0.1", probe: false }))

describe("an attack on the wire", () => {
  it.live("hides the request, with its token, and is followed by another one", () =>
    Effect.gen(function* () {
      let seen = ""
      const target = yield* behaving({
        onBytes: (bytes) => (seen = bytes),
        onEnd: (_, socket) => socket.end(answer(400, "{}", close))
      })
      const { replies } = yield* sent(target, attacked)
      expect(replies).toMatchObject([{ status: 400, body: "{}" }])
      const [head = "", end, hidden, next] = seen.split(/(?=POST|GET|0\r\n\r\n)/)
      expect(head).toMatch(/^POST \/v1\/data-import\/validate-account\/ HTTP\/1.1\r\n/)
      expect(head).toContain("authorization: Token the-token-of-demo\r\n")
      expect(head).toContain("content-length: 5\r\ntransfer-encoding: chunked\r\n")
      expect(end).toBe("0\r\n\r\n")
      expect(hidden).toContain(`POST ${stagePath} HTTP/1.1\r\n`)
      expect(hidden).toContain("authorization: Token the-token-of-demo\r\n")
      expect(next).toContain(`x-request-id: ${nextRequestId}\r\n`)
    })
  )

  it.live("gets all its answers, including excess ones", () =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: () => {},
        onEnd: (_, socket) => socket.end(answer(200, "{}") + answer(100, "") + answer(201, "[]"))
      })
      const { replies } = yield* sent(target, attacked)
      expect(replies.map(({ status, value }) => [status, value])).toEqual([
        [200, {}],
        [201, []]
      ])
      expect(honestly(attackOf(doubtful), "POST")(replies).join("\n")).toContain(
        "2 answers came to 1 requests"
      )
    })
  )

  it.live("is sent in parts when it is split, each when others have been answered", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      const target = yield* behaving({
        onBytes: (bytes) => void seen.push(bytes),
        onEnd: (_, socket) => socket.end(answer(400, "{}", close))
      })
      yield* sent(target, { ...attacked, split: true })
      expect(seen.length).toBeGreaterThanOrEqual(3)
      expect(seen[0]).toMatch(/transfer-encoding: chunked\r\n$/)
      expect(seen[1]).toMatch(/\r\n\r\n$/)
      expect(seen[2]).toContain(stagePath)
    })
  )

  it.live.each([
    ["no answer", ""],
    ["half an answer", answer(200, "{}").slice(0, -1)],
    ["bytes after the answer", `${answer(200, "{}")}HTTP`]
  ])("has no answer where the connection ends with %s", ([, bytes = ""]) =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: () => {},
        onEnd: (_, socket) => socket.end(bytes)
      })
      const waiting = exchange(target, attacked, { seconds: 5, from: "127.0.0.1", probe: false })
      const failed = yield* Effect.promise(() => waiting.catch((error: unknown) => String(error)))
      expect(failed).toContain("the connection ended with")
    })
  )
})

describe("what a hidden request does", () => {
  const target: Target = { port: 8080, tokenOf: () => "a-token" }
  const staged = replyOf(200, { import_supplier: hiddenSupplier })

  it("is detected in the answer to another client", () => {
    const complaint = "the answer is one to a hidden request"
    expect(complaintsAbout(get(stagePath), staged, target, [])).toContain(complaint)
    expect(complaintsAbout(get(`/${hiddenSupplier}/`), staged, target, [])).not.toContain(complaint)
  })

  it.live.each([
    ["[]", []],
    ['[{"external_account_number":"hidden 7.1"}]', [expect.stringContaining("hidden 7.1")]]
  ] as const)("is found in the list of what it staged: %s", ([list, effects]) =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: (_, socket) => void socket.write(answer(200, list))
      })
      expect(yield* Effect.promise(() => hiddenEffects(target))).toEqual(effects)
    })
  )
})
