/**
 * The query parameters of every operation: an undocumented one is refused, in the same answer as
 * the other faults of the request, and after the checks that come before.
 */
import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpApi, type HttpApiEndpoint } from "effect/http-api"
import { Api } from "@data-import/api/Api"
import { type Request, send } from "@data-import/api/testing/Client"
import { freshOrganisation } from "@data-import/domain/testing/freshNames"
import { healthyWorld } from "./healthyWorld.ts"
import { tokenFor, wholeSystem, WholeSystem } from "./wholeSystem.ts"

const endpoints: Array<HttpApiEndpoint.Top> = []
HttpApi.reflect(Api, {
  onGroup: () => undefined,
  onEndpoint: ({ endpoint }) => void endpoints.push(endpoint)
})

/** Published for every client, so they refuse no parameter. */
const published = ["getSigningKeys", "getCertificateKeys"]

const operations = endpoints
  .filter(({ identifier }) => !published.includes(identifier))
  .map((endpoint) => [endpoint.identifier, endpoint] as const)

/** The code of a failed validation, which is different for requests about an account. */
const codeOf = (name: string): string =>
  ["validateAccount", "stageAccount", "processAccount"].includes(name)
    ? "account_failed_validation"
    : "request_failed_validation"

const pathOf = ({ path }: HttpApiEndpoint.Top): string => path.replaceAll(/:\w+/g, "NOBODY")

/** A request with only its query, and a body that breaks rules if the operation takes one. */
const asking = (endpoint: HttpApiEndpoint.Top, search: string): Omit<Request, "headers"> => ({
  method: endpoint.method,
  path: `${pathOf(endpoint)}${search}`,
  ...(endpoint.method !== "GET" && { body: "{}" })
})

/** Whether it reads a JSON body, whose faults are reported as well. */
const readsBody = (endpoint: HttpApiEndpoint.Top): boolean =>
  !isUpload(endpoint) && (endpoint.payload.size > 0 || endpoint.identifier === "obtainServiceToken")

const isUpload = ({ identifier }: HttpApiEndpoint.Top): boolean => identifier === "sendBatchLines"

const typeOf = (endpoint: HttpApiEndpoint.Top) => ({
  "content-type": isUpload(endpoint) ? "application/x-ndjson" : "application/json"
})

const ask = Effect.fnUntraced(function* (request: Request) {
  const { gatewayUrl } = yield* WholeSystem
  return yield* send(gatewayUrl, request)
})

const authorized = Effect.gen(function* () {
  const { name } = yield* freshOrganisation
  const authorization = `Token ${yield* tokenFor(name)}`
  return (endpoint: HttpApiEndpoint.Top, request: Omit<Request, "headers">) =>
    ask({ ...request, headers: { ...typeOf(endpoint), authorization } })
})

const faultsOf = ({ json }: { readonly json: unknown }) =>
  (json as { readonly errors: ReadonlyArray<{ readonly attr: string; readonly code: string }> })
    .errors

layer(wholeSystem(healthyWorld()), { excludeTestServices: true, timeout: "2 minutes" })(
  "the query of",
  (it) => {
    describe("an operation", () => {
      it.effect.each(operations)("%s refuses undocumented parameters", ([name, endpoint]) =>
        Effect.gen(function* () {
          const asked = yield* authorized
          const answer = yield* asked(endpoint, asking(endpoint, "?surprise=1&surprise=2"))
          expect([answer.status, (answer.json as { code: string }).code]).toEqual([
            400,
            codeOf(name)
          ])
          const faults = faultsOf(answer)
          expect(faults).toContainEqual(
            expect.objectContaining({ attr: "surprise", code: "unknown_parameter" })
          )
          // GraphQL validates the body of the token mutation, and answers in another format.
          // Without control totals nothing is expected.
          const isFine = ["obtainServiceToken", "setControlTotals"].includes(name)
          const hasBody = readsBody(endpoint) && !isFine
          const lacksParameter = ["listBatches", "listCertificates", "listAccounts"].includes(name)
          expect(faults.length > 1, "with other faults").toBe(hasBody || lacksParameter)
        })
      )

      it.effect.each(operations)("%s refuses more than a hundred parameters", ([name, endpoint]) =>
        Effect.gen(function* () {
          const asked = yield* authorized
          const answer = yield* asked(endpoint, asking(endpoint, `?${"a&".repeat(101)}`))
          expect([answer.status, (answer.json as { code: string }).code]).toEqual([
            400,
            codeOf(name)
          ])
          expect(faultsOf(answer)[0]).toMatchObject({
            attr: "non_field_errors",
            code: "max_length"
          })
        })
      )

      it.effect.each(operations)("%s checks its parameters last", ([, endpoint]) =>
        Effect.gen(function* () {
          const asked = yield* authorized
          const request = asking(endpoint, "?surprise=1")
          const statusOf = Effect.map(({ status }: { readonly status: number }) => status)
          const { body: _, ...withoutBody } = request
          expect(yield* statusOf(asked(endpoint, { ...withoutBody, method: "OPTIONS" }))).toBe(405)
          if (request.path !== "/v1/graphql/?surprise=1") {
            expect(yield* statusOf(ask({ ...request, headers: typeOf(endpoint) }))).toBe(401)
          }
          if (!readsBody(endpoint)) return
          expect((yield* asked(endpoint, { ...request, body: "{" })).json).toMatchObject({
            code: "parse_error"
          })
        })
      )
    })

    it.effect("is ignored on published paths", () =>
      Effect.gen(function* () {
        const { gatewayUrl } = yield* WholeSystem
        for (const path of [
          "/.well-known/certificate-keys.json",
          "/.well-known/jwks.json",
          "/openapi.json",
          "/docs",
          "/health/ready"
        ]) {
          const url = `${gatewayUrl}${path}?v=1&${"a&".repeat(200)}`
          const answer = yield* Effect.promise(() => fetch(url))
          expect(answer.status, path).toBe(200)
        }
      })
    )
  }
)
