import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { open } from "../testing/RawClient.ts"
import { ok, route, start } from "./TestService.ts"

const service = { routes: [route("GET", "/ok/", () => ok)] }

const answerTo = (bytes: string) =>
  Effect.gen(function* () {
    const { port } = yield* start(service)
    const connection = yield* open(port)
    connection.send(bytes)
    return yield* Effect.promise(() => connection.receive())
  })

describe("what Node refuses itself", () => {
  it.effect.each<[string, string]>([
    ["no HTTP", "hello\r\n\r\n"],
    ["a tunnel", "CONNECT a.test:5432 HTTP/1.1\r\nhost: a.test:5432\r\n\r\n"],
    ["a header without a name", "GET /ok/ HTTP/1.1\r\nhost: a\r\n: b\r\n\r\n"],
    [
      "a length and chunks at once",
      "POST /ok/ HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\n" +
        "transfer-encoding: chunked\r\n\r\n0\r\n\r\n"
    ]
  ])("%s is 400 in the envelope", ([, bytes]) =>
    Effect.gen(function* () {
      const answer = yield* answerTo(bytes)
      expect([answer.status, answer.json()]).toEqual([
        400,
        { code: "parse_error", detail: expect.any(String) }
      ])
      expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
      expect(answer.headers["connection"]).toBe("close")
    })
  )

  it.effect("headers without end are 413", () =>
    Effect.gen(function* () {
      const answer = yield* answerTo(`GET /ok/ HTTP/1.1\r\nhost: a\r\nx: ${"y".repeat(20_000)}`)
      expect([answer.status, answer.json()]).toMatchObject([413, { code: "payload_too_large" }])
    })
  )

  it.effect.each<[string, string]>([
    ["no Host", ""],
    ["two of them", "host: a\r\nhost: b\r\n"],
    ["the same one twice", "Host: a\r\nHOST: a\r\n"]
  ])("%s is 400 in the envelope", ([, hosts]) =>
    Effect.gen(function* () {
      const answer = yield* answerTo(`GET /ok/ HTTP/1.1\r\n${hosts}\r\n`)
      expect([answer.status, answer.json()]).toMatchObject([400, { code: "parse_error" }])
    })
  )
})

describe("what HTTP allows", () => {
  it.effect("an expectation that nobody knows is ignored", () =>
    Effect.gen(function* () {
      const answer = yield* answerTo("GET /ok/ HTTP/1.1\r\nhost: a\r\nexpect: a-miracle\r\n\r\n")
      expect(answer.status).toBe(200)
    })
  )

  it.effect("an absolute address is its path", () =>
    Effect.gen(function* () {
      const answer = yield* answerTo("GET http://a.test/ok/ HTTP/1.1\r\nhost: a\r\n\r\n")
      expect(answer.status).toBe(200)
    })
  )

  it.effect("requests sent one behind the other are answered in order", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const connection = yield* open(port)
      const one = (path: string) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`
      connection.send(one("/ok/") + one("/nowhere/") + one("/ok/"))
      const statuses = []
      for (let index = 0; index < 3; index += 1) {
        statuses.push((yield* Effect.promise(() => connection.receive())).status)
      }
      expect(statuses).toEqual([200, 404, 200])
    })
  )
})
