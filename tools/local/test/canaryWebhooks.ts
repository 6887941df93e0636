/**
 * Webhooks whose addresses contain a secret, and receivers that answer in every way and leak data.
 * The requests to them are recorded.
 */
import { DateTime, Effect, Redacted } from "effect"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import { WebhookId } from "@data-import/domain/events/EventLog"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import { secretCanary } from "./Canaries.ts"
import { collected, serverOf } from "./wholeSystem.ts"

const answers: Readonly<
  Record<string, readonly [status: number, headers: Record<string, string>]>
> = {
  receives: [200, {}],
  breaks: [500, { "x-failure": secretCanary("webhook-header") }],
  leaves: [410, {}],
  redirects: [302, { location: `http://127.0.0.1/${secretCanary("location")}` }]
}

const told = JSON.stringify({ message: "zqpersonal", key: secretCanary("webhook-answer") })

const secretOf = (name: string) => `whsec_${btoa(secretCanary(name).padEnd(32, "x"))}`

/** Sends the events of the organisation to one receiver of each kind, and to an address of none. */
export const makeWebhooks = Effect.fnUntraced(function* (organisation: OrganisationName) {
  const webhooks = yield* Webhooks
  const received: Array<string> = []
  const address = yield* serverOf((incoming, response) => {
    const kind = Object.keys(answers).find((name) => incoming.url?.startsWith(`/${name}/`))
    const [status, headers] = answers[kind ?? "breaks"] ?? [500, {}]
    void collected(incoming).then((body) => {
      if (kind === "receives") received.push(body)
      response.writeHead(status, headers).end(told)
    })
  })
  const kinds = [...Object.keys(answers), "private", "nowhere"]
  for (const kind of kinds) {
    const base = kind === "nowhere" ? "http://127.0.0.1:1" : address
    yield* webhooks.create({
      id: WebhookId.make(crypto.randomUUID()),
      organisation,
      url: `${base}/${kind}/${secretCanary("url")}?token=${secretCanary("query")}`,
      suppliers: null,
      names: null,
      allowsPrivate: kind !== "private",
      createdAt: yield* DateTime.now,
      secret: Redacted.make(secretOf(kind))
    })
  }
  return { received, secrets: kinds.map(secretOf) }
})
