import { gunzipSync } from "node:zlib"
import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestConsole } from "effect/testing"
import * as Book from "../Book.ts"
import { journey } from "../Journey.ts"
import { Operator } from "../Operator.ts"
import { painter } from "../Output.ts"
import { type Command, get, post, put, type Step } from "../Step.ts"

const demo = {
  baseUrl: "http://demo.invalid",
  apiKey: "sk_very-secret-key-of-the-demo",
  rivalApiKey: "sk_other",
  importSupplier: "DEMO_ENERGY",
  operationsTeamName: "Migration Team",
  documentsDir: "/documents"
}

const plain = painter(false, undefined)

/** Answers every request with its address, token and key. */
const echo = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request, url) =>
    Effect.succeed(
      HttpClientResponse.fromWeb(
        request,
        Response.json(
          { path: url.pathname, token: request.headers["authorization"] ?? null },
          {
            headers: {
              "X-Request-Id": "r 1",
              ...("idempotency-key" in request.headers && { "Idempotency-Replayed": "true" })
            }
          }
        )
      )
    )
  )
)

const nobody = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) =>
    Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.TransportError({ request })
      })
    )
  )
)

const hello: Step = {
  title: "Say hello",
  request: ({ demo }) => post("/hello/", { key: demo.apiKey }),
  status: 200,
  body: () => ({ path: "/hello/", token: null }),
  learn: () => ({ token: "learned" })
}

const withToken: Step = {
  title: "Use what was learned",
  request: ({ token }) => get("/again/", token),
  status: 200,
  body: ({ token }) => ({ path: "/again/", token: `Token ${token}` })
}

describe("a journey", () => {
  it.effect("prints every request and answer, and passes on what it learned", () =>
    Effect.gen(function* () {
      yield* journey(demo, [hello, withToken], plain)
      const shown = (yield* TestConsole.logLines).join("\n")
      expect(shown).toContain("1. Say hello")
      expect(shown).toContain("POST /hello/")
      expect(shown).toContain("GET /again/")
      expect(shown).toContain('{ "path": "/again/", "token": "Token learned" }')
      expect(shown).toContain("All 2 answers")
    }).pipe(Effect.provide(echo))
  )

  it.effect("prints the key, and requires the mark of a replay exactly where it is expected", () =>
    Effect.gen(function* () {
      const keyed: Step = { ...hello, request: () => ({ ...post("/hello/", {}), key: "k" }) }
      yield* journey(demo, [{ ...keyed, replayed: true }], plain)
      const shown = (yield* TestConsole.logLines).join("\n")
      expect(shown).toContain("Idempotency-Key: k")
      expect(shown).toContain("Idempotency-Replayed: true")
      for (const wrong of [keyed, { ...hello, replayed: true }]) {
        const error = yield* Effect.flip(journey(demo, [wrong], plain))
        expect(error).toMatchObject({ _tag: "WrongAnswer" })
      }
    }).pipe(Effect.provide(echo))
  )

  it.effect("prints no secrets and, without a terminal, no colours", () =>
    Effect.gen(function* () {
      yield* journey(demo, [hello], plain)
      const shown = (yield* TestConsole.logLines).join("\n")
      expect(shown).toContain("sk_very…")
      expect(shown).not.toContain("secret")
      expect(shown).not.toContain("\x1b")
    }).pipe(Effect.provide(echo))
  )

  it.effect("stops at the first wrong answer", () =>
    Effect.gen(function* () {
      const wrong: Step = {
        ...hello,
        title: "Expect more",
        status: 201,
        body: () => ({ path: "/" })
      }
      const exit = yield* Effect.exit(journey(demo, [hello, wrong, withToken], plain))
      const expected = {
        _tag: "WrongAnswer",
        title: "Expect more",
        differences: ["status: expected 201, got 200", 'body.path: expected "/", got "/hello/"']
      }
      expect(Exit.findErrorOption(exit)).toMatchObject({ value: expected })
      expect((yield* TestConsole.logLines).join("\n")).not.toContain("Use what was learned")
    }).pipe(Effect.provide(echo))
  )

  it.effect("reports that nothing answers", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(journey(demo, [hello], plain))
      expect(error).toMatchObject({ _tag: "NobodyAnswers", baseUrl: demo.baseUrl })
    }).pipe(Effect.provide(nobody))
  )
})

/** Answers a watched batch step by step, and remembers which tags were sent. */
const watched = (answers: ReadonlyArray<Response>) => {
  const tags: Array<string | undefined> = []
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      const answer = answers[tags.length] ?? Response.json({})
      tags.push(request.headers["if-none-match"])
      return HttpClientResponse.fromWeb(request, answer)
    })
  )
  return { tags, client: Layer.succeed(HttpClient.HttpClient, client) }
}

const batchOf = (succeeded: number, remaining: number) => ({
  state: remaining > 0 ? "RUNNING" : "COMPLETED",
  counts: { received: 2, succeeded, already: 0, failed: 0, cancelled: 0, remaining },
  finished_at: remaining > 0 ? null : "2026-11-22T10:00:00Z"
})

const answer = (body: unknown, tag: string) => Response.json(body, { headers: { ETag: tag } })

const watching: Step = {
  title: "Watch",
  request: () => get("/batch/"),
  watched: true,
  status: 200,
  body: () => ({ state: "COMPLETED" })
}

