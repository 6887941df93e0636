/** The attempts of calls, against a scripted service. */
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { rawNumber } from "@data-import/domain/schema/RawNumber"
import {
  type Asked,
  clientOf,
  inTime,
  json,
  refusal,
  type Reply,
  tokenAnswer
} from "./scriptedService.ts"

const limits = {
  body_bytes: 1,
  nesting_depth: 1,
  list_elements: 1,
  import_supplier_length: 1,
  external_account_number_length: 1,
  batch_lines: 1,
  batch_bytes: 1,
  batch_line_bytes: 1,
  unfinished_batches: 1,
  unfinished_batch_bytes: 1
}

const isToken = ({ path }: Asked): boolean => path === "/v1/graphql/"
const isCall = (asked: Asked): boolean => !isToken(asked)

/** The answer to a token request that is refused. */
const tokenError = (errorCode: string, headers: Readonly<Record<string, string>> = {}) => {
  const extensions = { errorType: "AUTHORIZATION", errorCode, errorDescription: "No." }
  return json({ data: null, errors: [{ message: "No.", extensions }] }, 200, headers)
}

const staged = { import_supplier: "S", external_account_number: "1" }

describe("the address", () => {
  it.effect("is without the version, which the client adds", () =>
    Effect.gen(function* () {
      const baseUrl = "https://import.example.com/v1/"
      const exit = yield* Effect.exit(clientOf(() => json({}), { baseUrl }))
      expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain("baseUrl ends in /v1")
    }).pipe(Effect.scoped)
  )
})

