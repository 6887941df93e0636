/** Invitations over HTTP, from the manager to the session. Source: docs/contract/board.md#invitations. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import * as Board from "./BoardEndpoints.ts"
import { type Browser, browser, browserOf, codeOf, serviceWith } from "./boardService.ts"

const suite = { excludeTestServices: true, timeout: "1 minute" } as const
const remote = { "x-forwarded-for": "192.0.2.7", host: "board.example" }
const session = "/board/api/session/"

/** A manager of a migration, and a link for somebody of its supplier. */
const invited = Effect.gen(function* () {
  const { named, supplier } = yield* Board.migration
  const one = yield* browserOf(Board.manager([supplier.organisation]))
  const token = yield* Board.tokenOf(one)
  const root = `/board/api/migrations/${named.supplier}/invitations/`
  const invite = (person: string) => one.post(root, token, JSON.stringify({ person }))
  const { url } = JSON.parse((yield* invite("ann@acme")).text) as { readonly url: string }
  const listed = Effect.map(
    one.get(root),
    ({ text }) =>
      (JSON.parse(text) as { readonly invitations: ReadonlyArray<Record<string, string>> })
        .invitations
  )
  const revoke = Effect.flatMap(listed, ([first]) =>
    one.post(`${root}${first?.["invitation_id"]}/revoke/`, token)
  )
  return { supplier, named, url, path: new URL(url).pathname, invite, listed, revoke }
})

const statusIn = (one: Browser) => Effect.map(one.get(session, remote), ({ status }) => status)

const settings = { BOARD_PUBLIC_URL: "https://board.example", BOARD_SESSION_PROLONGED: "8 hours" }

layer(serviceWith(settings), suite)("an invitation", (it) => {
  it.effect("signs in from anywhere, to see one migration, and is not used up by looking", () =>
    Effect.gen(function* () {
      const { listed, named, path, supplier, url } = yield* invited
      expect(url).toMatch(/^https:\/\/board\.example\/board\/sign-in\/invitation\/[\w-]{43}\/$/)
      const person = yield* browser
      const shown = yield* person.get(path, remote)
      expect([shown.status, person.cookies.size]).toEqual([200, 0])
      expect(shown.headers).toMatchObject({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer"
      })
      expect(yield* listed).toMatchObject([{ person: "ann@acme", by: "board:mia", used_at: null }])
      const used = yield* person.post(path, remote)
      expect([used.status, used.headers.location]).toEqual([303, "/board/"])
      expect(used.headers["set-cookie"]).toEqual([expect.stringMatching(/^__Host-board=.*Secure/)])
      expect(JSON.parse((yield* person.get(session, remote)).text)).toMatchObject({
        name: "ann@acme (invited)",
        role: "supplier",
        organisations: [],
        import_suppliers: [named.supplier],
        prolongs_by: null
      })
      const seen = JSON.parse((yield* person.get("/board/api/migrations/", remote)).text) as object
      expect(seen).toMatchObject({ migrations: [{ import_supplier: named.supplier }] })
      expect(yield* listed).toMatchObject([{ used_at: expect.any(String) }])
      const { search } = yield* AuditLog
      const filter = { organisations: [supplier.organisation], supplier: supplier.code }
      const { entries } = yield* search({ filter, before: null, limit: 2 })
      expect(entries.map(({ action, apiKey, outcome }) => [apiKey, action, outcome])).toEqual([
        ["board:ann@acme (invited)", "sign_in", "begun"],
        ["board:mia", "invite_supplier", "invited ann@acme"]
      ])
    })
  )

  it.effect("works again, and ends the session of the use before", () =>
    Effect.gen(function* () {
      const { path } = yield* invited
      const [first, second] = [yield* browser, yield* browser]
      yield* first.post(path, remote)
      expect(yield* statusIn(first)).toBe(200)
      yield* second.post(path, remote)
      expect([yield* statusIn(first), yield* statusIn(second)]).toEqual([401, 200])
    })
  )

  it.effect("that is revoked signs nobody in, and its session has ended", () =>
    Effect.gen(function* () {
      const { listed, path, revoke } = yield* invited
      const person = yield* browser
      yield* person.post(path, remote)
      expect((yield* revoke).status).toBe(200)
      expect([yield* statusIn(person), yield* listed]).toEqual([401, []])
      const again = yield* (yield* browser).post(path, remote)
      expect([again.status, again.text]).toEqual([403, expect.stringContaining("was revoked")])
    })
  )

  it.effect("is not used by another site, and no other is taken for it", () =>
    Effect.gen(function* () {
      const { path } = yield* invited
      const one = yield* browser
      for (const headers of [
        { "sec-fetch-site": "cross-site" },
        { origin: "https://evil.example" }
      ]) {
        expect((yield* one.post(path, { ...remote, ...headers })).status).toBe(403)
      }
      const last = path.at(-2) === "A" ? "B" : "A"
      expect((yield* one.post(`${path.slice(0, -2)}${last}/`, remote)).status).toBe(403)
      expect((yield* one.post(path.replace("invitation/", ""), remote)).status).toBe(403)
      expect(one.cookies.size).toBe(0)
    })
  )

  it.effect("needs a name that can be read", () =>
    Effect.gen(function* () {
      const { invite, listed } = yield* invited
      for (const person of ["", " ", "x".repeat(51), "an\u202en"]) {
        const refused = yield* invite(person)
        expect([refused.status, codeOf(refused)]).toEqual([400, "request_failed_validation"])
      }
      expect((yield* listed).length).toBe(1)
    })
  )
})

layer(serviceWith({}), suite)("without a public address, an invitation", (it) => {
  it.effect("works on this machine only", () =>
    Effect.gen(function* () {
      const { path, url } = yield* invited
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//)
      const one = yield* browser
      const origin = "http://board.example"
      const asked = { method: "POST", path, body: "", headers: { ...remote, origin } }
      expect((yield* one.ask(asked)).status).toBe(403)
      expect((yield* one.get(path, remote)).status).toBe(403)
      expect((yield* one.post(path)).status).toBe(303)
    })
  )
})
