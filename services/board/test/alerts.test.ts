/** The whole service tells a user by a real SMTP server and a real webhook. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { pathOf } from "@data-import/domain/alerts/Alert"
import { Alerts } from "@data-import/domain/alerts/Alerts"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import { Premises } from "@data-import/server/testing/RunningService"
import { expect, it } from "@effect/vitest"
import { DateTime, Effect, Schedule } from "effect"
import { pageAt } from "../web/src/routing/Paths.ts"
import { tokenOf } from "./BoardEndpoints.ts"
import { browserOf, serviceWith, viewer } from "./boardService.ts"
import { smtpServer, trustSmtpServer } from "./smtpServer.ts"

/** A webhook that reads what it gets. */
const chat = Effect.gen(function* () {
  const got: Array<string> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (part: string) => (body += part))
    request.on("end", () => {
      got.push(body)
      response.end("ok")
    })
  })
  yield* Effect.callback<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => void server.close()))
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-path` }
})

const path = "/board/api/alerts/"

it.live("a viewer is told by the running service, and no log has where", () =>
  Effect.gen(function* () {
    yield* trustSmtpServer
    const { port, received } = yield* smtpServer()
    const { got, url } = yield* chat
    const settings = {
      BOARD_PUBLIC_URL: "https://board.example",
      BOARD_SMTP_URL: `smtp://board:p%40ss@localhost:${port}`,
      BOARD_SMTP_FROM: "alerts@example.com",
      BOARD_WEBHOOKS_PRIVATE: "true"
    }
    yield* Effect.gen(function* () {
      const { supplier } = yield* freshSupplier
      const one = yield* browserOf({ ...viewer, organisations: [supplier.organisation] })
      const token = { "x-csrf-token": "x" }
      const chosen = { kinds: ["wave_finished"], failing_share: 5, import_suppliers: null }
      const body = JSON.stringify({ ...chosen, email: "mia@example.com", webhook: url })
      expect((yield* one.post(path, token, body)).status).toBe(403)
      const headers = yield* tokenOf(one)
      const saved = yield* one.post(path, headers, body)
      expect([saved.status, saved.text.includes("secret-path")]).toEqual([200, false])
      const happenedAt = DateTime.add(yield* DateTime.now, { seconds: 1 })
      const told = { kind: "wave_finished", supplier: supplier.code, what: "wave 1" } as const
      const found = [{ ...told, reason: "All is done.", happenedAt }]
      yield* (yield* Alerts).raise({ found, at: happenedAt })
      const hasBoth = Effect.sync(() => received.length > 0 && got.length > 0)
      yield* Effect.repeat(hasBoth, { until: (both) => both, schedule: Schedule.spaced(50) })
      expect(received).toMatchObject([{ to: ["mia@example.com"], user: "board", isSecure: true }])
      const page = new URL(pathOf({ ...told, reason: "" }), settings.BOARD_PUBLIC_URL)
      expect(pageAt(page.pathname)).toEqual({ name: "wave", supplier: supplier.code })
      const text = `${supplier.code}: wave 1 is finished.\nAll is done.\n${page.href}`
      expect(got.map((each) => JSON.parse(each) as unknown)).toEqual([{ text }])
      const again = JSON.parse((yield* one.get(path)).text) as { readonly told: unknown }
      expect(again.told).toMatchObject([{ state: "SENT" }, { state: "SENT" }])
      expect((yield* Premises).log.join("")).not.toMatch(/secret-path|mia@example|p%40ss|p@ss/)
    }).pipe(Effect.provide(serviceWith(settings)))
  })
)
