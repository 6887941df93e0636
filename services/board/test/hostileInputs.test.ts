/** The API answers any input with a status that it documents, and never with a 5xx. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "@data-import/server/testing/RunningService"
import * as Board from "./BoardEndpoints.ts"
import { type Browser, browserOf, serviceWith } from "./boardService.ts"

/** Percent-encoded, as they stand in a URL. */
const texts = [
  ...["", "%20", "%00", "a%00b", "%ED%A0%80", "%", "%2F", "..", "%2e%2e", "*", "%5c", "%25", "_"],
  ...["0", "-1", "1e400", "9223372036854775807", "9223372036854775808", "9".repeat(19)],
  ...["9".repeat(40), "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "%2B275760-09-13T00:00:00Z"],
  ...["2026-02-30T00:00:00Z", "%E2%80%AE", "%F0%9F%98%80", "__proto__", "constructor", "null"],
  ...["%27%20or%201=1%20--", "$[*]", "%5B%5D", "FAILED", "a".repeat(6_000), "%C3%A9".repeat(1_000)]
]

/** JSON to put in the place of a value. */
const sources = [
  ...["null", "true", "0", "-0", "1e400", "9".repeat(400), '""', '" "', '"a\\u0000b"'],
  ...['"\\ud800"', '"\\u202e"', "[]", "{}", "[[[[]]]]", '{"__proto__":{"a":1}}'],
  ...[JSON.stringify("x".repeat(100_000)), `[${"null,".repeat(10_000)}null]`, '"2026-02-30"'],
  ...['[{"on":"2026-01-01","accounts":1e400}]', '[{"on":"9999-12-31","accounts":1}]']
]

/** Texts to send as the whole body. */
const wholes = ["", "{", "[]", "null", '"x"', "\u0000", `${"[".repeat(5_000)}${"]".repeat(5_000)}`]

const known = [200, 303, 308, 400, 404, 405, 409, 413, 414, 431]

/** The first sign-out that succeeds ends the session, so the others get 401. */
const statusesOf = ({ identifier }: Board.Endpoint) =>
  identifier === "signOut" ? [...known, 401] : known

const expectAnswered = Effect.fnUntraced(function* (
  endpoint: Board.Endpoint,
  answer: ReturnType<Browser["ask"]>,
  what: string
) {
  // A busy machine sheds requests with 503, so they are sent again.
  const { headers, status, text } = yield* until(answer, (each) => each.status !== 503)
  expect(statusesOf(endpoint), `${what.slice(0, 200)}: ${status} ${text.slice(0, 200)}`).toContain(
    status
  )
  if (status < 400 || headers["content-type"] !== "application/json") return
  expect(JSON.parse(text), what).toMatchObject({ code: expect.any(String) })
})

const concurrency = { concurrency: 6, discard: true } as const

const isShown = (endpoint: Board.Endpoint) => endpoint !== Board.changes

const atParameters = (endpoint: Board.Endpoint, path: string) =>
  endpoint.parameters.flatMap((name) => texts.map((text) => `${path}?${name}=${text}`))

const atSegments = (endpoint: Board.Endpoint, named: Board.Named) =>
  (["supplier", "number", "batch", "certificate"] as const)
    .filter(
      (name) => Board.pathOf(endpoint, { ...named, [name]: "" }) !== Board.pathOf(endpoint, named)
    )
    .flatMap((name) => {
      const marked = Board.pathOf(endpoint, { ...named, [name]: "marked" })
      return texts.map((text) => marked.replace("marked", text))
    })

/** The body with each source in the place of each member, and of each member of `selection`. */
const broken = (body: object): ReadonlyArray<string> => [
  ...wholes,
  ...Object.keys(body).flatMap((name) =>
    sources.map((source) =>
      JSON.stringify({ ...body, [name]: "marked" }).replace('"marked"', () => source)
    )
  ),
  ...("selection" in body
    ? ["state", "code", "cohort"].flatMap((name) =>
        sources.map((source) =>
          JSON.stringify({ ...body, selection: { [name]: "marked" } }).replace(
            '"marked"',
            () => source
          )
        )
      )
    : [])
]

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })("the API", (it) => {
  it.effect.each(Board.all.filter(isShown))(
    "answers $method $path with a known status, whatever is in its address",
    (endpoint) =>
      Effect.gen(function* () {
        const { named } = yield* Board.migration
        const one = yield* browserOf(Board.manager(null))
        const token = yield* Board.tokenOf(one)
        const paths = [
          ...atParameters(endpoint, Board.pathOf(endpoint, named)),
          ...atSegments(endpoint, named)
        ]
        const body = JSON.stringify(Board.bodyFor(endpoint, named.supplier))
        yield* Effect.forEach(
          paths,
          (path) =>
            expectAnswered(
              endpoint,
              endpoint.method === "GET" ? one.get(path) : one.post(path, token, body),
              path
            ),
          concurrency
        )
      }),
    60_000
  )

  it.effect.each(Board.writes)(
    "answers POST $path with a known status, whatever is in its body",
    (endpoint) =>
      Effect.gen(function* () {
        const { named } = yield* Board.migration
        const one = yield* browserOf(Board.manager(null))
        const token = yield* Board.tokenOf(one)
        yield* Effect.forEach(
          broken(Board.bodyFor(endpoint, named.supplier)),
          (body) =>
            expectAnswered(endpoint, one.post(Board.pathOf(endpoint, named), token, body), body),
          concurrency
        )
      }),
    60_000
  )
})
