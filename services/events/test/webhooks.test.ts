/** The service delivers to a receiver, on a database. Source: docs/contract/webhooks.md. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Redacted } from "effect"
import { WebhookId } from "@data-import/domain/events/EventLog"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import { stageAll } from "@data-import/domain/testing/importStates"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { Premises } from "@data-import/server/testing/RunningService"
import { serviceWith } from "./eventsService.ts"

interface Event {
  readonly type: string
  readonly data: { readonly external_account_number: string; readonly position: number }
}

/** A receiver that answers with these statuses in turn, and then with 200. */
const receiver = Effect.fnUntraced(function* (...statuses: Array<number>) {
  const got: Array<Event> = []
  const ids: Array<unknown> = []
  const server = createServer((incoming, response) => {
    let body = ""
    incoming.setEncoding("utf8").on("data", (text: string) => (body += text))
    incoming.on("end", () => {
      const status = statuses.shift() ?? 200
      ids.push(incoming.headers["webhook-id"])
      if (status === 200) got.push(JSON.parse(body) as Event)
      response.writeHead(status).end()
    })
  })
  yield* Effect.callback<void>((resume) => {
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
  const { port } = server.address() as AddressInfo
  const until = (count: number) =>
    Effect.repeat(Effect.sleep("20 millis"), { until: () => got.length >= count })
  return { got, ids, until, url: `http://127.0.0.1:${port}/` }
})

const secret = `whsec_${btoa("s".repeat(32))}`

const created = Effect.fnUntraced(function* ({ organisation }: Tenant, url: string) {
  const webhooks = yield* Webhooks
  return yield* webhooks.create({
    id: WebhookId.make(crypto.randomUUID()),
    organisation,
    url,
    suppliers: null,
    names: null,
    allowsPrivate: true,
    createdAt: yield* DateTime.now,
    secret: Redacted.make(secret)
  })
})

const numbersOf = (got: ReadonlyArray<Event>) => got.map(({ data }) => data.external_account_number)

layer(serviceWith({ LOG_LEVEL: "debug" }), { excludeTestServices: true, timeout: "1 minute" })(
  "a webhook",
  (it) => {
    it.effect("gets the events of its organisation, and no others", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const other = yield* freshTenant()
        const { got, until, url } = yield* receiver()
        const theirs = yield* receiver()
        yield* created(tenant, url)
        yield* created(other, theirs.url)
        const numbers = Array.from({ length: 40 }, (_, index) => `n${index}`)
        yield* stageAll(numbers.map(tenant.keyOf), tenant.caller)
        yield* stageAll([other.keyOf("theirs")], other.caller)
        yield* until(40)
        yield* theirs.until(1)
        expect(numbersOf(got).toSorted()).toEqual(numbers.toSorted())
        expect(numbersOf(theirs.got)).toEqual(["theirs"])
      }).pipe(Effect.scoped)
    )

    it.effect("leaves neither its secret nor its URL nor account numbers in the log", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const { log } = yield* Premises
        const { until, url } = yield* receiver(500)
        yield* created(tenant, `${url}hidden-path`)
        yield* stageAll([tenant.keyOf("hidden-number")], tenant.caller)
        yield* until(1)
        const text = log.join("")
        expect(text).not.toContain(secret)
        expect(text).not.toContain("hidden")
      }).pipe(Effect.scoped)
    )
  }
)
