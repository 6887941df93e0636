/**
 * A payment vendor that answers about cards as the reference says: `pm_1.503.200` is answered with
 * 503 when it is asked for the first time and with 200 from then on, and any other reference always
 * with 200.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Context, Effect, Layer } from "effect"

export class ScriptedVendor extends Context.Service<
  ScriptedVendor,
  {
    readonly url: string
    /** How often it was asked for this reference. */
    readonly timesAsked: (reference: string) => number
  }
>()("test/ScriptedVendor") {}

const card = { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2099 }

const respond =
  (asked: Map<string, number>) => (request: IncomingMessage, response: ServerResponse) => {
    const reference = decodeURIComponent(request.url?.split("/").at(-1) ?? "")
    const times = asked.get(reference) ?? 0
    asked.set(reference, times + 1)
    const statuses = reference.split(".").slice(1).map(Number)
    response.writeHead(statuses[times] ?? statuses.at(-1) ?? 200)
    response.end(JSON.stringify({ id: reference, type: "card", customer: "cus_canary", card }))
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
