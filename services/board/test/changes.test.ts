/** The stream of changes over HTTP. Source: docs/contract/board.md#changes. */
import { request } from "node:http"
import { expect, it as single, layer } from "@effect/vitest"
import { Context, DateTime, Effect, Exit, Layer, Option, Scope } from "effect"
import { BoardAccess } from "@data-import/domain/access/BoardAccess"
import { BoardSessions } from "@data-import/domain/access/BoardSessions"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { freshSupplier, noon, supplierOf } from "@data-import/domain/testing/freshNames"
import { stageAll } from "@data-import/domain/testing/importStates"
import { Listening } from "@data-import/server/lifecycle/Service"
import { TokenSecrets } from "@data-import/domain/access/TokenSigner"
import { away } from "@data-import/postgres/testing/DatabaseProxy"
import { Premises, until } from "@data-import/server/testing/RunningService"
import { ofSuppliers } from "./BoardEndpoints.ts"
import {
  type Browser,
  browser,
  browserOf,
  codeOf,
  serviceBehindProxy,
  serviceWith,
  sessionOf,
  viewer
} from "./boardService.ts"

const path = "/board/api/changes/"

/** A stream that ends with the test's scope, with all text received so far. */
const streamOf = Effect.fnUntraced(function* (one: Browser) {
  const { url } = yield* Listening
  const { hostname, port } = new URL(url)
  const heard = { status: 0, contentType: "", text: "", ended: false }
  const headers = { cookie: `board=${one.cookies.get("board") ?? ""}` }
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const asked = request({ hostname, port, path, headers }, (message) => {
        heard.status = message.statusCode ?? 0
        heard.contentType = message.headers["content-type"] ?? ""
        message.setEncoding("utf8").on("data", (text: string) => (heard.text += text))
        message.once("end", () => (heard.ended = true)).once("error", () => {})
      })
      asked.once("error", () => {})
      asked.end()
      return asked
    }),
    (asked) => Effect.sync(() => void asked.destroy())
  )
  return heard
})

type Heard = Effect.Success<ReturnType<typeof streamOf>>

const untilHeard = (heard: Heard, holds: (heard: Heard) => boolean) =>
  until(
    Effect.sync(() => heard),
    holds
  )

