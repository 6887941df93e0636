/** A receiver of webhooks that sometimes fails, and keeps what it has received, in order. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { RandomSource } from "@data-import/testbed/RandomSource"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { WebhookId } from "@data-import/domain/events/EventLog"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import { Database } from "@data-import/postgres/connection/Database"
import * as WebhookAdapter from "@data-import/postgres/events/Webhooks"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"

/** The content of a request. */
export interface Received {
  readonly id: string
  readonly position: number
  readonly account: string
}

interface Body {
  readonly data: { readonly position: number; readonly external_account_number: string }
}

/** How many of a thousand requests are not answered with 200. */
const failures = 1

/** Listens until the scope ends. */
export const make = Effect.fnUntraced(function* (random: RandomSource) {
  const received: Array<Received> = []
  const server = createServer((incoming, response) => {
    let text = ""
    incoming.setEncoding("utf8").on("data", (part: string) => (text += part))
    incoming.on("end", () => {
      if (random.below(1_000) < failures) return void response.writeHead(500).end()
      const { data } = JSON.parse(text) as Body
      const id = String(incoming.headers["webhook-id"])
      received.push({ id, position: data.position, account: data.external_account_number })
      response.writeHead(200).end()
    })
  })
  yield* Effect.callback<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      server.closeAllConnections()
      server.close()
    })
  )
  const { port } = server.address() as AddressInfo
  return { received, url: `http://127.0.0.1:${port}/` }
})

/** Sends all events of the tenant to the address. Returns how to look at the webhook later. */
export const register = Effect.fnUntraced(function* ({ organisation }: Tenant, url: string) {
  const { database } = yield* System
  const onDatabase = WebhookAdapter.layer.pipe(Layer.provide(Layer.succeed(Database, database)))
  const webhooks = yield* Effect.provide(Webhooks, onDatabase)
  const id = WebhookId.make(crypto.randomUUID())
  yield* webhooks.create({
    id,
    organisation,
    url,
    suppliers: null,
    names: null,
    allowsPrivate: true,
    createdAt: yield* DateTime.now,
    secret: Redacted.make(`whsec_${btoa("s".repeat(32))}`)
  })
  return webhooks.find(id)
})
