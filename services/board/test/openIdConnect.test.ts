/** Signing in at a real identity provider. Source: docs/contract/board.md#openid-connect. */
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { Premises } from "@data-import/server/testing/RunningService"
import { type Browser, browser, serviceWith, sessionOf } from "./boardService.ts"
import { type Claims, clientId, clientSecret, identityProvider } from "./identityProvider.ts"

const publicUrl = "https://board.example"
const start = "/board/sign-in/start/"

class Identity extends Context.Service<
  Identity,
  Effect.Success<ReturnType<typeof identityProvider>>
>()("Identity") {}

const withProvider = Layer.unwrap(
  Effect.map(Identity, ({ issuer }) =>
    serviceWith({
      BOARD_PUBLIC_URL: publicUrl,
      BOARD_OIDC_ISSUER: issuer,
      BOARD_OIDC_CLIENT_ID: clientId,
      BOARD_OIDC_CLIENT_SECRET: clientSecret
    })
  )
).pipe(
  Layer.provideMerge(
    Layer.effect(Identity, identityProvider(`${publicUrl}/board/sign-in/callback/`))
  )
)

/** The headers with which the gateway forwards requests to the public address. */
const remote = { "x-forwarded-for": "192.0.2.7", host: "board.example", "sec-fetch-site": "none" }

const manager: Claims = {
  data_import_role: "manager",
  data_import_organisations: ["acme", "globex"],
  preferred_username: "ada"
}

/** A browser that the provider has redirected back, and the path to which it did. */
const comeBack = Effect.fnUntraced(function* (claims: Claims, from: string = start) {
  const { person, signIn } = yield* Identity
  Object.assign(person, { claims, refuses: false })
  const one = yield* browser
  const begun = yield* one.get(from, remote)
  expect(begun.status).toBe(303)
  const { pathname, search } = yield* signIn(begun.headers.location ?? "")
  return { one, path: `${pathname}${search}` }
})

const pendingCookie = "__Host-board-sign-in"

const change = (one: Browser, part: 0 | 1 | 2) => {
  const parts = (one.cookies.get(pendingCookie) ?? "").split(".")
  const wrong = (parts[part] ?? "").split("").toReversed().join("")
  one.cookies.set(pendingCookie, parts.with(part, wrong).join("."))
}

/** Expects a page with this status and title, and no session. */
const expectRefused = Effect.fnUntraced(function* (
  { one, path }: Effect.Success<ReturnType<typeof comeBack>>,
  status: number,
  title: string
) {
  const page = yield* one.get(path, remote)
  expect([page.status, page.headers["content-type"]]).toEqual([status, "text/html; charset=utf-8"])
  expect(page.text).toContain(title)
  expect([...one.cookies.keys()]).toEqual([])
})

const failed = "Signing in did not work"

