/** The whole system without its database: every operation answers 503, and recovers. */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "@data-import/api/testing/Client"
import { away } from "@data-import/postgres/testing/DatabaseProxy"
import { until } from "@data-import/server/testing/RunningService"
import { freshOrganisation } from "@data-import/domain/testing/freshNames"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, WholeSystem, wholeSystemBehindProxy } from "./wholeSystem.ts"

const paths = [
  "/v1/data-import/validate-account/",
  "/v1/data-import/notes/create/",
  "/v1/graphql/",
  "/v1/data-import/account-transfer-status/NOBODY/1/"
]

layer(wholeSystemBehindProxy(healthyWorld()), { excludeTestServices: true, timeout: "1 minute" })(
  "without its database",
  (it) => {
    describe("the gateway", () => {
      it.effect("stays ready, and forwards the 503 of each service", () =>
        Effect.gen(function* () {
          const { gatewayUrl } = yield* WholeSystem
          const { name } = yield* freshOrganisation
          const token = yield* tokenFor(name)
          const headers = { authorization: `Token ${token}`, "content-type": "application/json" }
          const query = `mutation { obtainServiceToken(input: {APIKey: "sk_x"}) { token } }`
          const body = JSON.stringify({ query })
          const asked = paths.map((path) =>
            path.includes("status")
              ? send(gatewayUrl, { path, headers })
              : send(gatewayUrl, { method: "POST", path, headers, body })
          )
          const ready = send(gatewayUrl, { path: "/health/ready" })
          const replies = yield* away(Effect.all([ready, ...asked, ready, ...asked, ready]))
          const [first, ...rest] = replies.map(({ status }) => status)
          const half = [503, 503, 503, 503, 200]
          expect([first, ...rest]).toEqual([200, ...half, ...half])
          for (const { headers, json, status } of replies) {
            if (status !== 503) continue
            expect(json).toMatchObject({ code: "service_unavailable" })
            expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1)
          }
          yield* until(Effect.all(asked), (answers) => answers.every(({ status }) => status < 500))
        })
      )
    })
  }
)
