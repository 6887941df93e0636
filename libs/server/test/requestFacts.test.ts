/** What the log and the metrics record of a request: its organisation, its subject, its bytes. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { Throttled } from "@data-import/api/Refusal"
import { ApiKeyId, OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { WireCode } from "@data-import/domain/suppliers/Supplier"
import { NotFound } from "@data-import/domain/requests/Failure"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import { mostOrganisations } from "../src/observability/RequestMetrics.ts"
import { request } from "../testing/RawClient.ts"
import { echo, ok, route, start } from "./TestService.ts"

const chunk = new Uint8Array(1_000)

/** Notes the organisation that the path names, as a program would. */
const ofOrganisation = (organisation: string) =>
  RequestFacts.note({ organisation: OrganisationName.make(organisation) })

const routes = [
  route("GET", "/ok/", () => ok),
  route("GET", "/of/:organisation/", ({ params }) =>
    Effect.andThen(ofOrganisation(params["organisation"] ?? ""), ok)
  ),
  route("GET", "/learned/", () =>
    RequestFacts.note({
      organisation: OrganisationName.make("acme"),
      api_key: ApiKeyId.make("key_1"),
      import_supplier: WireCode.make("ACME_LEGACY")
    }).pipe(Effect.andThen(Effect.fail(new NotFound())))
  ),
  route("GET", "/limited/", () =>
    Effect.andThen(
      RequestFacts.note({ limit: "rate", organisation: OrganisationName.make("acme") }),
      Effect.fail(new Throttled({ retryAfterSeconds: 1 }))
    )
  ),
  route("GET", "/stream/", () =>
    Effect.succeed(HttpServerResponse.stream(Stream.make(chunk, chunk, chunk)))
  ),
  echo("/echo/")
]

/** The entries of these requests, once the service has stopped. */
const entriesOf = Effect.fnUntraced(function* (
  requests: ReadonlyArray<Parameters<typeof request>[1]>
) {
  const { log } = yield* Effect.scoped(
    Effect.tap(start({ routes }), ({ port }) =>
      Effect.forEach(requests, (one) => request(port, one))
    )
  )
  return log.filter(({ message }) => message === "answered")
})

describe("the log entry of a request", () => {
  it.effect("has the facts noted about it, and the code of its refusal", () =>
    Effect.gen(function* () {
      const [learned, plain] = yield* entriesOf([{ path: "/learned/" }, { path: "/ok/" }])
      expect(learned).toMatchObject({
        organisation: "acme",
        api_key: "key_1",
        import_supplier: "ACME_LEGACY",
        status: 404,
        code: "not_found"
      })
      expect(Object.keys(plain ?? {})).not.toContain("organisation")
      expect(Object.keys(plain ?? {})).not.toContain("code")
    })
  )

  it.effect("has the bytes of both bodies, except of a stream", () =>
    Effect.gen(function* () {
      const body = JSON.stringify({ number: 1 })
      const headers = { "content-type": "application/json" }
      const [echoed, streamed] = yield* entriesOf([
        { method: "POST", path: "/echo/", headers, body },
        { path: "/stream/" }
      ])
      const answer = JSON.stringify({ body: { number: 1 } })
      expect(echoed).toMatchObject({ bytes_in: body.length, bytes_out: answer.length })
      expect(streamed).toMatchObject({ bytes_in: 0, bytes_out: 0 })
    })
  )
})

describe("the metrics of requests", () => {
  const metricsAfter = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
    const { metricsPort, port } = yield* start({ routes })
    yield* Effect.forEach(paths, (path) => request(port, { path }))
    const { body } = yield* request(metricsPort ?? 0, { path: "/metrics" })
    return body.split("\n")
  })

  it.effect("count what a limit has refused, by organisation", () =>
    Effect.gen(function* () {
      const lines = yield* metricsAfter(["/limited/", "/limited/", "/ok/"])
      const series = 'data_import_throttled_requests_total{limit="rate",organisation="acme"}'
      expect(lines).toContain(`${series} 2`)
      expect(lines).toContain('data_import_refusals_total{code="throttled"} 2')
      expect(lines).toContain('data_import_organisation_requests_total{organisation="acme"} 2')
    })
  )

  it.effect("have separate series for a bounded number of organisations", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: mostOrganisations + 2 }, (_, index) => `org-${index}`)
      const lines = yield* metricsAfter([...names.map((name) => `/of/${name}/`), "/of/org-0/"])
      const series = lines.filter((line) =>
        line.startsWith("data_import_organisation_requests_total{")
      )
      expect(series).toHaveLength(mostOrganisations + 1)
      expect(series).toContain('data_import_organisation_requests_total{organisation="org-0"} 2')
      expect(series).toContain('data_import_organisation_requests_total{organisation="other"} 2')
    })
  )
})