/** Stages an import of the supplier, and counts it. */
const change = Effect.fnUntraced(function* ({
  caller,
  keyOf
}: Effect.Success<typeof freshSupplier>) {
  yield* stageAll([keyOf(crypto.randomUUID())], caller)
  yield* (yield* SupplierSummaries).fold({ limit: 1_000, at: noon })
})

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })("the stream", (it) => {
  it.effect("reports the suppliers that the user may see, and no others", () =>
    Effect.gen(function* () {
      const [mine, rival] = [yield* freshSupplier, yield* freshSupplier]
      const organisations = [mine.supplier.organisation]
      const all = yield* streamOf(yield* browserOf(viewer))
      yield* untilHeard(all, ({ text }) => text.startsWith(":\n\n"))
      const sibling = supplierOf(mine.supplier.organisation)
      yield* (yield* Configuration).createSupplier(sibling)
      yield* untilHeard(all, ({ text }) => text.includes(sibling.code))
      const own = yield* streamOf(yield* browserOf({ ...viewer, organisations }))
      const keyOf = (number: string) => ({
        ...mine.keyOf(number),
        import_supplier: sibling.code
      })
      const ofSupplier = yield* streamOf(yield* browserOf(ofSuppliers(sibling.code)))
      yield* untilHeard(ofSupplier, ({ text }) => text.startsWith(":\n\n"))
      yield* untilHeard(own, ({ text }) => text.startsWith(":\n\n"))
      expect(own).toMatchObject({ status: 200, contentType: "text/event-stream" })
      yield* change(rival)
      yield* untilHeard(all, ({ text }) => text.includes(rival.supplier.code))
      yield* change(mine)
      yield* untilHeard(own, ({ text }) => text.includes(mine.supplier.code))
      const data = JSON.stringify({ import_suppliers: [mine.supplier.code] })
      expect(own.text).toBe(`:\n\nevent: changed\ndata: ${data}\n\n`)
      yield* change({ ...mine, supplier: sibling, keyOf })
      yield* untilHeard(ofSupplier, ({ text }) => text.includes(sibling.code))
      expect(ofSupplier.text).not.toContain(mine.supplier.code)
    })
  )

  it.effect("ends with the session", () =>
    Effect.gen(function* () {
      const one = yield* browserOf(viewer)
      const { end, open } = yield* BoardAccess
      const heard = yield* streamOf(one)
      yield* untilHeard(heard, ({ text }) => text !== "")
      const found = yield* open(one.cookies.get("board") ?? "", false)
      if (found._tag === "Some") yield* end(found.value.hash)
      yield* untilHeard(heard, ({ ended }) => ended)
      expect(heard.text).toBe(":\n\n")
    })
  )

  it.effect("ends at once when its user signs out, long before the next check", () =>
    Effect.gen(function* () {
      const one = yield* browserOf(viewer)
      const heard = yield* streamOf(one)
      yield* untilHeard(heard, ({ text }) => text !== "")
      const { csrf_token } = yield* sessionOf(one)
      const left = yield* one.post("/board/api/sign-out/", { "x-csrf-token": csrf_token })
      expect(left.status).toBe(200)
      yield* untilHeard(heard, ({ ended }) => ended).pipe(Effect.timeout("10 seconds"))
    })
  )

  it.effect("does not renew the session", () =>
    Effect.gen(function* () {
      const sessions = yield* BoardSessions
      const { hash } = yield* TokenSecrets
      const one = yield* browserOf(viewer)
      const id = yield* hash(one.cookies.get("board") ?? "")
      const begun = Option.getOrThrow(yield* sessions.find(id))
      yield* sessions.end(id)
      const lastSeenAt = DateTime.subtract(begun.lastSeenAt, { minutes: 20 })
      yield* sessions.create(id, { ...begun, createdAt: lastSeenAt, lastSeenAt })
      const heard = yield* streamOf(one)
      yield* untilHeard(heard, ({ text }) => text !== "")
      expect(Option.getOrThrow(yield* sessions.find(id)).lastSeenAt).toEqual(lastSeenAt)
      yield* one.get("/board/api/session/")
      expect(Option.getOrThrow(yield* sessions.find(id)).lastSeenAt).not.toEqual(lastSeenAt)
    })
  )

  it.effect("answers 401 without a session", () =>
    Effect.gen(function* () {
      const refused = yield* (yield* browser).get(path)
      expect([refused.status, codeOf(refused)]).toEqual([401, "not_authenticated"])
    })
  )
})

layer(serviceBehindProxy, { excludeTestServices: true, timeout: "1 minute" })("a stream", (it) => {
  it.effect("ends when the session cannot be checked", () =>
    Effect.gen(function* () {
      const { log } = yield* Premises
      const heard = yield* streamOf(yield* browserOf(viewer))
      yield* untilHeard(heard, ({ text }) => text !== "")
      yield* away(untilHeard(heard, ({ ended }) => ended))
      expect(log.join("")).not.toContain("defect")
    })
  )
})

layer(serviceWith({ MAX_REQUESTS_WAITING: "2" }), {
  excludeTestServices: true,
  timeout: "1 minute"
})("the streams of one user", (it) => {
  it.effect("take at most half of the places, in all sessions together", () =>
    Effect.gen(function* () {
      const one = yield* browserOf(viewer)
      const first = yield* streamOf(one)
      yield* untilHeard(first, ({ text }) => text !== "")
      for (const each of [one, yield* browserOf(viewer)]) {
        const refused = yield* each.get(path)
        expect([refused.status, codeOf(refused)]).toEqual([503, "service_unavailable"])
      }
      const other = yield* streamOf(yield* browserOf({ ...viewer, subject: "sub|other" }))
      yield* untilHeard(other, ({ text }) => text !== "")
    })
  )
})

single.live("streams end when the service stops, so that browsers reconnect", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const service = yield* Layer.buildWithScope(Layer.fresh(serviceWith({})), scope)
    const heard = yield* Effect.provideContext(
      Effect.flatMap(browserOf(viewer), streamOf),
      Context.merge(yield* Effect.context<Scope.Scope>(), service)
    )
    yield* untilHeard(heard, ({ text }) => text !== "")
    yield* Scope.close(scope, Exit.void)
    yield* untilHeard(heard, ({ ended }) => ended)
    expect(heard.text).toBe(":\n\n")
  })
)
