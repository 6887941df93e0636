import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { acme, ask, errorCode, obtain, post, refusal, withService } from "./authService.ts"

const issue = issueKey({
  organisation: acme,
  label: "ci",
  scopes: ["import:read", "import:write"],
  expiresAt: null
})
const unix = (text: string): number => Date.parse(text) / 1000
const wrong = { APIKey: "sk_wrong" }

describe("POST /v1/graphql/", () => {
  it.effect("gives tokens for an API key", () =>
    Effect.gen(function* () {
      const { key, secret } = yield* issue
      const { payload, refreshExpiresIn, refreshToken, token } = yield* obtain({ APIKey: secret })
      expect(payload).toEqual({
        iss: "data-import",
        sub: "acme",
        iat: unix("2026-03-01T12:00:00Z"),
        exp: unix("2026-03-01T13:00:00Z"),
        jti: expect.stringMatching(new RegExp(`^${key.id}\\.[A-Za-z0-9_-]{22}$`)) as string,
        scope: "import:read import:write"
      })
      expect(token.split(".")).toHaveLength(3)
      expect(refreshToken).toMatch(/^rt_[A-Za-z0-9_-]{43}$/)
      expect(refreshExpiresIn).toBe(unix("2026-03-08T12:00:00Z"))
    }).pipe(withService())
  )

  it.effect("accepts the input inside the document, and answers the selected fields", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue
      const input = `{ APIKey: "${secret}" }`
      const query = `mutation { obtainServiceToken(input: ${input}) { refreshExpiresIn } }`
      const { status, text } = yield* post({ query })
      expect(status).toBe(200)
      expect(JSON.parse(text)).toEqual({
        data: { obtainServiceToken: { refreshExpiresIn: unix("2026-03-08T12:00:00Z") } }
      })
    }).pipe(withService())
  )

  it.effect("gives tokens for a refresh token once, and revokes its family on reuse", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue
      const first = yield* obtain({ APIKey: secret })
      const second = yield* obtain({ refreshToken: first.refreshToken })
      expect(second.payload["sub"]).toBe("acme")
      const { refreshToken } = yield* obtain({ refreshToken: second.refreshToken })
      expect(yield* refusal({ refreshToken: first.refreshToken })).toBe("INVALID_REFRESH_TOKEN")
      expect(yield* refusal({ refreshToken })).toBe("INVALID_REFRESH_TOKEN")
    }).pipe(withService())
  )

  it.effect("refuses a wrong key as a GraphQL error", () =>
    Effect.gen(function* () {
      const { headers, status, text } = yield* ask(wrong)
      expect(status).toBe(200)
      expect(headers.get("content-type")).toMatch(/^application\/json/)
      expect(headers.get("cache-control")).toBe("no-store")
      expect(headers.get("retry-after")).toBeNull()
      expect(JSON.parse(text)).toEqual({
        data: { obtainServiceToken: null },
        errors: [
          {
            message: "Invalid API key.",
            locations: [{ line: 2, column: 3 }],
            path: ["obtainServiceToken"],
            extensions: {
              errorType: "AUTHORIZATION",
              errorCode: "INVALID_API_KEY",
              errorDescription: "The API key is unknown, expired or revoked."
            }
          }
        ]
      })
    }).pipe(withService())
  )

  it.effect("says that a key was sent with a blank or a quote", () =>
    Effect.gen(function* () {
      const { secret } = yield* issue
      for (const APIKey of [`${secret}\n`, `"${secret}"`]) {
        expect((yield* ask({ APIKey })).text).toContain("sent with blanks or quotes")
      }
    }).pipe(withService())
  )
})

describe("failed attempts", () => {
  const mate = "192.0.2.2"

  it.effect("are throttled from the 21st on, with Retry-After", () =>
    Effect.gen(function* () {
      const codes = yield* Effect.replicateEffect(refusal(wrong), 20)
      expect(new Set(codes)).toEqual(new Set(["INVALID_API_KEY"]))
      const throttled = yield* ask(wrong)
      expect(errorCode(throttled)).toBe("THROTTLED")
      expect(throttled.headers.get("retry-after")).toBe("60")
      yield* TestClock.adjust("59 seconds")
      expect((yield* ask(wrong)).headers.get("retry-after")).toBe("1")
      yield* TestClock.adjust("1 second")
      expect(yield* refusal(wrong)).toBe("INVALID_API_KEY")
    }).pipe(withService())
  )

  it.effect("include requests with a credential, but not malformed requests", () =>
    Effect.gen(function* () {
      yield* Effect.replicateEffect(refusal({}), 30)
      yield* Effect.replicateEffect(post({ query: "{" }), 30)
      expect(yield* refusal(wrong)).toBe("INVALID_API_KEY")
    }).pipe(withService())
  )

  it.effect("count for the address that the nearest proxy reports", () =>
    Effect.gen(function* () {
      for (let attempt = 0; attempt < 20; attempt++) {
        yield* refusal(wrong, `203.0.113.${attempt}, 192.0.2.1`)
      }
      expect(yield* refusal(wrong, `${mate}, 192.0.2.1`)).toBe("THROTTLED")
      expect(yield* refusal(wrong, `192.0.2.1, ${mate}`)).toBe("INVALID_API_KEY")
    }).pipe(withService())
  )
})