layer(withProvider, { excludeTestServices: true, timeout: "1 minute" })("OpenID Connect", (it) => {
  it.effect("signs a user in with the role and the organisations of the claims", () =>
    Effect.gen(function* () {
      const { one, path } = yield* comeBack(manager)
      const back = yield* one.get(path, remote)
      expect([back.status, back.headers.location]).toEqual([303, "/board/"])
      expect([...one.cookies.keys()]).toEqual(["__Host-board"])
      expect(yield* sessionOf(one, remote)).toMatchObject({
        name: "ada",
        role: "manager",
        organisations: ["acme", "globex"]
      })
    })
  )

  it.effect("returns to the requested page, and never to another site", () =>
    Effect.gen(function* () {
      const wanted = "/board/migrations/ACME/?cohort=wave%201"
      const place = "/board/migrations/A(1)/imports/?attr=customers.*.email&search=a:b@c"
      const long = (length: number) => `/board/?search=${"x".repeat(length)}`
      for (const [to, location] of [
        [wanted, wanted],
        [place, place],
        [long(1_000), long(1_000)],
        [long(2_000), "/board/"],
        ["/board/\n//evil.example", "/board/"],
        ["https://evil.example/board/", "/board/"],
        ["//evil.example/board/", "/board/"],
        ["/board/\\evil", "/board/"],
        ["/v1/data-import/", "/board/"]
      ] as const) {
        const from = `${start}?${new URLSearchParams({ to }).toString()}`
        const { one, path } = yield* comeBack(manager, from)
        expect((yield* one.get(path, remote)).headers.location).toBe(location)
      }
    })
  )

  it.effect("does not redirect to another site that a forged cookie names", () =>
    Effect.gen(function* () {
      for (const evil of ["https://evil.example/", "//evil.example/board/", "/board/\n"]) {
        const { one, path } = yield* comeBack(manager)
        const [state, nonce, verifier] = (one.cookies.get(pendingCookie) ?? "").split(".")
        const location = Buffer.from(evil).toString("base64url")
        one.cookies.set(pendingCookie, [state, nonce, verifier, location].join("."))
        expect((yield* one.get(path, remote)).headers.location).toBe("/board/")
      }
    })
  )

  it.effect("starts the flow with PKCE, state and nonce", () =>
    Effect.gen(function* () {
      const { headers } = yield* (yield* browser).get(start, remote)
      const asked = Object.fromEntries(new URL(headers.location ?? "").searchParams)
      expect(asked).toMatchObject({
        response_type: "code",
        client_id: clientId,
        redirect_uri: `${publicUrl}/board/sign-in/callback/`,
        code_challenge_method: "S256",
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        state: expect.stringMatching(/^[\w-]{43}$/),
        nonce: expect.stringMatching(/^[\w-]{43}$/)
      })
      expect(headers["set-cookie"]).toEqual([
        expect.stringMatching(
          /^__Host-board-sign-in=[\w.-]+; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/
        )
      ])
    })
  )

  it.effect.each([
    ["state", 0],
    ["nonce", 1],
    ["verifier", 2]
  ] as const)("refuses a wrong %s", ([, part]) =>
    Effect.gen(function* () {
      const came = yield* comeBack(manager)
      change(came.one, part)
      yield* expectRefused(came, 403, failed)
    })
  )

  it.effect("refuses a browser that did not start the sign-in, and a code that was used", () =>
    Effect.gen(function* () {
      const { one, path } = yield* comeBack(manager)
      yield* expectRefused({ one: yield* browser, path }, 403, failed)
      const cookie = one.cookies.get(pendingCookie) ?? ""
      expect((yield* one.get(path, remote)).status).toBe(303)
      const again = yield* browser
      again.cookies.set(pendingCookie, cookie)
      yield* expectRefused({ one: again, path }, 403, failed)
    })
  )

  it.effect("refuses when the provider reports that access was denied", () =>
    Effect.gen(function* () {
      const { person, signIn } = yield* Identity
      const one = yield* browser
      const { headers } = yield* one.get(start, remote)
      person.refuses = true
      const { pathname, search } = yield* signIn(headers.location ?? "")
      expect(search).toContain("error=access_denied")
      yield* expectRefused({ one, path: `${pathname}${search}` }, 403, failed)
    })
  )

  it.effect.each([
    [{}],
    [{ ...manager, data_import_role: "administrator" }],
    [{ ...manager, data_import_role: undefined }],
    [{ ...manager, data_import_organisations: undefined }],
    [{ ...manager, data_import_organisations: [] }]
  ] as const)("refuses a user with the claims %j, and says whom to ask", ([claims]) =>
    Effect.gen(function* () {
      yield* expectRefused(yield* comeBack(claims), 403, "Ask whoever gives out roles")
    })
  )

  it.effect("logs no code, no secret and no name", () =>
    Effect.gen(function* () {
      const { log } = yield* Premises
      const { one, path } = yield* comeBack({ ...manager, preferred_username: "canary-name" })
      const pending = one.cookies.get(pendingCookie) ?? ""
      yield* one.get(path, remote)
      const came = yield* comeBack(manager)
      change(came.one, 1)
      const code = new URLSearchParams(path.split("?")[1]).get("code") ?? "no code"
      yield* came.one.get(came.path, remote)
      const text = log.join("")
      expect(text).toContain("signing in was refused")
      const secrets = [
        code,
        clientSecret,
        "canary-name",
        one.cookies.get("__Host-board") ?? "no session",
        ...pending.split(".").slice(0, 3)
      ]
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([])
    })
  )
})

layer(
  serviceWith({
    BOARD_PUBLIC_URL: publicUrl,
    BOARD_OIDC_ISSUER: "http://127.0.0.1:1",
    BOARD_OIDC_CLIENT_ID: clientId
  }),
  { excludeTestServices: true, timeout: "1 minute" }
)("a provider that does not answer", (it) => {
  it.effect("is answered with a page that says so", () =>
    Effect.gen(function* () {
      const one = yield* browser
      const page = yield* one.get(start, remote)
      expect([page.status, one.cookies.size]).toEqual([503, 0])
      expect(page.text).toContain("does not answer")
      const begin = yield* one.get("/board/sign-in/?to=%2Fboard%2Faudit%2F", remote)
      expect(begin.text).toContain(`href="${start}?to=%2Fboard%2Faudit%2F"`)
    })
  )
})
