import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { bodyBytes } from "@data-import/api/Limits"
import { parse } from "../src/http/JsonBody.ts"
import { ClientTimes } from "../src/http/Listener.ts"
import { bytesOf, open, request, type Sent } from "../testing/RawClient.ts"
import { echo, start } from "./TestService.ts"

const service = { routes: [echo("/write/")] }
const json = { "content-type": "application/json" }

const post = (body: Sent["body"], headers: Sent["headers"] = json): Sent => ({
  method: "POST",
  path: "/write/",
  headers,
  ...(body !== undefined && { body })
})

const ask = (sent: Sent) => Effect.flatMap(start(service), ({ port }) => request(port, sent))

const outcome = (sent: Sent) =>
  Effect.map(ask(sent), (answer) => [
    answer.status,
    (answer.json() as { readonly code?: string }).code
  ])

const bytes = (...values: ReadonlyArray<number>) => Uint8Array.from(values)
const [quote, brace] = [0x22, 0x7b]

describe("a body", () => {
  it.effect.each<[string]>([
    ["application/json"],
    ["application/json; charset=utf-8"],
    ["Application/JSON;charset=UTF-8"]
  ])("of the type %s is read", ([type]) =>
    Effect.gen(function* () {
      const answer = yield* ask(post('{"a":"æ"}', { "content-type": type }))
      expect(answer.json()).toEqual({ body: { a: "æ" } })
    })
  )

  it.effect("in chunks is read", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const connection = yield* open(port)
      connection.send(
        bytesOf(post(undefined, { ...json, "transfer-encoding": "chunked" })),
        '3\r\n{"a\r\n',
        '4\r\n":1}\r\n0\r\n\r\n'
      )
      const answer = yield* Effect.promise(() => connection.receive())
      expect(answer.json()).toEqual({ body: { a: 1 } })
    })
  )

  it.effect("is requested by 100-continue when the client expects it", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const connection = yield* open(port)
      connection.send(
        bytesOf(post(undefined, { ...json, expect: "100-continue", "content-length": "2" }))
      )
      const goOn = yield* Effect.promise(() => connection.receive())
      connection.send("{}")
      const answer = yield* Effect.promise(() => connection.receive())
      expect([goOn.status, answer.status]).toEqual([100, 200])
    })
  )

  it.effect("is not requested when the headers are refused already", () =>
    Effect.gen(function* () {
      const answer = yield* ask(post(undefined, { expect: "100-continue", "content-length": "2" }))
      expect(answer.status).toBe(415)
    })
  )
})

describe("415", () => {
  it.effect.each([
    [{}],
    [{ "content-type": "" }],
    [{ "content-type": "text/plain" }],
    [{ "content-type": "application/jsonx" }],
    [{ "content-type": "multipart/form-data; boundary=application/json" }],
    [{ ...json, "content-encoding": "gzip" }],
    [{ ...json, "content-encoding": "identity, gzip" }]
  ])("for the headers %j", ([headers]) =>
    Effect.gen(function* () {
      expect(yield* outcome(post("{}", headers))).toEqual([415, "unsupported_media_type"])
    })
  )

  it.effect("is not answered for Content-Encoding: identity", () =>
    Effect.gen(function* () {
      const answer = yield* ask(post("{}", { ...json, "content-encoding": "identity" }))
      expect(answer.status).toBe(200)
    })
  )
})

describe("400 parse_error", () => {
  it.effect.each<[string, string | Uint8Array]>([
    ["nothing", ""],
    ["no JSON", "{"],
    ["two documents", "{} {}"],
    ["a repeated key", '{"a":1,"a":2}'],
    ["a byte-order mark", "\uFEFF{}"],
    ["a lone continuation byte", bytes(quote, 0x80, quote)],
    ["an overlong encoding", bytes(quote, 0xc0, 0xaf, quote)],
    ["a surrogate in UTF-8", bytes(quote, 0xed, 0xa0, 0x80, quote)],
    ["a truncated sequence", bytes(quote, 0xe2, 0x82, quote)],
    ["UTF-16", bytes(0xff, 0xfe, brace, 0)],
    ["nesting of 33 levels", "[".repeat(33) + "]".repeat(33)]
  ])("for %s", ([, body]) =>
    Effect.gen(function* () {
      expect(yield* outcome(post(body))).toEqual([400, "parse_error"])
    })
  )

  it.effect("describes what is wrong with the bytes", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(parse(Buffer.from([quote, 0x80, quote])))).toMatchObject({
        detail: "The body is not UTF-8."
      })
      expect(yield* Effect.flip(parse(Buffer.from("\uFEFF{}")))).toMatchObject({
        detail: "The body starts with a byte-order mark."
      })
    })
  )
})

describe("413", () => {
  const largest = `"${"x".repeat(bodyBytes - 2)}"`

  it.effect("is not answered for a body of exactly the limit", () =>
    Effect.gen(function* () {
      const answer = yield* ask(post(largest))
      expect(answer.status).toBe(200)
    })
  )

  it.effect("is answered for an announced length over the limit, before any byte has arrived", () =>
    Effect.gen(function* () {
      const headers = { ...json, "content-length": String(bodyBytes + 1) }
      expect(yield* outcome(post(undefined, headers))).toEqual([413, "payload_too_large"])
    })
  )

  it.effect("is answered at the first chunk over the limit, while more are being sent", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const connection = yield* open(port)
      connection.send(bytesOf(post(undefined, { ...json, "transfer-encoding": "chunked" })))
      const megabyte = `100000\r\n${" ".repeat(0x100000)}\r\n`
      for (let sent = 0; sent <= bodyBytes; sent += 0x100000) connection.send(megabyte)
      const answer = yield* Effect.promise(() => connection.receive())
      expect([answer.status, answer.json()]).toMatchObject([413, { code: "payload_too_large" }])
      expect(answer.headers["connection"]).toBe("close")
      expect(yield* Effect.promise(() => connection.rest())).toBe("")
    })
  )
})

describe("408", () => {
  const patient = { bodyStall: 10_000, body: 10_000, idle: 10_000 }
  const impatient = Effect.provideService(ClientTimes, { ...patient, bodyStall: 30 })
  const hurried = Effect.provideService(ClientTimes, { ...patient, body: 30 })

  it.effect.each([
    ["stalls", impatient],
    ["takes too long as a whole", hurried]
  ] as const)("for a body that %s, and the connection ends", ([, withTimes]) =>
    Effect.gen(function* () {
      const { port } = yield* start(service).pipe(withTimes)
      const connection = yield* open(port)
      connection.send(bytesOf(post(undefined, { ...json, "content-length": "9" })), '{"a":')
      const answer = yield* Effect.promise(() => connection.receive())
      expect([answer.status, answer.json()]).toMatchObject([408, { code: "request_timeout" }])
      expect(answer.headers["connection"]).toBe("close")
      expect(yield* Effect.promise(() => connection.rest())).toBe("")
    })
  )
})
