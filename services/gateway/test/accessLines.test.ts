/** What the gateway logs about each request, regardless of its method. */
import { readFileSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "@data-import/server/testing/RawClient"
import { layer as issue, TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { behind, bodyOf, listening } from "./gatewayService.ts"

type Sent = Parameters<typeof request>[1]

/** The entries of these requests, once the gateway has stopped. */
const entriesOf = Effect.fnUntraced(function* (sent: ReadonlyArray<Sent>) {
  const keys = readFileSync((yield* TokenIssuer).jwksFile)
  const lines: Array<string> = []
  const { url } = yield* behind((incoming, answer) => {
    answer.setHeader("content-type", "application/json")
    if (incoming.url === "/.well-known/jwks.json") return void answer.end(keys)
    void bodyOf(incoming).then(() => answer.end("{}"))
  })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const { port } = yield* listening(url, {}, (line) => void lines.push(line))
      for (const one of sent) yield* request(port, one)
    })
  )
  const entries = lines
    .join("")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
    .filter(({ message }) => message === "answered")
  return { entries, upstream: new URL(url).host }
})

const root = "/v1/data-import"

layer(issue, { excludeTestServices: true })("the log entry of a request", (it) => {
  it.effect("names the organisation and key of its token, with and without a body", () =>
    Effect.gen(function* () {
      const token = yield* (yield* TokenIssuer).tokenNaming("acme")
      const headers = { authorization: `Token ${token}` }
      const json = { ...headers, "content-type": "application/json" }
      const sent: ReadonlyArray<Sent> = [
        { path: `${root}/limits/`, headers },
        { method: "HEAD", path: `${root}/limits/`, headers },
        { path: `${root}/events/?wait=1`, headers },
        { method: "POST", path: `${root}/batches/b1/pause/`, headers },
        { method: "POST", path: `${root}/notes/create/`, headers: json, body: "{}" }
      ]
      const { entries, upstream } = yield* entriesOf(sent)
      expect(entries).toHaveLength(sent.length)
      for (const entry of entries) {
        const bytes = entry["method"] === "HEAD" ? 0 : 2
        const told = { organisation: "acme", api_key: "key_1", upstream, bytes_out: bytes }
        expect(entry).toMatchObject(told)
      }
    })
  )

  it.effect("names no organisation without a valid token", () =>
    Effect.gen(function* () {
      const path = `${root}/limits/`
      const { entries } = yield* entriesOf([{ path }, { path, headers: { authorization: "x" } }])
      expect(entries).toHaveLength(2)
      for (const entry of entries) {
        expect(entry).toMatchObject({ status: 200 })
        expect(Object.keys(entry)).not.toContain("organisation")
      }
    })
  )
})
