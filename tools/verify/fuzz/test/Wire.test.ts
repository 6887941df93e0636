/** The bytes that are sent, and what counts as an answer. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { get, post, type Request } from "../Case.ts"
import { hiddenEffects } from "../FramingPlans.ts"
import { stagePath } from "../TenantNames.ts"
import { exchange, nextRequestId, type Target } from "../Wire.ts"
import { answer, behaving } from "./server.ts"

const close = { connection: "close" }

const attacked: Request = {
  ...post("/v1/data-import/validate-account/", undefined),
  smuggled: { attack: "CL.TE", request: post(stagePath, "{}") }
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

describe("a client that reads slowly", () => {
  it.live("begins when another client has been answered, and gets the whole answer", () =>
    Effect.gen(function* () {
      const long = "x".repeat(100_000)
      const seen: Array<string> = []
      const target = yield* behaving({
        onBytes: (bytes, socket) => {
          seen.push(bytes.slice(0, bytes.indexOf(" HTTP")))
          socket.end(answer(200, long))
        },
        onHealth: () => void seen.push("another")
      })
      const { replies } = yield* sent(target, { ...get("/slow/"), bytesPerRead: 7 })
      expect(replies.map(({ body }) => body)).toEqual([long])
      expect(seen).toEqual(["GET /slow/", "another"])
    })
  )
})

describe("what hidden requests have staged", () => {
  it.live.each([
    ["[]", []],
    ['[{"external_account_number":"hidden 7.1"}]', [expect.stringContaining("hidden 7.1")]]
  ] as const)("is found in the list: %s", ([list, effects]) =>
    Effect.gen(function* () {
      const target = yield* behaving({
        onBytes: (_, socket) => void socket.write(answer(200, list))
      })
      expect(yield* Effect.promise(() => hiddenEffects(target))).toEqual(effects)
    })
  )
})
