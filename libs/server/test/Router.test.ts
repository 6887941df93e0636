import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { ServiceUnavailable } from "@data-import/domain/requests/Failure"
import * as Answer from "../src/http/Answer.ts"
import type { LimitOrganisation } from "../src/limits/OrganisationConcurrency.ts"
import * as Router from "../src/routing/Router.ts"
import { request } from "../testing/RawClient.ts"
import { authorize, echo, ok, route, start } from "./TestService.ts"

const service = {
  authorize,
  routes: [
    route("GET", "/open/", ({ query }) => Effect.succeed(Answer.json(200, query))),
    route("GET", "/list/", () => ok, "import:read"),
    echo("/write/", "import:write"),
    route(
      "GET",
      "/status/:supplier/:number/",
      ({ params }) => Effect.succeed(Answer.json(200, params)),
      "import:read"
    )
  ]
}

const reader = { authorization: "Token reader" }
const writer = { authorization: "Token writer" }
const json = { "content-type": "application/json" }

const ask = (...sent: Parameters<typeof request>[1][]) =>
  Effect.gen(function* () {
    const { port } = yield* start(service)
    return yield* Effect.forEach(sent, (one) => request(port, one))
  })

describe("path", () => {
  it.effect("that is unknown is 404, without a token and for any method", () =>
    Effect.gen(function* () {
      const answers = yield* ask(
        { path: "/nowhere/" },
        { path: "/list/more/" },
        { path: "/LIST/" },
        { path: "//list/" },
        { path: "/%6cist/" },
        { path: "/list/;more" },
        { path: "/list/%3F" },
        { path: "/status/a/b/c/" },
        { path: "/status//b/" },
        { path: "/status/a/%zz/" },
        { method: "POST", path: "/nowhere/", body: "{", headers: json },
        { method: "OPTIONS", path: "*" }
      )
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 404))
      expect(answers[0]?.json()).toMatchObject({ code: "not_found", detail: expect.any(String) })
    })
  )

  it.effect("without its slash redirects with 308, keeping query and encoding", () =>
    Effect.gen(function* () {
      const [list, status, write] = yield* ask(
        { path: "/list?limit=1&after=a%2Fb" },
        { path: "/status/a%2Fb/%C3%A6" },
        { method: "POST", path: "/write", body: "{}" }
      )
      expect([list?.status, list?.headers["location"]]).toEqual([308, "/list/?limit=1&after=a%2Fb"])
      expect([status?.status, status?.headers["location"]]).toEqual([308, "/status/a%2Fb/%C3%A6/"])
      expect([write?.status, write?.headers["location"]]).toEqual([308, "/write/"])
    })
  )

  it.effect("is split before its parameters are decoded", () =>
    Effect.gen(function* () {
      const [answer] = yield* ask({
        path: "/status/A%20B/x%2Fy%3F%C3%A6;z%25/",
        headers: reader
      })
      expect(answer?.json()).toEqual({ supplier: "A B", number: "x/y?æ;z%" })
    })
  )

  it.effect("has a list for a query parameter that is sent twice", () =>
    Effect.gen(function* () {
      const [answer] = yield* ask({ path: "/open/?a=1&b=x%20y&a=2&c&__proto__=3" })
      expect(JSON.parse(answer?.body ?? "")).toEqual(
        JSON.parse('{ "a": ["1", "2"], "b": "x y", "c": "", "__proto__": "3" }')
      )
    })
  )
})

