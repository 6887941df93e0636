import { describe, expect, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestConsole } from "effect/testing"
import { journey } from "../Journey.ts"
import { painter } from "../Output.ts"
import { get, post, type Step } from "../Step.ts"

const demo = {
  baseUrl: "http://demo.invalid",
  apiKey: "sk_very-secret-key-of-the-demo",
  rivalApiKey: "sk_other",
  importSupplier: "DEMO_ENERGY",
  operationsTeamName: "Migration Team",
  documentsDir: "/documents"
}

const plain = painter(false, undefined)

/** Answers every request with what it is asked at, with which token and under which key. */
const echo = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request, url) =>
    Effect.succeed(
      HttpClientResponse.fromWeb(
        request,
        Response.json(
          { path: url.pathname, token: request.headers["authorization"] ?? null },
          {
            headers: "idempotency-key" in request.headers ? { "Idempotency-Replayed": "true" } : {}
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

describe("colour", () => {
  it("is for terminals that did not ask to do without", () => {
    expect(painter(true, undefined)("red", "no")).toBe("\x1b[31mno\x1b[0m")
    expect(painter(true, "")("red", "no")).toBe("\x1b[31mno\x1b[0m")
    expect(painter(true, "1")("red", "no")).toBe("no")
    expect(painter(false, undefined)("red", "no")).toBe("no")
  })
})
