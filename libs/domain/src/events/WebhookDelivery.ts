/**
 * Delivers events to webhooks: takes a webhook that has something to deliver, sends, and stores the
 * progress. Any number of instances share the webhooks. If an instance dies, what it has sent is
 * sent again. An organisation has at most half of the slots of an instance while another has
 * something to deliver, and slow receivers come last.
 * Source: docs/contract/webhooks.md#delivery.
 */
import { DateTime, Duration, Effect, Option, Semaphore } from "effect"
import { EventBody, bodyOf } from "./EventBody.ts"
import type { EventLog, LoggedEvent } from "./EventLog.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { mostRetries, type Progress, type Session, type Webhooks } from "./Webhooks.ts"
import type { WebhookSender } from "./WebhookSender.ts"
import { encoderOf } from "../schema/Encoder.ts"
import { formatInstant } from "../schema/Field.ts"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import * as RequestFacts from "../requests/RequestFacts.ts"
import { every } from "../support/Every.ts"
import { Shares } from "../support/Shares.ts"
import { countSent, report } from "./WebhookMetrics.ts"
import { type GroupResult, type Item, longestSession, settle, workOf } from "./Delivery.ts"

export interface WebhookDelivery {
  /** Delivers to one webhook. False if there was nothing to deliver. */
  readonly deliverOnce: Effect.Effect<boolean, StorageUnavailable>
  /** Delivers until it is interrupted. */
  readonly run: Effect.Effect<never>
}

interface Dependencies {
  readonly log: EventLog["Service"]
  readonly sender: WebhookSender["Service"]
  readonly webhooks: Webhooks["Service"]
}

/** How long after the last renewal another instance takes over. */
const lease = Duration.seconds(12)
const renewEvery = Duration.seconds(4)

/** The pause before it looks for something to deliver again. */
const idlePause = Duration.millis(250)

/** New events per session; fewer for a receiver that failed before. */
const eventsAtOnce = 100
const eventsOfProbe = 8

/** How many subjects are delivered at the same time. */
const concurrency = 16

const errorMessage = "the delivery of webhooks met an error"

/** How many webhooks an instance delivers to at the same time. */
const slots = 8

const encode = encoderOf(EventBody)

const textOf = (event: LoggedEvent): string =>
  JSON.stringify({
    type: event.name,
    timestamp: formatInstant(event.at),
    data: encode(bodyOf(event))
  })

interface Page {
  readonly events: ReadonlyArray<LoggedEvent>
  readonly reached: Pick<Progress, "cursor" | "replay">
}

/** The next new events: those of a replay first. */
const pageOf = Effect.fnUntraced(function* ({ log }: Dependencies, session: Session) {
  const { cursor, failures, organisation, replay } = session.webhook
  const here: Page = { events: [], reached: { cursor, replay } }
  if (session.retries.length >= mostRetries) return here
  const limit = failures > 0 ? eventsOfProbe : eventsAtOnce
  const after = replay === null ? cursor : replay.next - 1
  const found = yield* log.read({ organisation, after, limit, supplier: null, name: null })
  const reachedAt = (position: number): Page["reached"] => {
    if (replay === null) return { cursor: position, replay }
    return { cursor, replay: position < replay.to ? { ...replay, next: position + 1 } : null }
  }
  switch (found._tag) {
    case "Page": {
      const isWanted = ({ position }: LoggedEvent) => replay === null || position <= replay.to
      // A replay of events that do not exist yet ends with the newest one.
      const reached =
        found.events.length === 0 ? { cursor, replay: null } : reachedAt(found.nextAfter)
      return { events: found.events.filter(isWanted), reached }
    }
    case "Pruned":
      return { events: [], reached: reachedAt(found.oldestAfter) }
    case "Unknown":
      return { events: [], reached: { cursor, replay: null } }
  }
})

/**
 * Sends the events of a subject one after the other, up to the first that is not received, or until
 * the session ends.
 */
