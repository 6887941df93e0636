/** Every answer of a deprecated operation says so, including refusals. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { deprecated } from "@data-import/api/Deprecation"
import { limits } from "@data-import/api/Limits"
import { SystemGroup } from "@data-import/api/SystemApi"
import { ServiceUnavailable } from "@data-import/domain/requests/Failure"
import * as Answer from "../src/http/Answer.ts"
import * as Route from "../src/routing/Route.ts"
import { request } from "../testing/RawClient.ts"
import { authorize, ok, route, start } from "./TestService.ts"

const marked = SystemGroup.annotateEndpointsMerge(
  deprecated({ since: "2027-01-01", sunset: "2028-01-01", instead: "Use another one." })
)

const path = "/v1/data-import/limits/"

const serviceOf = (answer: Answer.Answered) => ({
  authorize,
  routes: [
    ...Route.handle(marked, { getLimits: () => answer as never }),
    route("GET", "/other/", () => ok)
  ]
})

const headers = { authorization: "Token reader" }

const told = {
  deprecation: "@1798761600",
  sunset: "Sat, 01 Jan 2028 00:00:00 GMT",
  link: '</docs/versions>; rel="deprecation"; type="text/html"'
}

describe("a deprecated operation", () => {
  it.effect("says so in each success and refusal", () =>
    Effect.gen(function* () {
      const cases = [
        [200, Effect.succeed(Answer.json(200, limits)), headers],
        [401, ok, {}],
        [406, ok, { ...headers, accept: "text/html" }],
        [503, Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 1 })), headers],
        [500, Effect.die("a defect"), headers]
      ] as const
      for (const [status, given, sent] of cases) {
        const { port } = yield* start(serviceOf(given))
        const got = yield* request(port, { path, headers: sent })
        expect([got.status, got.headers]).toEqual([status, expect.objectContaining(told)])
      }
    })
  )

  it.effect("keeps the links of its answers", () =>
    Effect.gen(function* () {
      const next = `<${path}?after=2>; rel="next"`
      const linked = Effect.succeed(Answer.json(200, [], { link: next }))
      const { port } = yield* start(serviceOf(linked))
      const got = yield* request(port, { path, headers })
      expect(got.headers["link"]).toBe(`${next}, ${told.link}`)
    })
  )
})

describe("another operation", () => {
  it.effect("does not announce a deprecation, nor does another method of the path", () =>
    Effect.gen(function* () {
      const { port } = yield* start(serviceOf(ok))
      const answers = [
        yield* request(port, { path: "/other/" }),
        yield* request(port, { path: "/nowhere/" }),
        yield* request(port, { method: "OPTIONS", path, headers })
      ]
      expect(answers.map(({ status }) => status)).toEqual([200, 404, 405])
      for (const got of answers) {
        expect(Object.keys(got.headers)).not.toEqual(expect.arrayContaining(["deprecation"]))
        expect(got.headers["sunset"]).toBeUndefined()
      }
    })
  )
})
