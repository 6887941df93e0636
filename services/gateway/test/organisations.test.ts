/** The share of one organisation in the requests in progress, over all services. */
import { readFileSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect, Queue } from "effect"
import { bytesOf, open, request } from "@data-import/server/testing/RawClient"
import { layer as issue, TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { behind, gateway } from "./gatewayService.ts"

const root = "/v1/data-import"

layer(issue, { excludeTestServices: true })("an organisation", (it) => {
  it.effect("has at most half of the requests in progress", () =>
    Effect.gen(function* () {
      const issuer = yield* TokenIssuer
      const keys = readFileSync(issuer.jwksFile)
      const held = yield* Queue.unbounded<void>()
      const { url } = yield* behind((incoming, answer) => {
        if (incoming.url === "/.well-known/jwks.json") answer.end(keys)
        else if (incoming.url?.startsWith(`${root}/limits/`)) answer.end("{}")
        else Queue.offerUnsafe(held, undefined)
      })
      const settings = { MAX_REQUESTS_IN_PROGRESS: "4", MAX_REQUESTS_PER_ADDRESS: "4" }
      const port = yield* gateway(url, settings)
      const sentBy = (organisation: string, path: string) =>
        Effect.map(issuer.tokenNaming(organisation), (token) => ({
          path: `${root}/${path}`,
          headers: { authorization: `Token ${token}` }
        }))
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
})
