import { connect } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Clock, Data, Deferred, Effect, Fiber, type Scope, Stream } from "effect"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as Holder from "@data-import/domain/support/Holder"
import * as Answer from "../src/http/Answer.ts"
import { open, bytesOf, request } from "../testing/RawClient.ts"
import { echo, ok, route, start } from "./TestService.ts"

const email = "jane.doe@example.com"

class DriverError extends Data.TaggedError("DriverError")<{
  readonly message: string
  readonly code: string
  readonly detail: string
  readonly cause: unknown
}> {}

const driverError = new DriverError({
  message: `duplicate key value: ${email}`,
  code: "23505",
  detail: `Key (email)=(${email}) already exists.`,
  cause: new TypeError(`no such customer: ${email}`)
})

const elements = (count: number) => Stream.range(1, count).pipe(Stream.rechunk(2))
const broken = Stream.fail(new StorageUnavailable({ cause: new Error(email) }))

const service = {
  routes: [
    route("GET", "/ok/", () => ok),
    route("GET", "/defect/", () => Effect.die(driverError)),
    route("GET", "/throws/", () => {
      throw new Error(email)
    }),
    route("GET", "/away/", () => Effect.fail(new StorageUnavailable({ cause: driverError }))),
    route("GET", "/list/", () => Answer.jsonArray(elements(5), { link: "<next>" })),
    route("GET", "/empty/", () => Answer.jsonArray(Stream.empty)),
    route("GET", "/broken-at-once/", () => Answer.jsonArray(broken)),
    echo("/echo/")
  ]
}

const sane = "Abc-1_2.3"
const generatedId = /^[0-9a-f-]{36}$/

describe("the request id", () => {
  const idOf = (sent: string) =>
    Effect.flatMap(start(service), ({ port }) =>
      Effect.map(
        request(port, { path: "/ok/", headers: { "x-request-id": sent } }),
        ({ headers }) => headers["x-request-id"]
      )
    )

  it.effect.each<[string]>([[sane], ["x"], ["y".repeat(128)]])("%s is the caller's", ([id]) =>
    Effect.gen(function* () {
      expect(yield* idOf(id)).toBe(id)
    })
  )

  it.effect.each<[string]>([[""], ["z".repeat(129)], ["a b"], ['a"b'], ["æ"]])(
    "%j is replaced",
    ([id]) =>
      Effect.gen(function* () {
        expect(yield* idOf(id)).toMatch(generatedId)
      })
  )

  it.effect("is on every answer, refusals and redirects included", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const paths = ["/ok/", "/ok", "/nowhere/", "/defect/", "/away/", "/list/", "/health/live"]
      const answers = yield* Effect.forEach(paths, (path) =>
        request(port, { path, headers: { "x-request-id": sane } })
      )
      expect(answers.map(({ headers }) => headers["x-request-id"])).toEqual(paths.map(() => sane))
    })
  )
})

describe("headers", () => {
  it.effect("forbid caching and content sniffing", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      for (const path of ["/ok/", "/ok", "/nowhere/", "/defect/", "/list/"]) {
        const { headers } = yield* request(port, { path })
        expect(headers, path).toMatchObject({
          "cache-control": "no-store",
          "x-content-type-options": "nosniff",
          "content-security-policy": "default-src 'none'; frame-ancestors 'none'"
        })
      }
    })
  )
})

describe("a defect", () => {
  it.effect.each<[string]>([["/defect/"], ["/throws/"]])("%s is 500 without details", ([path]) =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const answer = yield* request(port, { path, headers: { "x-request-id": sane } })
      expect([answer.status, answer.json()]).toEqual([
        500,
        { code: "error", detail: expect.any(String), request_id: sane }
      ])
      expect(answer.body).not.toMatch(/jane|driver|at /i)
    })
  )

  it.effect("is logged with its stack and without values", () =>
    Effect.gen(function* () {
      const { log } = yield* Effect.scoped(
        Effect.tap(start(service), ({ port }) =>
          request(port, { path: `/defect/?email=${email}`, headers: { "x-request-id": sane } })
        )
      )
      const line = log.find(({ message }) => message === "defect")
      expect(line).toMatchObject({
        level: "ERROR",
        service: "test",
        request_id: sane,
        route: "/defect/",
        errors: [{ kind: "DriverError", code: "23505", cause: { kind: "TypeError" } }]
      })
      expect(JSON.stringify(line)).toContain("Answer.test.ts")
      expect(JSON.stringify(log)).not.toContain("jane")
    })
  )
})

