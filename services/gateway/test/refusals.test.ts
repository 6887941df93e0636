/** The gateway's own refusals, for every operation of the document. */
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit } from "effect"
import { tokenBodyBytes } from "@data-import/api/Limits"
import { send } from "@data-import/api/testing/Client"
import { document } from "@data-import/api/testing/ResponseCheck"
import { bytesOf, open, request } from "@data-import/server/testing/RawClient"
import { behind, gateway } from "./gatewayService.ts"

const operations = Object.entries(document.paths).flatMap(([template, methods]) =>
  Object.keys(methods).map((method) => ({
    method: method.toUpperCase(),
    path: template.replaceAll(/[{}]/g, "")
  }))
)

const nothing = behind((_incoming, answer) => {
  answer.writeHead(500).end()
})

describe("every operation", () => {
  it.live("is 431 with headers of 60 KB", () =>
    Effect.gen(function* () {
      const port = yield* gateway((yield* nothing).url)
      const headers = { authorization: `Token ${"x".repeat(60_000)}` }
      for (const operation of operations) {
        const answer = yield* send(`http://127.0.0.1:${port}`, { ...operation, headers })
        expect(answer).toMatchObject({ status: 431, json: { code: "headers_too_large" } })
      }
    })
  )

  it.live("is 400 with an invalid Host", () =>
    Effect.gen(function* () {
      const port = yield* gateway((yield* nothing).url)
      for (const operation of operations) {
        const headers = { host: "[::1" }
        const answer = yield* send(`http://127.0.0.1:${port}`, { ...operation, headers })
        expect(answer).toMatchObject({ status: 400, json: { code: "parse_error" } })
      }
    })
  )

  it.live("is 429 for an address with too many requests in progress", () =>
    Effect.gen(function* () {
      const asked = yield* Deferred.make<void>()
      const { url } = yield* behind(() => void Deferred.doneUnsafe(asked, Exit.void))
      const port = yield* gateway(url, { MAX_REQUESTS_PER_ADDRESS: "1" })
      const busy = yield* open(port)
      busy.send(bytesOf({ path: "/v1/data-import/limits/" }))
      yield* Deferred.await(asked)
      for (const operation of operations) {
        const answer = yield* send(`http://127.0.0.1:${port}`, operation)
        expect(answer).toMatchObject({ status: 429, json: { code: "throttled" } })
      }
      busy.reset()
    })
  )
})

describe("the token mutation", () => {
  it.live.each([0, 1])("has a body of at most 64 KiB: %i bytes more", (more) =>
    Effect.gen(function* () {
      const { url } = yield* behind((incoming, answer) => {
        incoming.resume().once("end", () => answer.end("{}"))
      })
      const body = " ".repeat(tokenBodyBytes + more)
      const headers = { "content-type": "application/json" }
      const sent = { method: "POST", path: "/v1/graphql/", headers, body }
      const answer = yield* request(yield* gateway(url), sent)
      expect(answer.status).toBe(more === 0 ? 200 : 413)
    })
  )
})
