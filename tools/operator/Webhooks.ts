/**
 * Commands about webhooks. A secret is printed once, when it is made, and never again.
 * Source: docs/contract/webhooks.md#commands.
 */
import { randomBytes } from "node:crypto"
import { modeOf, type Organisation } from "@data-import/domain/suppliers/Organisation"
import { codeIn, type WireCode, wireCode } from "@data-import/domain/suppliers/Supplier"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { WebhookId } from "@data-import/domain/events/EventLog"
import { type Replaying, type Webhook, Webhooks } from "@data-import/domain/events/Webhooks"
import { formatInstant } from "@data-import/domain/schema/Field"
import { addressIn, isPublic } from "@data-import/webhooks/Addresses"
import { DateTime, Duration, Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { list, say } from "@data-import/terminal/Answer"
import { noSupplier, organisationMeant, Test } from "./Mode.ts"
import {
  asEventId,
  asEventNames,
  asLifetime,
  asOrganisation,
  asPosition,
  asSupplierCodes,
  asWebhookId,
  asWebhookUrl
} from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const id = Argument.String("webhook-id").pipe(
  Argument.withDescription("The id of the webhook, as webhook list prints it"),
  asWebhookId
)

/** 256 bits, as Standard Webhooks writes them. */
const newSecret = Effect.sync(() => Redacted.make(`whsec_${randomBytes(32).toString("base64")}`))

const unknown = (webhook: WebhookId) => new Refused({ why: `There is no webhook ${webhook}.` })

const checkUrl = (url: URL, allowsPrivate: boolean) => {
  if (allowsPrivate) return Effect.void
  const hint = "--allow-private allows it."
  if (url.protocol !== "https:") {
    return Effect.fail(new Refused({ why: `The URL is not https. ${hint}` }))
  }
  const address = addressIn(url)
  return address === undefined || isPublic(address)
    ? Effect.void
    : Effect.fail(new Refused({ why: `The address ${address} is not public. ${hint}` }))
}

const ownSuppliers = Effect.fnUntraced(function* (
  organisation: Organisation,
  codes: ReadonlyArray<WireCode>
) {
  const configuration = yield* Configuration
  const suppliers = codes.map((code) => codeIn(modeOf(organisation), code))
  for (const code of suppliers) {
    const supplier = yield* configuration.supplier(code)
    const isOwn = Option.exists(supplier, (found) => found.organisation === organisation.name)
    if (!isOwn) return yield* noSupplier(code)
  }
  return suppliers
})

const create = Command.make(
  "create",
  {
    organisation: Argument.String("organisation").pipe(
      Argument.withDescription("The name of the organisation"),
      asOrganisation
    ),
    url: Argument.String("url").pipe(
      Argument.withDescription("Where the events are sent"),
      asWebhookUrl
    ),
    suppliers: Flag.String("supplier").pipe(
      Flag.withDescription("Only events of these suppliers, separated by commas"),
      asSupplierCodes,
      Flag.optional
    ),
    names: Flag.String("event").pipe(
      Flag.withDescription("Only events of these names, separated by commas"),
      asEventNames,
      Flag.optional
    ),
    allowsPrivate: Flag.Boolean("allow-private").pipe(
      Flag.withDescription("The address may be private, and http"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ allowsPrivate, names, organisation, suppliers, url }) {
    yield* checkUrl(url, allowsPrivate)
    const owner = yield* organisationMeant(organisation)
    const own = yield* ownSuppliers(
      owner,
      Option.getOrElse(suppliers, () => [])
    )
    const webhooks = yield* Webhooks
    const secret = yield* newSecret
    const webhook = yield* webhooks.create({
      id: WebhookId.make(crypto.randomUUID()),
      organisation: owner.name,
      url: url.href,
      suppliers: Option.isSome(suppliers) ? own : null,
      names: Option.getOrNull(names),
      allowsPrivate,
      createdAt: yield* DateTime.now,
      secret
    })
    yield* say(
      { id: webhook.id, secret: Redacted.value(secret) },
      `Created the webhook ${webhook.id}. Its secret is shown this once:\n${Redacted.value(secret)}`
    )
  }, onStorage)
).pipe(
  Command.withDescription("Send the events of an organisation to a URL, from now on"),
  Command.withExamples([
    {
      command: "operator webhook create acme https://acme.example/hooks --supplier ACME_LEGACY",
      description: "Send the events of one supplier"
    }
  ])
)

const members = [
  "id",
  "organisation",
  "url",
  "suppliers",
  "events",
  "allow_private",
  "state",
  "delivered_through",
  "failures",
  "last_error",
  "last_success_at",
  "next_try_at"
]

const entry = (webhook: Webhook) => ({
  id: webhook.id,
  organisation: webhook.organisation,
  url: webhook.url,
  suppliers: webhook.suppliers === null ? null : webhook.suppliers.map(wireCode),
  events: webhook.names === null ? null : [...webhook.names],
  allow_private: webhook.allowsPrivate,
  state: webhook.disabledBy === null ? "ACTIVE" : `DISABLED_BY_${webhook.disabledBy}`,
  delivered_through: webhook.cursor,
  failures: webhook.failures,
  last_error: webhook.lastError,
  last_success_at: webhook.lastSuccessAt === null ? null : formatInstant(webhook.lastSuccessAt),
  next_try_at: webhook.failures === 0 ? null : formatInstant(webhook.dueAt)
})

const listAll = Command.make(
  "list",
  {
    organisation: Flag.String("organisation").pipe(
      Flag.withDescription("Only webhooks of this organisation"),
      asOrganisation,
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ organisation }) {
    const webhooks = yield* Webhooks
    const name = Option.getOrNull(organisation)
    const isMeant = name !== null && (yield* Test)
    const found = yield* webhooks.list(isMeant ? (yield* organisationMeant(name)).name : name)
    yield* list(members, found.map(entry))
  }, onStorage)
).pipe(
  Command.withDescription("List webhooks and how far each has come, without secrets"),
  Command.withExamples([
    {
      command: "operator webhook list --organisation acme",
      description: "List the webhooks of acme"
    }
  ])
)

