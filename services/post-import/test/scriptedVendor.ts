/**
 * A payment vendor of cards whose answers the reference determines: `pm_1.503.200` is answered with
 * 503 the first time and with 200 from then on, one without statuses always with 200. A reference
 * that contains `inactive` is a card without a customer.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Context, Effect, Layer } from "effect"

export class ScriptedVendor extends Context.Service<
  ScriptedVendor,
  {
    readonly url: string
    /** How often this reference was requested. */
    readonly timesAsked: (reference: string) => number
  }
>()("test/ScriptedVendor") {}

const card = { brand: "canary", last4: "4242", exp_month: 12, exp_year: 2099 }

const respond =
  (asked: Map<string, number>) => (request: IncomingMessage, response: ServerResponse) => {
    const reference = decodeURIComponent(request.url?.split("/").at(-1) ?? "")
    const times = asked.get(reference) ?? 0
    asked.set(reference, times + 1)
    const statuses = reference.split(".").filter((part) => /^\d{3}$/.test(part))
    response.writeHead(Number(statuses[times] ?? statuses.at(-1) ?? 200))
    const customer = reference.includes("inactive") ? null : "cus_canary"
    response.end(JSON.stringify({ id: reference, type: "card", customer, card }))
  }

const listening = (asked: Map<string, number>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = createServer(respond(asked))
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return server
    }),
    (server) =>
      Effect.promise(async () => {
        const closed = new Promise((resolve) => server.close(resolve))
        server.closeAllConnections()
        await closed
      })
  )

export const layer: Layer.Layer<ScriptedVendor> = Layer.effect(
  ScriptedVendor,
  Effect.gen(function* () {
    const asked = new Map<string, number>()
    const { port } = (yield* listening(asked)).address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      timesAsked: (reference: string) => asked.get(reference) ?? 0
    }
  })
)
