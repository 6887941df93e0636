import type { IncomingMessage, ServerResponse } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Scope } from "effect"
import { bytesOf, open, request } from "@data-import/server/testing/RawClient"
import { behind, bodyOf, gateway } from "./gatewayService.ts"

const path = "/v1/data-import/notes/create/"

/** Answers with the request as it arrived behind the gateway, in the body. */
const mirror = (incoming: IncomingMessage, answer: ServerResponse) => {
  void bodyOf(incoming).then((body) => {
    const { headers, method, rawHeaders, url } = incoming
    answer.end(JSON.stringify({ method, url, headers, names: rawHeaders, body }))
  })
}

interface Mirrored {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const mirrored = (sent: Parameters<typeof request>[1], settings = {}) =>
  Effect.gen(function* () {
    const { url } = yield* behind(mirror)
    const port = yield* gateway(url, settings)
    return (yield* request(port, sent)).json() as Mirrored
  })

describe("the service", () => {
  const named = (name: string) =>
    behind((_incoming, answer) => {
      answer.end(name)
    })

  it.live("is found by the path", () =>
    Effect.gen(function* () {
      const port = yield* gateway("http://127.0.0.1:1", {
        ACCOUNT_IMPORT_URL: (yield* named("account-import")).url,
        POST_IMPORT_URL: (yield* named("post-import")).url,
        BATCHES_URL: (yield* named("batches")).url,
        QUERY_URL: (yield* named("query")).url,
        AUTH_URL: (yield* named("auth")).url
      })
      const at = "/v1/data-import"
      const places = {
        [`${at}/validate-account/`]: "account-import",
        [`${at}/account-import-process/create-or-update/`]: "account-import",
        [`${at}/account-import-process/process/`]: "account-import",
        [`${at}/notes/create/`]: "post-import",
        [`${at}/transactions/create/?check_previously_added=false`]: "post-import",
        [`${at}/historical-statements/create/`]: "post-import",
        [`${at}/payment-instruction/create/`]: "post-import",
        [`${at}/account-transfer-status/DEMO/NL%2F1/`]: "query",
        [`${at}/imports/DEMO/NL%2F1/`]: "query",
        [`${at}/suppliers/DEMO/summary/`]: "query",
        [`${at}/suppliers/DEMO/configuration/`]: "query",
        [`${at}/all-account-import-processes/DEMO/`]: "query",
        [`${at}/pending-account-import-processes/DEMO/`]: "query",
        [`${at}/imported-account-import-processes/DEMO/`]: "query",
        [`${at}/certificates/?import_supplier=DEMO`]: "batches",
        [`${at}/certificates/1/proofs/NL%2F1/`]: "batches",
        [`${at}/control-totals/DEMO/?cohort=wave-1`]: "batches",
        "/.well-known/certificate-keys.json": "batches",
        [`${at}/accounts/A-0123ABCD/`]: "query",
        [`${at}/accounts/?import_supplier=DEMO`]: "query",
        [`${at}/limits/`]: "query",
        [`${at}/limits`]: "query",
        [`${at}/limits?x`]: "query",
        "/v1/graphql/": "auth",
        "/v1/graphql": "auth",
        "/.well-known/jwks.json": "auth"
      }
      for (const [path, name] of Object.entries(places)) {
        expect((yield* request(port, { path })).body, path).toBe(name)
      }
      const path = `${at}/imports/DEMO/NL%2F1/`
      const owners = { PATCH: "account-import", HEAD: "", DELETE: "query", POST: "account-import" }
      for (const [method, name] of Object.entries(owners)) {
        expect((yield* request(port, { method, path })).body, method).toBe(name)
      }
    })
  )

  it.live("is not called for an unknown path, which is 404 in the envelope", () =>
    Effect.gen(function* () {
      const { url } = yield* named("somebody")
      const port = yield* gateway(url)
      const paths = ["/", "/v1/data-import/", "/v1/data-import/limitsx/", "/V1/graphql/", "/notes/"]
      for (const path of paths) {
        const answer = yield* request(port, { method: "POST", path, body: "{" })
        expect([answer.status, answer.json()], path).toMatchObject([404, { code: "not_found" }])
        expect(answer.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
      }
    })
  )
})

describe("a request", () => {
  it.live("is forwarded unchanged: method, path, query, body and headers", () =>
    Effect.gen(function* () {
      const seen = yield* mirrored({
        method: "PATCH",
        path: "/v1/data-import/account-transfer-status/A%2Fb/%C3%A6%zz;x/?q=%2F+1&q",
        headers: { authorization: "Token t", accept: "text/csv", "content-type": "a/b" },
        body: "æ{"
      })
      expect(seen).toMatchObject({
        method: "PATCH",
        url: "/v1/data-import/account-transfer-status/A%2Fb/%C3%A6%zz;x/?q=%2F+1&q",
        headers: {
          authorization: "Token t",
          accept: "text/csv",
          "content-type": "a/b",
          "content-length": "3",
          host: "data-import.test"
        },
        body: "æ{"
      })
    })
  )

  it.live("loses its hop-by-hop headers", () =>
    Effect.gen(function* () {
      const { headers } = yield* mirrored({
        path,
        headers: {
          connection: "keep-alive, X-Hop",
          "x-hop": "1",
          "keep-alive": "timeout=1",
          te: "trailers",
          "proxy-authorization": "secret",
          upgrade: "h2c",
          "x-kept": "1"
        }
      })
      expect(Object.keys(headers).sort()).toEqual([
        "connection",
        "host",
        "x-forwarded-for",
        "x-kept",
        "x-request-id"
      ])
    })
  )

  it.live("carries the client's address, and not one that the client claims", () =>
    Effect.gen(function* () {
      const headers = { "x-forwarded-for": "9.9.9.9, 8.8.8.8", forwarded: "for=9.9.9.9" }
      const plain = yield* mirrored({ path, headers })
      expect(plain.headers["x-forwarded-for"]).toBe("127.0.0.1")
      expect(plain.headers["forwarded"]).toBeUndefined()
      const proxied = yield* mirrored({ path, headers }, { TRUST_PROXY: "1" })
      expect(proxied.headers["x-forwarded-for"]).toBe("8.8.8.8")
    })
  )

  it.live("has the same id as its answer", () =>
    Effect.gen(function* () {
      const { url } = yield* behind(mirror)
      const port = yield* gateway(url)
      for (const [sent, kept] of [
        ["caller-1", true],
        ["not sane", false]
      ] as const) {
        const answer = yield* request(port, { path, headers: { "x-request-id": sent } })
        const seen = (answer.json() as Mirrored).headers["x-request-id"]
        expect(answer.headers["x-request-id"]).toBe(seen)
        expect(seen === sent).toBe(kept)
      }
    })
  )

  it.live("in chunks is forwarded when it is complete, with its length", () =>
    Effect.gen(function* () {
      let asked = 0
      const { url } = yield* behind((incoming, answer) => {
        asked += 1
        mirror(incoming, answer)
      })
      const port = yield* gateway(url)
      const connection = yield* open(port)
      const headers = { "transfer-encoding": "chunked" }
      connection.send(bytesOf({ method: "POST", path, headers }), "3;a=b\r\nabc\r\n")
      yield* request(port, { path })
      expect(asked).toBe(1)
      connection.send("2\r\nde\r\n0\r\nx-trailer: 1\r\n\r\n")
      const answer = yield* Effect.promise(() => connection.receive())
      const seen = answer.json() as Mirrored
      expect(seen.body).toBe("abcde")
      expect(seen.headers).toMatchObject({ "content-length": "5" })
      expect(seen.headers).not.toHaveProperty("transfer-encoding")
    })
  )

  it.live("of some megabytes arrives completely", () =>
    Effect.gen(function* () {
      const body = "0123456789abcdef".repeat(0x40000)
      const seen = yield* mirrored({ method: "POST", path, body })
      expect(seen.body.length).toBe(body.length)
      expect(seen.body === body).toBe(true)
    })
  )

  it.live("is continued when the client expects it", () =>
    Effect.gen(function* () {
      const { url } = yield* behind(mirror)
      const connection = yield* open(yield* gateway(url))
      const headers = { expect: "100-continue", "content-length": "2" }
      connection.send(bytesOf({ method: "POST", path, headers }))
      const goOn = yield* Effect.promise(() => connection.receive())
      connection.send("{}")
      const answer = yield* Effect.promise(() => connection.receive())
      expect([goOn.status, (answer.json() as Mirrored).body]).toEqual([100, "{}"])
    })
  )
})

describe("an answer", () => {
  it.live("is returned unchanged, except for hop-by-hop headers", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((_incoming, answer) => {
        answer.writeHead(429, {
          "content-type": "application/json",
          "retry-after": "7",
          "set-cookie": ["a=1", "b=2"],
          connection: "keep-alive, x-hop",
          "x-hop": "1",
          "x-request-id": "another"
        })
        answer.end("{}")
      })
      const port = yield* gateway(url)
      const answer = yield* request(port, { path, headers: { "x-request-id": "mine" } })
      expect([answer.status, answer.body]).toEqual([429, "{}"])
      expect(answer.headers).toMatchObject({ "retry-after": "7", "x-request-id": "mine" })
      expect(answer.headers["x-hop"]).toBeUndefined()
      expect(answer.headers["connection"]).toBe("keep-alive")
    })
  )

  it.live("that redirects is not followed", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((_incoming, answer) => {
        answer.writeHead(308, { location: "/v1/graphql/?a=%2F" }).end()
      })
      const answer = yield* request(yield* gateway(url), { path: "/v1/graphql?a=%2F" })
      expect([answer.status, answer.headers["location"]]).toEqual([308, "/v1/graphql/?a=%2F"])
    })
  )

  it.live("to HEAD has the headers of the body and no body", () =>
    Effect.gen(function* () {
      const { url } = yield* behind((_incoming, answer) => {
        answer.writeHead(200, { "content-length": "11" }).end()
      })
      const answer = yield* request(yield* gateway(url), { method: "HEAD", path })
      expect([answer.status, answer.headers["content-length"], answer.body]).toEqual([
        200,
        "11",
        ""
      ])
    })
  )

  it.live("is written as it arrives, before its end", () =>
    Effect.gen(function* () {
      let end = () => {}
      const { url } = yield* behind((_incoming, answer) => {
        answer.write("[1")
        end = () => answer.end(",2]")
      })
      const connection = yield* open(yield* gateway(url))
      connection.send(bytesOf({ path }))
      yield* Effect.promise(() => connection.until("[1"))
      end()
      const answer = yield* Effect.promise(() => connection.receive())
      expect(answer.json()).toEqual([1, 2])
    })
  )

  it.live("of some megabytes is complete, even if it is read slowly", () =>
    Effect.gen(function* () {
      const body = "0123456789abcdef".repeat(0x80000)
      const { url } = yield* behind((_incoming, answer) => {
        answer.end(body)
      })
      const answer = yield* request(yield* gateway(url), { path })
      expect(answer.body === body).toBe(true)
    })
  )

  it.live("in progress while the gateway stops is finished, and closes the connection", () =>
    Effect.gen(function* () {
      let end = () => {}
      const asked = yield* Deferred.make<void>()
      const { url } = yield* behind((_incoming, answer) => {
        end = () => answer.end("done")
        Deferred.doneUnsafe(asked, Exit.void)
      })
      const scope = yield* Scope.make()
      const connection = yield* open(yield* Scope.provide(gateway(url), scope))
      connection.send(bytesOf({ path }))
      yield* Deferred.await(asked)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), {
        startImmediately: true
      })
      end()
      const answer = yield* Effect.promise(() => connection.receive())
      expect([answer.status, answer.body]).toEqual([200, "done"])
      expect(answer.headers["connection"]).toBe("close")
      yield* Fiber.join(stopping)
    })
  )
})