describe("unavailable storage", () => {
  it.effect("is 503 with Retry-After, and logged", () =>
    Effect.gen(function* () {
      const { answer, log } = yield* Effect.scoped(
        Effect.gen(function* () {
          const { log, port } = yield* start(service)
          return { log, answer: yield* request(port, { path: "/away/" }) }
        })
      )
      expect([answer.status, answer.json()]).toMatchObject([503, { code: "service_unavailable" }])
      expect(answer.headers["retry-after"]).toBe("1")
      expect(log.map(({ level, message }) => [level, message])).toContainEqual([
        "WARN",
        "storage unavailable"
      ])
      expect(JSON.stringify(log)).not.toContain("jane")
    })
  )
})

describe("a list", () => {
  it.effect("is written element by element and is one JSON array", () =>
    Effect.gen(function* () {
      const { port } = yield* start(service)
      const list = yield* request(port, { path: "/list/" })
      const empty = yield* request(port, { path: "/empty/" })
      expect([list.status, list.json(), list.headers["link"]]).toEqual([
        200,
        [1, 2, 3, 4, 5],
        "<next>"
      ])
      expect(list.headers["content-type"]).toBe("application/json")
      expect(empty.json()).toEqual([])
    })
  )

  it.effect("that is complete with its first elements is sent with its length", () =>
    Effect.gen(function* () {
      const short = route("GET", "/short/", () => Answer.jsonArray(Stream.make("ä", 2)))
      const { port } = yield* start({ routes: [...service.routes, short] })
      const lengthOf = (path: string, method = "GET") =>
        Effect.map(request(port, { path, method }), ({ body, headers }) => [
          body,
          headers["content-length"]
        ])
      expect(yield* lengthOf("/short/")).toEqual(['["ä",2]', "8"])
      expect(yield* lengthOf("/short/", "HEAD")).toEqual(["", "8"])
      expect(yield* lengthOf("/empty/")).toEqual(["[]", "2"])
      expect(yield* lengthOf("/list/")).toEqual(["[1,2,3,4,5]", undefined])
    })
  )

  it.live("is fetched no faster than it is read", () =>
    Effect.gen(function* () {
      let fetched = 0
      const endless = Stream.fromEffectRepeat(
        Effect.map(Effect.yieldNow, () => {
          fetched += 1
          return "x".repeat(1_000_000)
        })
      )
      const endlessly = route("GET", "/endless/", () => Answer.jsonArray(endless))
      const { port } = yield* start({ routes: [endlessly] })
      const socket = connect({ port, host: "127.0.0.1" })
      yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
      socket.pause().write(bytesOf({ path: "/endless/" }))
      for (let before = -1; fetched === 0 || before < fetched;) {
        before = fetched
        yield* Effect.sleep("200 millis")
        expect(fetched, "megabytes for a reader who does not read").toBeLessThan(100)
      }
    })
  )

  it.effect("is fetched no further after its client has disconnected", () =>
    Effect.gen(function* () {
      const fetching = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const next = Deferred.succeed(fetching, undefined).pipe(
        Effect.andThen(Effect.never),
        Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
      )
      const list = elements(2).pipe(Stream.concat(Stream.fromEffect(next)))
      const { port } = yield* start({
        routes: [route("GET", "/hanging/", () => Answer.jsonArray(list))]
      })
      const connection = yield* open(port)
      connection.send(bytesOf({ path: "/hanging/" }))
      yield* Effect.promise(() => connection.until("[1,2"))
      yield* Deferred.await(fetching)
      connection.reset()
      yield* Deferred.await(stopped)
    })
  )

  it.effect("that fails at once is refused, and is cut if it fails later", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const later = Stream.concat(
        elements(4),
        Stream.drain(Stream.fromEffect(Deferred.await(gate))).pipe(Stream.concat(broken))
      )
      const brokenLater = route("GET", "/broken-later/", () => Answer.jsonArray(later))
      const { port } = yield* start({ routes: [...service.routes, brokenLater] })
      const atOnce = yield* request(port, { path: "/broken-at-once/" })
      expect(atOnce.status).toBe(503)
      const connection = yield* open(port)
      connection.send(bytesOf({ path: "/broken-later/" }))
      yield* Effect.promise(() => connection.until("3,4"))
      yield* Deferred.succeed(gate, undefined)
      const text = yield* Effect.promise(() => connection.rest())
      expect(text).not.toContain("]")
      expect(text).not.toContain("\r\n0\r\n")
    })
  )
})

describe("a page", () => {
  it.effect("is made and written in steps, between which others run", () =>
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      let millis = 0
      const busy = Object.assign(Object.create(clock) as Clock.Clock, {
        currentTimeMillisUnsafe: () => millis++
      })
      let turn = 0
      setImmediate(() => turn++)
      const turns: Array<number> = []
      const element = (name: number) => {
        turns.push(turn)
        return { name }
      }
      const names = Array.from({ length: 50 }, (_, index) => index)
      const page = Answer.page(names, element, { link: "<next>" })
      const { body, headers } = yield* Effect.provideService(page, Clock.Clock, busy)
      expect([turns[0], turns.at(-1)]).toEqual([0, 1])
      const text = body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : body._tag
      expect(JSON.parse(text)).toEqual(names.map((name) => ({ name })))
      expect(headers["link"]).toBe("<next>")
    })
  )
})

