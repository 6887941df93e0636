/** Sessions over HTTP, and attacks on them. Source: docs/contract/board.md#sessions. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { BoardAccess } from "@data-import/domain/access/BoardAccess"
import {
  browser,
  browserOf,
  codeOf,
  freshLink,
  sessionOf,
  serviceWith,
  signedIn,
  viewer
} from "./boardService.ts"

const suite = { excludeTestServices: true, timeout: "1 minute" } as const

const session = "/board/api/session/"
const signOut = "/board/api/sign-out/"

layer(serviceWith({}), suite)("a sign-in link", (it) => {
  it.effect("signs in as the operator, only once", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* browser, yield* browser]
      const link = yield* freshLink
      const shown = yield* one.get(link)
      expect([shown.status, one.cookies.size]).toEqual([200, 0])
      const used = yield* one.post(link)
      expect([used.status, used.headers.location]).toEqual([303, "/board/"])
      expect(yield* sessionOf(one)).toMatchObject({
        name: "local",
        role: "manager",
        organisations: null
      })
      const again = yield* other.post(link)
      expect([again.status, other.cookies.size]).toEqual([403, 0])
      expect(again.text).toContain("no longer valid")
    })
  )

  it.effect("works for clients on this machine only, and is not used up by others", () =>
    Effect.gen(function* () {
      const one = yield* browser
      const link = yield* freshLink
      for (const address of ["192.0.2.7", "2001:db8::7"]) {
        const elsewhere = yield* one.post(link, { "x-forwarded-for": address })
        expect([elsewhere.status, one.cookies.size]).toEqual([403, 0])
        expect((yield* one.get(link, { "x-forwarded-for": address })).status).toBe(403)
      }
      expect((yield* one.post(link, { "x-forwarded-for": "::ffff:127.0.0.1" })).status).toBe(303)
    })
  )

  it.effect("works only if the Host header names this machine", () =>
    Effect.gen(function* () {
      const one = yield* browser
      const link = yield* freshLink
      for (const host of ["board.example", "localhost.evil.example", "127.0.0.1.evil.example:80"]) {
        const named = yield* one.post(link, { host })
        expect([named.status, one.cookies.size]).toEqual([403, 0])
        expect((yield* one.get(link, { host })).status).toBe(403)
      }
      expect((yield* one.post(link, { host: "localhost:8080" })).status).toBe(303)
    })
  )

  it.effect("gives a session to only one of many concurrent requests", () =>
    Effect.gen(function* () {
      const link = yield* freshLink
      const browsers = yield* Effect.replicateEffect(browser, 12)
      const answers = yield* Effect.forEach(browsers, (one) => one.post(link), {
        concurrency: "unbounded"
      })
      expect(answers.filter(({ status }) => status === 303).length).toBe(1)
      expect(answers.filter(({ status }) => status === 403).length).toBe(11)
      expect(browsers.filter(({ cookies }) => cookies.size > 0).length).toBe(1)
    })
  )

  it.effect("cannot be used by a page of another site", () =>
    Effect.gen(function* () {
      const one = yield* browser
      const link = yield* freshLink
      for (const headers of [
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "same-site" },
        { origin: "https://evil.example" }
      ]) {
        const { status } = yield* one.ask({ method: "POST", path: link, headers })
        expect([status, one.cookies.size]).toEqual([403, 0])
      }
      expect((yield* one.ask({ method: "POST", path: link })).status).toBe(403)
      expect((yield* one.post(link, { origin: "null" })).status).toBe(303)
    })
  )

  it.effect("replaces the session that the browser has with a new one", () =>
    Effect.gen(function* () {
      const one = yield* signedIn
      const former = one.cookies.get("board") ?? ""
      const attacked = yield* browser
      attacked.cookies.set("board", former)
      yield* attacked.post(yield* freshLink)
      expect(attacked.cookies.get("board")).not.toBe(former)
      expect((yield* one.get(session)).status).toBe(401)
      attacked.cookies.set("board", "chosen-by-the-attacker")
      yield* attacked.post(yield* freshLink)
      expect(attacked.cookies.get("board")).not.toBe("chosen-by-the-attacker")
    })
  )
})

layer(serviceWith({}), suite)("a session", (it) => {
  it.effect("is a cookie that is hidden from scripts and other sites", () =>
    Effect.gen(function* () {
      const { headers } = yield* (yield* browser).post(yield* freshLink)
      expect(headers["set-cookie"]).toEqual([
        expect.stringMatching(/^board=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/)
      ])
    })
  )

  it.effect("is required: without it the API answers 401, and a page redirects to signing in", () =>
    Effect.gen(function* () {
      const one = yield* browser
      for (const cookie of [undefined, "", "wrong", "a; board=b"]) {
        one.cookies.clear()
        if (cookie !== undefined) one.cookies.set("board", cookie)
        const refused = yield* one.get(session)
        expect([refused.status, codeOf(refused)]).toEqual([401, "not_authenticated"])
        const page = yield* one.get("/board/migrations/ACME/?cohort=a")
        expect([page.status, page.headers.location]).toEqual([
          303,
          "/board/sign-in/?to=%2Fboard%2Fmigrations%2FACME%2F%3Fcohort%3Da"
        ])
      }
      expect((yield* one.get("/board/")).headers.location).toBe("/board/sign-in/")
    })
  )

  it.effect("ends when its user signs out", () =>
    Effect.gen(function* () {
      const one = yield* signedIn
      const { csrf_token } = yield* sessionOf(one)
      const stolen = yield* browser
      stolen.cookies.set("board", one.cookies.get("board") ?? "")
      const { status } = yield* one.post(signOut, { "x-csrf-token": csrf_token })
      expect([status, one.cookies.size]).toEqual([200, 0])
      expect((yield* stolen.get(session)).status).toBe(401)
    })
  )

  it.effect("is never cached", () =>
    Effect.gen(function* () {
      const { headers } = yield* (yield* signedIn).get(session)
      expect(headers).toMatchObject({
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff"
      })
    })
  )
})

layer(serviceWith({}), suite)("a change", (it) => {
  it.effect("needs the CSRF token of its own session", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* signedIn, yield* signedIn]
      const [own, foreign] = [yield* sessionOf(one), yield* sessionOf(other)]
      for (const token of [undefined, "", "wrong", foreign.csrf_token, `${own.csrf_token}x`]) {
        const refused = yield* one.post(
          signOut,
          token === undefined ? {} : { "x-csrf-token": token }
        )
        expect([refused.status, codeOf(refused)], token).toEqual([403, "permission_denied"])
      }
      expect((yield* one.get(session)).status).toBe(200)
    })
  )

  it.effect("must come from a page of the board", () =>
    Effect.gen(function* () {
      const one = yield* signedIn
      const { csrf_token } = yield* sessionOf(one)
      const token = { "x-csrf-token": csrf_token }
      for (const from of [
        {},
        { "sec-fetch-site": "cross-site" },
        { "sec-fetch-site": "none" },
        { origin: "null" },
        { origin: "https://evil.example" },
        { "sec-fetch-site": "same-origin", origin: "https://evil.example" }
      ]) {
        const headers = { ...token, ...from }
        const refused = yield* one.ask({ method: "POST", path: signOut, headers, body: "{}" })
        expect([refused.status, codeOf(refused)]).toEqual([403, "permission_denied"])
      }
      const { status } = yield* one.post(signOut, { ...token })
      expect(status).toBe(200)
    })
  )

  it.effect("is refused in a session that has ended", () =>
    Effect.gen(function* () {
      const one = yield* browserOf(viewer)
      const { csrf_token } = yield* sessionOf(one)
      const { end, open } = yield* BoardAccess
      const found = yield* open(one.cookies.get("board") ?? "", false)
      if (found._tag === "Some") yield* end(found.value.hash)
      const refused = yield* one.post(signOut, { "x-csrf-token": csrf_token })
      expect([refused.status, codeOf(refused)]).toEqual([401, "not_authenticated"])
    })
  )
})

layer(serviceWith({ BOARD_PUBLIC_URL: "https://board.example" }), suite)("over https", (it) => {
  const remote = { "x-forwarded-for": "192.0.2.7", host: "board.example" }

  it.effect("accepts a session only in a cookie that no other host can set", () =>
    Effect.gen(function* () {
      const one = yield* browserOf(viewer)
      const id = one.cookies.get("board") ?? ""
      expect((yield* one.get(session, remote)).status).toBe(401)
      one.cookies.clear()
      one.cookies.set("__Host-board", id)
      expect((yield* one.get(session, remote)).status).toBe(200)
      one.cookies.set(" __Host-board", "another")
      expect((yield* one.get(session, remote)).status).toBe(401)
    })
  )

  it.effect("accepts changes only from the public address", () =>
    Effect.gen(function* () {
      const one = yield* browserOf(viewer)
      one.cookies.set("__Host-board", one.cookies.get("board") ?? "")
      const { csrf_token } = yield* sessionOf(one, remote)
      const from = (origin: string) =>
        one.ask({
          method: "POST",
          path: signOut,
          headers: { ...remote, "x-csrf-token": csrf_token, origin },
          body: "{}"
        })
      for (const origin of ["http://board.example", "https://board.example:8443"]) {
        expect((yield* from(origin)).status, origin).toBe(403)
      }
      const signedOut = yield* from("https://board.example")
      expect([signedOut.status, signedOut.headers["set-cookie"]]).toEqual([
        200,
        [expect.stringMatching(/^__Host-board=; Max-Age=0; Path=\/;.* Secure;/)]
      ])
    })
  )
})
