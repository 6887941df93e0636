/** The rate limit of an organisation, on every operation of the running system. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "@data-import/api/testing/Client"
import { document } from "@data-import/api/testing/ResponseCheck"
import { freshOrganisation } from "@data-import/domain/testing/freshNames"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

const operations = Object.entries(document.paths)
  .filter(([template]) => template.startsWith("/v1/data-import/"))
  .flatMap(([template, methods]) =>
    Object.keys(methods).map((method) => ({
      method: method.toUpperCase(),
      path: template.replaceAll(/[{}]/g, "")
    }))
  )

const client = Effect.gen(function* () {
  const { gatewayUrl } = yield* WholeSystem
  const { name } = yield* freshOrganisation
  const headers = { authorization: `Token ${yield* tokenFor(name)}` }
  return (operation: { readonly method: string; readonly path: string }) =>
    send(gatewayUrl, { ...operation, headers })
})

layer(wholeSystem(healthyWorld({ RATE_LIMIT: "1" })), {
  excludeTestServices: true,
  timeout: "1 minute"
})("an organisation with one request a minute", (it) => {
  describe("is told to wait", () => {
    it.effect.each(operations)("at the second: $method $path", (operation) =>
      Effect.gen(function* () {
        const ask = yield* client
        const first = yield* ask(operation)
        expect(first.status).not.toBe(429)
        expect(first.headers).toMatchObject({
          ratelimit: '"organisation";r=0;t=60',
          "ratelimit-policy": '"organisation";q=1;w=60'
        })
        const { headers, json, status } = yield* ask(operation)
        expect([status, json]).toMatchObject([429, { code: "throttled" }])
        const { ratelimit, "retry-after": seconds } = headers
        expect(Number(seconds)).toBeLessThanOrEqual(60)
        expect(ratelimit).toBe(`"organisation";r=0;t=${seconds}`)
      })
    )
  })

  it.effect("has one rate for all services", () =>
    Effect.gen(function* () {
      const ask = yield* client
      const statuses = yield* Effect.forEach(operations, (operation) =>
        Effect.map(ask(operation), ({ status }) => status)
      )
      expect(statuses.slice(1)).toEqual(operations.slice(1).map(() => 429))
    })
  )
})