const sendGroup = Effect.fnUntraced(function* (
  { sender }: Dependencies,
  { secrets, webhook }: Session,
  group: ReadonlyArray<Item>,
  until: DateTime.Utc
) {
  const { allowsPrivate, url } = webhook
  let delivered = 0
  for (const { event } of group) {
    const at = yield* DateTime.now
    if (DateTime.isGreaterThanOrEqualTo(at, until)) {
      return { group: group.slice(0, delivered), delivered, failure: null }
    }
    const message = { url, allowsPrivate, id: event.id, at, body: textOf(event), secrets }
    const sent = yield* sender.send(message)
    yield* countSent(sent)
    if (sent._tag !== "Delivered") return { group, delivered, failure: sent }
    delivered += 1
  }
  return { group, delivered, failure: null } satisfies GroupResult
})

const deliver = Effect.fnUntraced(function* (deps: Dependencies, session: Session) {
  const { events, reached } = yield* pageOf(deps, session)
  const begunAt = yield* DateTime.now
  const until = DateTime.addDuration(begunAt, longestSession)
  const { blocked, groups } = workOf(session, events, begunAt)
  const sent = yield* Effect.forEach(groups, (group) => sendGroup(deps, session, group, until), {
    concurrency
  })
  const results = sent.filter(({ group }) => group.length > 0)
  const at = yield* DateTime.now
  const settled = settle(session, reached, { begunAt, blocked, groups, results }, at)
  const wasReplaying = session.webhook.replay !== null
  yield* deps.webhooks.finish({ lease: session.lease, at, wasReplaying, ...settled })
})

/** Ends the lease without a result, so that another instance need not wait for its expiry. */
const released = ({ webhooks }: Dependencies, { lease: token, webhook }: Session) =>
  Effect.flatMap(DateTime.now, (at) =>
    webhooks.finish({
      lease: token,
      at,
      progress: webhook,
      wasReplaying: webhook.replay !== null,
      ended: [],
      retries: []
    })
  )

/** Ends as soon as the lease is lost. A short outage of storage does not end it. */
const whileLeased = ({ webhooks }: Dependencies, token: string) =>
  Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(renewEvery)
      const at = yield* DateTime.now
      const until = DateTime.addDuration(at, lease)
      const renewal = webhooks.renew({ lease: token, at, until })
      if (!(yield* Effect.orElseSucceed(renewal, () => true))) return
    }
  })

export const makeWebhookDelivery = (deps: Dependencies): WebhookDelivery => {
  const shares = new Shares<OrganisationName>(slots)
  const oneTake = Semaphore.makeUnsafe(1)
  let last: OrganisationName | null = null

  /** Takes in turn; organisations that have half of the slots come after all others. */
  const takeInTurn = Effect.gen(function* () {
    const at = yield* DateTime.now
    const until = DateTime.addDuration(at, lease)
    const taken = yield* deps.webhooks.take({ last, busy: shares.busy, at, until })
    if (Option.isNone(taken)) return taken
    const { organisation } = taken.value.webhook
    last = organisation
    shares.take(organisation)
    yield* Effect.addFinalizer(() => Effect.sync(() => shares.release(organisation)))
    return taken
  })

  const deliverOnce = Effect.gen(function* () {
    const taken = yield* oneTake.withPermit(takeInTurn)
    if (Option.isNone(taken)) return false
    const session = taken.value
    yield* Effect.raceFirst(deliver(deps, session), whileLeased(deps, session.lease)).pipe(
      Effect.onInterrupt(() => Effect.ignore(released(deps, session))),
      RequestFacts.onBehalfOf(session.webhook.organisation)
    )
    return true
  }).pipe(Effect.scoped)
  const whileSome = Effect.repeat(deliverOnce, { while: (delivered) => delivered })
  const slot = every(idlePause, errorMessage, whileSome)
  const reporting = every(Duration.seconds(10), errorMessage, report(deps.webhooks))
  const run = Effect.all([reporting, ...Array.from({ length: slots }, () => slot)], {
    concurrency: "unbounded",
    discard: true
  }).pipe(Effect.andThen(Effect.never))
  return { deliverOnce, run }
}