describe("streams of one organisation", () => {
  const settle = Effect.repeat(Effect.yieldNow, { times: 20 })

  const answers: ReadonlyArray<
    [string, (text: Stream.Stream<string>) => Effect.Effect<unknown, never, Scope.Scope>]
  > = [
    ["a document", Answer.jsonParts],
    ["NDJSON", Answer.ndjsonParts],
    ["lines", (text) => Answer.ndjson(text, {})],
    ["CSV", (text) => Answer.csvParts(text, {})]
  ]

  it.effect.each(answers)("are computed two at a time: %s", ([, answer]) =>
    Effect.gen(function* () {
      const computing: Array<string> = []
      const read = (holder: string) => {
        const part = Effect.andThen(
          Effect.sync(() => computing.push(holder)),
          Effect.never
        )
        return Effect.scoped(answer(Stream.fromEffect(part))).pipe(
          Effect.provideService(Holder.Current, () => holder),
          Effect.forkScoped
        )
      }
      const first = yield* read("A")
      yield* Effect.forEach(["A", "A", "B"], read)
      yield* settle
      expect(computing).toEqual(["A", "A", "B"])
      yield* Fiber.interrupt(first)
      yield* settle
      expect(computing).toEqual(["A", "A", "B", "A"])
    })
  )
})

describe("NDJSON", () => {
  const lines = (count: number) => Stream.map(elements(count), (line) => `{"line":${line}}`)
  const ndjson = (answered: Stream.Stream<string, StorageUnavailable>) => ({
    routes: [route("GET", "/lines/", () => Answer.ndjson(answered, { "x-through": "4" }))]
  })

  it.effect.each([
    [0, ""],
    [3, '{"line":1}\n{"line":2}\n{"line":3}\n']
  ] as const)("is a line for each of %s", ([count, text]) =>
    Effect.gen(function* () {
      const { port } = yield* start(ndjson(lines(count)))
      const { body, headers, status } = yield* request(port, { path: "/lines/" })
      expect([status, body]).toEqual([200, text])
      expect(headers).toMatchObject({ "content-type": "application/x-ndjson", "x-through": "4" })
    })
  )

  it.effect("that fails at once is refused", () =>
    Effect.gen(function* () {
      const { port } = yield* start(ndjson(broken))
      expect((yield* request(port, { path: "/lines/" })).status).toBe(503)
    })
  )

  it.effect("is cut if it fails after its first lines", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const later = Stream.drain(Stream.fromEffect(Deferred.await(gate)))
      const { port } = yield* start(
        ndjson(lines(4).pipe(Stream.concat(later), Stream.concat(broken)))
      )
      const connection = yield* open(port)
      connection.send(bytesOf({ path: "/lines/" }))
      yield* Effect.promise(() => connection.until('{"line":4}\n'))
      yield* Deferred.succeed(gate, undefined)
      expect(yield* Effect.promise(() => connection.rest())).not.toContain("\r\n0\r\n")
    })
  )
})

describe("the log", () => {
  it.effect("has one line per request, with the template but never the path, body or token", () =>
    Effect.gen(function* () {
      const { log } = yield* Effect.scoped(
        Effect.tap(start(service), ({ port }) =>
          request(port, {
            method: "POST",
            path: `/echo/?q=${email}`,
            headers: {
              "content-type": "application/json",
              authorization: "Token s3cret",
              "x-request-id": sane
            },
            body: JSON.stringify({ email })
          })
        )
      )
      const lines = log.filter(({ message }) => message === "answered")
      expect(lines).toEqual([
        {
          time: expect.any(String),
          level: "INFO",
          service: "test",
          message: "answered",
          request_id: sane,
          method: "POST",
          route: "/echo/",
          status: 200,
          duration_ms: expect.any(Number),
          bytes_in: JSON.stringify({ email }).length,
          bytes_out: expect.any(Number)
        }
      ])
      expect(JSON.stringify(log)).not.toMatch(/jane|s3cret/)
    })
  )

  it.effect("omits levels below LOG_LEVEL", () =>
    Effect.gen(function* () {
      const { log } = yield* Effect.scoped(
        Effect.tap(start(service, { LOG_LEVEL: "warn" }), ({ port }) =>
          Effect.all([request(port, { path: "/ok/" }), request(port, { path: "/away/" })])
        )
      )
      expect(log.map(({ level }) => level)).toEqual(["WARN", "WARN"])
    })
  )
})