describe("order of checks", () => {
  const code = (answer: { readonly json: () => unknown } | undefined) =>
    (answer?.json() as { readonly code: string } | undefined)?.code

  it.effect("checks the token and its scope before the method", () =>
    Effect.gen(function* () {
      const answers = yield* ask(
        { method: "DELETE", path: "/write/" },
        { method: "DELETE", path: "/write/", headers: { authorization: "Token nobody" } },
        { method: "DELETE", path: "/write/", headers: reader },
        { method: "DELETE", path: "/write/", headers: writer }
      )
      expect(answers.map((answer) => [answer.status, code(answer)])).toEqual([
        [401, "not_authenticated"],
        [401, "authentication_failed"],
        [403, "permission_denied"],
        [405, "method_not_allowed"]
      ])
      expect(answers[0]?.headers["www-authenticate"]).toBe("Token")
      expect(answers[1]?.headers["www-authenticate"]).toBe("Token")
      expect(answers[3]?.headers["allow"]).toBe("POST")
    })
  )

  it.effect("checks the method, then Accept, then the media type, then the size", () =>
    Effect.gen(function* () {
      const wrong = {
        accept: "text/csv",
        "content-type": "text/csv",
        "content-length": "99999999"
      }
      const answers = yield* ask(
        { method: "PUT", path: "/write/", headers: { ...writer, ...wrong } },
        { method: "POST", path: "/write/", headers: { ...writer, ...wrong } },
        { method: "POST", path: "/write/", headers: { ...writer, ...wrong, accept: "*/*" } },
        {
          method: "POST",
          path: "/write/",
          headers: { ...writer, ...wrong, ...json, accept: "" }
        },
        { method: "POST", path: "/write/", headers: { ...writer, ...json }, body: "{" }
      )
      expect(answers.map((answer) => [answer.status, code(answer)])).toEqual([
        [405, "method_not_allowed"],
        [406, "not_acceptable"],
        [415, "unsupported_media_type"],
        [413, "payload_too_large"],
        [400, "parse_error"]
      ])
    })
  )

  it.effect("refuses a missing scope before the body is read", () =>
    Effect.gen(function* () {
      const [answer] = yield* ask({
        method: "POST",
        path: "/write/",
        headers: { ...reader, ...json, "content-length": "1000" }
      })
      expect(answer?.status).toBe(403)
    })
  )
})

describe("method", () => {
  it.effect("OPTIONS is 405 and names the others; HEAD answers like GET without a body", () =>
    Effect.gen(function* () {
      const [options, head, get] = yield* ask(
        { method: "OPTIONS", path: "/list/", headers: reader },
        { method: "HEAD", path: "/list/", headers: reader },
        { path: "/list/", headers: reader }
      )
      expect([options?.status, options?.headers["allow"]]).toEqual([405, "GET, HEAD"])
      expect([head?.status, head?.body]).toEqual([200, ""])
      expect(head?.headers["content-length"]).toBe(get?.headers["content-length"])
      expect(head?.headers["content-type"]).toBe("application/json")
    })
  )

  it.effect("HEAD of a path that only takes POST is 405", () =>
    Effect.gen(function* () {
      const [answer] = yield* ask({ method: "HEAD", path: "/write/", headers: writer })
      expect([answer?.status, answer?.headers["allow"]]).toEqual([405, "POST"])
    })
  )
})

describe("load shedding", () => {
  it.effect("refuses before the token is checked, and still serves published documents", () =>
    Effect.gen(function* () {
      const admit = () => Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 7 }))
      const { port } = yield* start({ ...service, admit })
      const asked = yield* Effect.forEach(
        [
          { path: "/list/" },
          { path: "/list/", headers: reader },
          { method: "POST", path: "/write/", headers: { ...writer, "content-type": "text/plain" } },
          { path: "/open/" },
          { path: "/health/ready" },
          { path: "/list" },
          { path: "/nowhere/" }
        ],
        (one) => request(port, one)
      )
      const told = asked.map(({ headers, status }) => [status, headers["retry-after"]])
      const refused = [503, "7"]
      const others = [200, 200, 308, 404].map((status) => [status, undefined])
      expect(told).toEqual([refused, refused, refused, ...others])
    })
  )
})

const unlimited: LimitOrganisation = (_organisation, answer) => answer

describe("the dispatcher does not start with", () => {
  it("a protected route without an authorizer", () => {
    const make = () => Router.make({ routes: service.routes, limitOrganisation: unlimited })
    expect(make).toThrow("/list/ needs a token")
  })

  it("a path of which only some methods are public", () => {
    const routes = [echo("/a/", "import:write"), route("GET", "/a/", () => ok)]
    expect(() => Router.make({ routes, authorize, limitOrganisation: unlimited })).toThrow(
      "either all methods are public or none"
    )
  })
})
