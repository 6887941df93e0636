/**
 * Tells users of alerts. All instances of the board share the work. Nothing is sent twice: what an
 * instance has taken is taken by no other, and is tried again only if certainly nothing was sent.
 * Source: docs/contract/board.md#once-for-each-thing.
 */
import { DateTime, Duration, Effect, Option, Redacted } from "effect"
import type { Sent, WebhookSender } from "../events/WebhookSender.ts"
import type { AlertWay } from "./AlertSettings.ts"
import { bodyFor, mailOf, type Message, messageOf } from "./AlertMessages.ts"
import type { Alerts, Attempted, Delivery } from "./Alerts.ts"
import { deliveryWords } from "./DeliveryWords.ts"
import type { Mailer, MessageOutcome } from "./Mailer.ts"

export interface DeliveryDependencies {
  readonly alerts: Alerts["Service"]
  readonly mailer: Mailer["Service"]
  readonly webhooks: WebhookSender["Service"]
  /** Whether webhooks may have private addresses and http. */
  readonly allowsPrivate: boolean
  readonly publicUrl: URL | null
}

/** The pauses after the first, second … attempt, a day in all. */
const pauses = [
  Duration.minutes(1),
  Duration.minutes(5),
  Duration.minutes(15),
  Duration.hours(1),
  Duration.hours(2),
  Duration.hours(4),
  Duration.hours(8),
  Duration.hours(8)
]

/** Errors of a connection that was never made, and statuses of a receiver that took nothing. */
const nothingSent =
  /^(?:[34]\d\d|503|private address|no URL|not https|ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|CERT_.+|ERR_TLS_.+|DEPTH_ZERO_.+|SELF_SIGNED_.+|UNABLE_TO_.+)$/

const outcomeOf = (sent: Sent): MessageOutcome => {
  if (sent._tag === "Delivered") return { _tag: "Sent", answer: "The server has taken it." }
  const error = sent._tag === "Gone" ? "410" : sent.error
  const _tag = nothingSent.test(error) ? "Refused" : "Unknown"
  return { _tag, error, answer: deliveryWords(error) }
}

const noMail: MessageOutcome = {
  _tag: "Refused",
  error: "no e-mail",
  answer: deliveryWords("no e-mail")
}

/** Sends a message to this address once. */
export const sendMessage = Effect.fnUntraced(function* (
  { allowsPrivate, mailer, publicUrl, webhooks }: Omit<DeliveryDependencies, "alerts">,
  way: AlertWay,
  address: Redacted.Redacted,
  message: Message
) {
  const to = Redacted.value(address)
  if (way === "email") {
    return mailer.send === null ? noMail : yield* mailer.send(mailOf(message, to, publicUrl))
  }
  const at = yield* DateTime.now
  const id = crypto.randomUUID()
  const body = bodyFor(to, message)
  return outcomeOf(yield* webhooks.send({ url: to, allowsPrivate, id, at, body, secrets: [] }))
})

const attemptedOf = (
  { attempts, id }: Delivery["alerts"][number],
  outcome: MessageOutcome,
  at: DateTime.Utc
): Attempted => {
  const pause = pauses[attempts]
  const again = outcome._tag === "Refused" && pause !== undefined
  return {
    id,
    dueAt: again ? DateTime.addDuration(at, pause) : null,
    error: outcome._tag === "Sent" ? null : outcome.error,
    isKnown: outcome._tag !== "Unknown"
  }
}

/** Sends one message. False if there was none to send. */
export const deliverOnce = Effect.fnUntraced(function* (deps: DeliveryDependencies) {
  const taken = yield* deps.alerts.claim(yield* DateTime.now)
  if (Option.isNone(taken)) return false
  const delivery = taken.value
  const { address, alerts, way } = delivery
  const message = messageOf(alerts, deps.publicUrl)
  const outcome = yield* sendMessage(deps, way, address, message)
  if (outcome._tag !== "Sent") {
    yield* Effect.logWarning("an alert was not sent").pipe(
      Effect.annotateLogs({ way, error: outcome.error, is_known: outcome._tag === "Refused" })
    )
  }
  const at = yield* DateTime.now
  const attempted = alerts.map((alert) => attemptedOf(alert, outcome, at))
  yield* deps.alerts.conclude({ delivery, attempted, at })
  return true
})