describe("a call", () => {
  it.effect.each<readonly [string, () => Reply]>([
    ["408", () => refusal(408, "request_timeout")],
    ["429", () => refusal(429, "throttled")],
    ["500", () => refusal(500, "error")],
    ["502 of a proxy", () => json("<html>", 502)],
    ["503", () => refusal(503, "service_unavailable")],
    ["504 of a proxy", () => json("<html>", 504)],
    ["409 idempotency_key_in_use", () => refusal(409, "idempotency_key_in_use")],
    ["a code of tomorrow with 503", () => refusal(503, "code_of_tomorrow")],
    ["a broken connection", () => undefined]
  ])("is sent again after %s, with the same key", ([, first]) =>
    Effect.gen(function* () {
      let count = 0
      const { asked, client } = yield* clientOf(() => (count++ === 0 ? first() : json(staged, 201)))
      const stage = client.accountImport.stageAccount({ payload: { payload: staged } })
      expect(yield* inTime(stage)).toEqual(staged)
      const [one, other] = asked.filter(isCall)
      expect(one?.headers["idempotency-key"]).toMatch(/^[-0-9a-f]{36}$/)
      expect(other?.headers["idempotency-key"]).toBe(one?.headers["idempotency-key"])
      expect([other?.path, other?.body]).toEqual([one?.path, one?.body])
      expect(asked.filter(isCall)).toHaveLength(2)
    }).pipe(Effect.scoped)
  )

  it.effect.each([
    ["400", "account_failed_validation"],
    ["409", "import_process_differs"],
    ["422", "idempotency_key_reused"],
    ["404", "code_of_tomorrow"]
  ] as const)("is not sent again after %s %s", ([status, code]) =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(() => refusal(Number(status), code))
      yield* Effect.flip(client.accountImport.stageAccount({ payload: { payload: staged } }))
      expect(asked.filter(isCall)).toHaveLength(1)
    }).pipe(Effect.scoped)
  )

  it.effect("waits for Retry-After and at most half a second more", () =>
    Effect.gen(function* () {
      let count = 0
      const { asked, client } = yield* clientOf(() =>
        count++ === 0 ? refusal(429, "throttled", { "retry-after": "7" }) : json(limits)
      )
      yield* inTime(client.system.getLimits())
      const [one, other] = asked.filter(isCall)
      const waited = (other?.at ?? 0) - (one?.at ?? 0)
      expect(waited).toBeGreaterThanOrEqual(7_000)
      expect(waited).toBeLessThanOrEqual(7_500)
    }).pipe(Effect.scoped)
  )

  it.effect("is sent seven times at most, with growing pauses up to 8 seconds", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(() => undefined)
      const error = yield* inTime(Effect.flip(client.system.getLimits()))
      expect(error.code).toBe("connection_failed")
      const times = asked.filter(isCall).map(({ at }) => at)
      expect(times).toHaveLength(7)
      const most = [500, 1_000, 2_000, 4_000, 8_000, 8_000]
      most.forEach((limit, index) => {
        expect((times[index + 1] ?? 0) - (times[index] ?? 0)).toBeLessThanOrEqual(limit)
      })
    }).pipe(Effect.scoped)
  )

  it.effect("ends at its deadline with an error that says so", () =>
    Effect.gen(function* () {
      const { client } = yield* clientOf(() => null, { deadline: "30 seconds" })
      const error = yield* inTime(Effect.flip(client.system.getLimits()))
      expect(error).toMatchObject({ code: "deadline_exceeded", milliseconds: 30_000 })
    }).pipe(Effect.scoped)
  )

  it.effect("fails at once if it would have to wait beyond its deadline", () =>
    Effect.gen(function* () {
      const { client } = yield* clientOf(() => refusal(429, "throttled", { "retry-after": "60" }), {
        deadline: "30 seconds"
      })
      const error = yield* Effect.flip(client.system.getLimits())
      expect(error).toMatchObject({ code: "throttled", retryAfter: 60 })
    }).pipe(Effect.scoped)
  )

  it.effect("prefers its options to the settings", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(() => undefined)
      const options = { idempotencyKey: "mine", retries: 1 }
      const stage = client.accountImport.stageAccount({ payload: { payload: staged } }, options)
      yield* inTime(Effect.flip(stage))
      const keys = asked.filter(isCall).map(({ headers }) => headers["idempotency-key"])
      expect(keys).toEqual(["mine", "mine"])
    }).pipe(Effect.scoped)
  )

  it.effect("sends and reads numbers that a double cannot represent unchanged", () =>
    Effect.gen(function* () {
      const text =
        '{"import_supplier":"S","metadata":[{"key":"k","value":{"n":0.10000000000000000001}}]}'
      const answer = `{"external_account_number":"1",${text.slice(1)}`
      const { asked, client } = yield* clientOf(() => json(answer))
      const metadata = [{ key: "k", value: { n: rawNumber("0.10000000000000000001") } }]
      const valid = yield* client.accountImport.validateAccount({
        payload: { payload: { ...staged, metadata } }
      })
      expect(valid.metadata).toEqual(metadata)
      const [sent] = asked.filter(isCall)
      expect(sent?.body).toContain('{"n":0.10000000000000000001}')
    }).pipe(Effect.scoped)
  )

  it.effect("reads keys with an escape correctly, regardless of earlier answers", () =>
    Effect.gen(function* () {
      const values = ['{"h":[],"\\\\":0}', '{"h":1,"\\"":2}']
      const metadata = values.map((value, index) => `{"key":"k${index}","value":${value}}`)
      const list = `[${metadata.join(",")}]`
      const answer = `{"import_supplier":"S","external_account_number":"1","metadata":${list}}`
      const { client } = yield* clientOf(() => json(answer))
      const valid = yield* client.accountImport.validateAccount({ payload: { payload: staged } })
      expect(valid.metadata?.map(({ value }) => value)).toEqual([
        { h: [], "\\": 0 },
        { h: 1, '"': 2 }
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("sends a payload that the service will refuse as it is", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(() => refusal(400, "account_failed_validation"))
      const wrong = { ...staged, acount_type: 1 } as typeof staged
      yield* Effect.flip(client.accountImport.validateAccount({ payload: { payload: wrong } }))
      expect(asked.filter(isCall)[0]?.body).toBe(JSON.stringify({ payload: wrong }))
    }).pipe(Effect.scoped)
  )

  it.effect("fails with a description of an answer that is not of the service", () =>
    Effect.gen(function* () {
      const { client } = yield* clientOf(() => json("<html>"))
      expect(yield* Effect.flip(client.system.getLimits())).toMatchObject({
        code: "unexpected_answer",
        detail: "the body is not JSON"
      })
    }).pipe(Effect.scoped)
  )

  it.effect("fails if a documented field is missing", () =>
    Effect.gen(function* () {
      const { batch_lines: _, ...others } = limits
      const { client } = yield* clientOf(() => json(others))
      const error = yield* Effect.flip(client.system.getLimits())
      expect(error.message).toMatch(/batch_lines/)
    }).pipe(Effect.scoped)
  )

  it.effect("distinguishes an unchanged batch by its answer", () =>
    Effect.gen(function* () {
      const { client } = yield* clientOf(() => new Response(null, { status: 304 }))
      const request = { params: { batch_id: "1" } }
      const answered = yield* client.batches.getBatch.withResponse(request)
      expect(answered).toMatchObject({ statusCode: 304, value: undefined })
      const error = yield* Effect.flip(client.batches.getBatch(request))
      expect(error.code).toBe("unexpected_answer")
    }).pipe(Effect.scoped)
  )
})

describe("the access token", () => {
  it.effect("is obtained once for concurrent calls, even if that fails", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(
        () => json(limits),
        {},
        () => tokenError("INVALID_API_KEY")
      )
      const calls = Array.from({ length: 10 }, () => Effect.flip(client.system.getLimits()))
      const failures = yield* Effect.all(calls, { concurrency: "unbounded" })
      expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(["INVALID_API_KEY"]))
      expect(asked).toHaveLength(1)
    }).pipe(Effect.scoped)
  )

  it.effect("is renewed before it expires, and calls use the old one until then", () =>
    Effect.gen(function* () {
      const tokens: Array<() => Response | null> = [tokenAnswer, () => null]
      const { asked, client } = yield* clientOf(
        () => json(limits),
        {},
        () => (tokens.shift() ?? tokenAnswer)()
      )
      yield* client.system.getLimits()
      yield* TestClock.adjust("48 minutes")
      yield* client.system.getLimits()
      const [first, second] = asked.filter(isCall).map(({ headers }) => headers["authorization"])
      expect(second).toBe(first)
      expect(asked.filter(isToken)).toHaveLength(2)
      yield* TestClock.adjust("3 minutes")
      yield* client.system.getLimits()
      yield* client.system.getLimits()
      const last = asked.filter(isCall).at(-1)?.headers["authorization"]
      expect(last).not.toBe(first)
      expect(asked.filter(isToken)).toHaveLength(3)
    }).pipe(Effect.scoped)
  )

  it.effect("is obtained again when it is refused, once in a call", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(() => refusal(401, "authentication_failed"))
      const error = yield* Effect.flip(client.system.getLimits())
      expect(error).toMatchObject({ code: "authentication_failed", statusCode: 401 })
      expect(asked.map(({ path }) => path)).toEqual([
        "/v1/graphql/",
        "/v1/data-import/limits/",
        "/v1/graphql/",
        "/v1/data-import/limits/"
      ])
    }).pipe(Effect.scoped)
  )

  it.effect("is obtained again after a throttled attempt", () =>
    Effect.gen(function* () {
      const tokens = [tokenError("THROTTLED", { "retry-after": "30" })]
      const { asked, client } = yield* clientOf(
        () => json(limits),
        {},
        () => tokens.shift() ?? tokenAnswer()
      )
      yield* inTime(client.system.getLimits())
      expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBeGreaterThanOrEqual(30_000)
    }).pipe(Effect.scoped)
  )

  it.effect("is not sent if none is needed", () =>
    Effect.gen(function* () {
      const { asked, client } = yield* clientOf(() => json({ keys: [] }))
      yield* client.token.getSigningKeys()
      expect(asked.map(({ headers }) => headers["authorization"])).toEqual([undefined])
    }).pipe(Effect.scoped)
  )
})