const test = Command.make(
  "test",
  { id },
  Effect.fnUntraced(function* ({ id }) {
    const webhooks = yield* Webhooks
    if (!(yield* webhooks.test({ id, at: yield* DateTime.now }))) return yield* unknown(id)
    yield* say({ id }, `A test event for ${id} is on its way; webhook list says how it went.`)
  }, onStorage)
).pipe(
  Command.withDescription("Send a test event to one webhook"),
  Command.withExamples([
    {
      command: "operator webhook test 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10",
      description: "See whether it arrives"
    }
  ])
)

const rotate = Command.make(
  "rotate",
  {
    id,
    overlap: Flag.String("old-valid-for").pipe(
      Flag.withDescription("How long events are signed with the old secret, too; 24h if not given"),
      asLifetime,
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ id, overlap }) {
    const webhooks = yield* Webhooks
    const at = yield* DateTime.now
    const lasting = Option.getOrElse(overlap, () => Duration.hours(24))
    const secret = yield* newSecret
    const oldUntil = DateTime.addDuration(at, lasting)
    if (!(yield* webhooks.rotate({ id, secret, at, oldUntil }))) return yield* unknown(id)
    yield* say(
      { id, secret: Redacted.value(secret), old_valid_until: formatInstant(oldUntil) },
      `The old secret is valid until ${formatInstant(oldUntil)}. ` +
        `The new one is shown this once:\n${Redacted.value(secret)}`
    )
  }, onStorage)
).pipe(
  Command.withDescription("Give a webhook a new secret; the old one stays valid for a time"),
  Command.withExamples([
    {
      command: "operator webhook rotate 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10 --old-valid-for 48h",
      description: "Leave two days to change the secret"
    }
  ])
)

const outcomes = {
  NotFound: (webhook: WebhookId) => `There is no webhook ${webhook}.`,
  Running: () => "A replay of this webhook is running; wait until it has ended.",
  UnknownEvent: () => "There is no such event of the webhook's organisation."
} satisfies Record<Exclude<Replaying, "Started">, (webhook: WebhookId) => string>

const replay = Command.make(
  "replay",
  {
    id,
    event: Flag.String("event").pipe(
      Flag.withDescription("The event_id of the event"),
      asEventId,
      Flag.optional
    ),
    from: Flag.String("from").pipe(
      Flag.withDescription("The first position"),
      asPosition,
      Flag.optional
    ),
    to: Flag.String("to").pipe(Flag.withDescription("The last position"), asPosition, Flag.optional)
  },
  Effect.fnUntraced(function* ({ event, from, id, to }) {
    const range = Option.all({ next: from, to })
    const isRange = Option.isSome(range) && Option.isNone(event)
    const isEvent = Option.isSome(event) && Option.isNone(from) && Option.isNone(to)
    if (!isRange && !isEvent) {
      return yield* new Refused({ why: "Give either --event, or --from and --to." })
    }
    if (isRange && range.value.next > range.value.to) {
      return yield* new Refused({ why: "--from is after --to." })
    }
    const webhooks = yield* Webhooks
    const events = isRange ? range.value : Option.getOrThrow(event)
    const outcome = yield* webhooks.replay({ id, events })
    if (outcome !== "Started") return yield* new Refused({ why: outcomes[outcome](id) })
    yield* say({ id }, `The events go to ${id} again, before all others.`)
  }, onStorage)
).pipe(
  Command.withDescription("Deliver an event, or a range of positions, again"),
  Command.withExamples([
    {
      command: "operator webhook replay 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10 --from 100 --to 200",
      description: "Deliver what a receiver has lost"
    }
  ])
)

/** A command that switches a webhook. */
const switching = (
  name: "disable" | "enable",
  description: string,
  said: string,
  run: (
    webhooks: Webhooks["Service"],
    id: WebhookId,
    at: DateTime.Utc
  ) => ReturnType<Webhooks["Service"]["disable"]>
) =>
  Command.make(
    name,
    { id },
    Effect.fnUntraced(function* ({ id }) {
      const done = yield* run(yield* Webhooks, id, yield* DateTime.now)
      if (!done) return yield* unknown(id)
      yield* say({ id }, `The webhook ${id} ${said}`)
    }, onStorage)
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([
      {
        command: `operator webhook ${name} 0198c3e2-7d1e-4c41-9d0a-2f6f6c1f6a10`,
        description: "By the id of the webhook"
      }
    ])
  )

const disable = switching(
  "disable",
  "Send nothing more to a webhook",
  "gets nothing more.",
  (webhooks, webhook) => webhooks.disable(webhook)
)

const enable = switching(
  "enable",
  "Go on where a webhook was disabled",
  "goes on where it was.",
  (webhooks, webhook, at) => webhooks.enable({ id: webhook, at })
)

export const webhook = Command.make("webhook").pipe(
  Command.withDescription("Webhooks"),
  Command.withSubcommands([create, listAll, test, replay, rotate, disable, enable])
)