describe("a watched batch", () => {
  it.effect("is requested with its last tag until it has ended", () => {
    const { client, tags } = watched([
      answer(batchOf(0, 2), 'W/"1"'),
      new Response(null, { status: 304 }),
      answer(batchOf(1, 1), 'W/"2"'),
      answer(batchOf(2, 0), 'W/"3"')
    ])
    return Effect.gen(function* () {
      yield* journey(demo, [watching], plain)
      expect(tags).toEqual([undefined, 'W/"1"', 'W/"1"', 'W/"2"'])
      expect((yield* TestConsole.logLines).join("\n")).toContain("RUNNING, 1 of 2 lines remain")
    }).pipe(Effect.provide(client))
  })

  it.effect("fails if the counts do not add up, or no batch is answered", () =>
    Effect.gen(function* () {
      for (const wrong of [batchOf(1, 2), { code: "not_found" }]) {
        const { client } = watched([answer(wrong, 'W/"1"')])
        const error = yield* Effect.flip(Effect.provide(journey(demo, [watching], plain), client))
        expect(error).toMatchObject({ _tag: "WrongAnswer", title: "Watch" })
      }
    })
  )
})

describe("lines", () => {
  it.effect("are sent as gzip, and read as a list", () => {
    const unpacked = HttpClient.make((request) =>
      Effect.sync(() => {
        const bytes = request.body._tag === "Uint8Array" ? request.body.body : new Uint8Array()
        const headers = { "Content-Type": "application/x-ndjson" }
        expect(request.headers["content-encoding"]).toBe("gzip")
        return HttpClientResponse.fromWeb(request, new Response(gunzipSync(bytes), { headers }))
      })
    )
    const step: Step = {
      title: "Send lines",
      request: () => put("/lines/", ['{"line":1}', '{"line":2}'], "token"),
      status: 200,
      body: () => [{ line: 1 }, { line: 2 }]
    }
    return journey(demo, [step], plain).pipe(
      Effect.provide(Layer.succeed(HttpClient.HttpClient, unpacked))
    )
  })
})

describe("the book", () => {
  it("has 2,000 lines, of which a tenth is faulty and few repeat a number", () => {
    const lines = Book.linesOf("B")
    expect(lines.length).toBe(Book.lineCount)
    expect(Book.failures("B").length).toBe(Book.lineCount / 10)
    expect([Book.count(Book.isCorrection), Book.count(Book.isCopy)]).toEqual([3, 3])
    expect(Book.numbersOf("B").length).toBe(Book.lineCount - 6)
    expect(lines[501]).toBe(lines[497])
    expect(Book.corrected("B", [500])).toEqual([lines[500]])
  })
})

/** A command that prints its words, and cannot be carried out if one of them is `no`. */
const operator = Effect.provideService(Operator, (args) =>
  Effect.succeed({ status: args.includes("no") ? 1 : 0, out: `${args.join("\n")}\n`, err: "" })
)

const asking: Command = {
  title: "Ask",
  command: ({ requestId }) => ["request", "show", requestId],
  says: ({ requestId }) => [/^show$/m, new RegExp(`^${requestId}$`, "m")]
}

describe("a command of the operator", () => {
  it.effect("is shown with its output, and knows what earlier steps have learned", () =>
    Effect.gen(function* () {
      const learning: Step = { ...hello, learn: (_, requestId) => ({ requestId }) }
      yield* operator(journey(demo, [learning, asking], plain))
      const shown = (yield* TestConsole.logLines).join("\n")
      expect(shown).toContain("2. Ask")
      expect(shown).toContain("npm run -s operator -- request show 'r 1'")
      expect(shown).toContain("→ 0\n  request\n  show\n  r 1")
    }).pipe(Effect.provide(echo))
  )

  it.effect("ends the journey if its output or its exit status differs", () =>
    Effect.gen(function* () {
      const refused: Command = { title: "Refuse", command: () => ["no"], says: () => [] }
      yield* operator(journey(demo, [{ ...refused, isRefused: true }], plain))
      for (const wrong of [
        refused,
        { ...asking, isRefused: true },
        { ...asking, says: () => [/never/] }
      ]) {
        const error = yield* Effect.flip(operator(journey(demo, [wrong], plain)))
        expect(error).toMatchObject({ _tag: "WrongAnswer", title: wrong.title })
      }
    }).pipe(Effect.provide(echo))
  )
})

it.effect("the action before a request runs before it is sent", () =>
  Effect.gen(function* () {
    const order: Array<string> = []
    const sending: Step = {
      ...hello,
      before: ({ number }) => Effect.sync(() => void order.push(number.slice(0, 5))),
      request: () => {
        order.push("request")
        return post("/hello/", {})
      }
    }
    yield* journey(demo, [sending], plain)
    expect(order).toEqual(["DEMO-", "request"])
  }).pipe(Effect.provide(echo))
)

describe("colour", () => {
  it("is for terminals that did not ask to do without", () => {
    expect(painter(true, undefined)("red", "no")).toBe("\x1b[31mno\x1b[0m")
    expect(painter(true, "")("red", "no")).toBe("\x1b[31mno\x1b[0m")
    expect(painter(true, "1")("red", "no")).toBe("no")
    expect(painter(false, undefined)("red", "no")).toBe("no")
  })
})
