/** The share of one organisation in the requests in progress, over all services. */
import { readFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { expect, layer } from "@effect/vitest"
import { Array, Effect, Queue } from "effect"
import { TestClock } from "effect/testing"
import { bytesOf, open, request } from "@data-import/server/testing/RawClient"
import { layer as issue, TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { behind, gateway } from "./gatewayService.ts"

const root = "/v1/data-import"

/** A request for a path, with a token of the organisation. */
const sentBy = Effect.fnUntraced(function* (organisation: string, path: string) {
  const token = yield* Effect.flatMap(TokenIssuer, (issuer) => issuer.tokenNaming(organisation))
  return { path: `${root}/${path}`, headers: { authorization: `Token ${token}` } }
})

/** A gateway before a service that answers `limits/`. It holds all other requests. */
const holding = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>> = {}) {
  const issuer = yield* TokenIssuer
  const keys = readFileSync(issuer.jwksFile)
  const held = yield* Queue.unbounded<ServerResponse>()
  const { url } = yield* behind((incoming, answer) => {
    if (incoming.url === "/.well-known/jwks.json") answer.end(keys)
    else if (incoming.url?.startsWith(`${root}/limits/`)) answer.end("{}")
    else Queue.offerUnsafe(held, answer)
  })
  return { held, port: yield* gateway(url, settings) }
})

layer(issue, { excludeTestServices: true })("an organisation", (it) => {
  it.effect("has at most half of the requests in progress", () =>
    Effect.gen(function* () {
      const settings = { MAX_REQUESTS_IN_PROGRESS: "4", MAX_REQUESTS_PER_ADDRESS: "4" }
      const { held, port } = yield* holding(settings)
      const busy = yield* Effect.forEach(["batches/", "accounts/1/"], (path) =>
        Effect.gen(function* () {
          const connection = yield* open(port)
          connection.send(bytesOf(yield* sentBy("acme", path)))
          yield* Queue.take(held)
          return connection
        })
      )
      const refused = yield* request(port, yield* sentBy("acme", "limits/"))
      expect([refused.status, refused.json()]).toMatchObject([429, { code: "throttled" }])
      expect((yield* request(port, yield* sentBy("rival", "limits/"))).status).toBe(200)
      busy.forEach((connection) => connection.reset())
    })
  )

  it.effect("has at most 32 requests at a service while another sends some", () =>
    Effect.gen(function* () {
      const { held, port } = yield* Effect.provide(holding(), TestClock.layer())
      const another = Effect.flatMap(sentBy("rival", "limits/"), (sent) => request(port, sent))
      expect((yield* another).status).toBe(200)
      const sent = bytesOf(yield* sentBy("acme", "batches/"))
      const busy = yield* Effect.forEach(Array.range(1, 33), () => open(port))
      busy.forEach((connection) => connection.send(sent))
      const [first] = yield* Queue.takeN(held, 32)
      expect((yield* another).status).toBe(200)
      expect(yield* Queue.size(held)).toBe(0)
      first?.write("[")
      yield* Queue.take(held)
      busy.forEach((connection) => connection.reset())
    })
  )
})
