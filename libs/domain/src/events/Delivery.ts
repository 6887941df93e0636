/**
 * The decisions of a delivery: which events a webhook gets, in which order, and what happens after
 * failures. Events of one account are delivered in order: after a failed one, the others wait.
 * Source: docs/contract/webhooks.md#delivery.
 */
import { DateTime, Duration } from "effect"
import type { LoggedEvent } from "./EventLog.ts"
import type { Progress, Retry, Session, StoredRetry, Webhook } from "./Webhooks.ts"
import type { Sent } from "./WebhookSender.ts"

/** The pauses after the first, second … failure. Source: Standard Webhooks, Deliverability. */
const pauses = [
  Duration.seconds(5),
  Duration.minutes(5),
  Duration.minutes(30),
  Duration.hours(2),
  Duration.hours(5),
  Duration.hours(10),
  Duration.hours(14),
  Duration.hours(20),
  Duration.hours(24)
]

/** When to try again after this many failures; null to give up. */
const nextTry = (failures: number, at: DateTime.Utc): DateTime.Utc | null => {
  const pause = pauses[failures - 1]
  return pause === undefined ? null : DateTime.addDuration(at, pause)
}

/** If this many subjects are tried and nothing is received, the receiver counts as unavailable. */
const subjectsOfOutage = 3

/** The key of events delivered in order: those of one import, one batch, or one webhook. */
const subjectOf = ({ batch, externalAccountNumber, supplier, webhook }: LoggedEvent) =>
  JSON.stringify([supplier, externalAccountNumber, batch, webhook])

/** Whether the webhook gets the event: a test if it is its own, others if they pass its filters. */
const isFor = ({ id, names, suppliers }: Webhook, event: LoggedEvent): boolean => {
  if (event.name === "data_import.webhook.test-v1") return event.webhook === id
  const isNamed = names === null || names.includes(event.name)
  return isNamed && (suppliers === null || suppliers.some((code) => code === event.supplier))
}

/** An event in the order of its subject. `attempts` is null if it is no retry. */
export interface Item {
  readonly event: LoggedEvent
  readonly attempts: number | null
}

export interface Work {
  /** The events to deliver, those of each subject in order. */
  readonly groups: ReadonlyArray<ReadonlyArray<Item>>
  /** New events that wait for retries of the same subject that are not due. */
  readonly blocked: ReadonlyArray<StoredRetry>
}

const groupsOf = (items: ReadonlyArray<Item>) => [
  ...Map.groupBy(items, ({ event }) => subjectOf(event)).values()
]

/** The work of a session with these new events. */
export const workOf = (
  { retries, webhook }: Session,
  page: ReadonlyArray<LoggedEvent>,
  at: DateTime.Utc
): Work => {
  const first = new Map<string, Retry>()
  for (const retry of retries) {
    const subject = subjectOf(retry.event)
    if (!first.has(subject)) first.set(subject, retry)
  }
  const known = new Set(retries.map(({ event }) => event.position))
  const fresh = page.filter((event) => isFor(webhook, event) && !known.has(event.position))
  const dueOf = (event: LoggedEvent) => first.get(subjectOf(event))?.dueAt ?? at
  const isDue = (event: LoggedEvent) => DateTime.isLessThanOrEqualTo(dueOf(event), at)
  const items = [
    ...retries.map(({ attempts, event }): Item => ({ event, attempts })),
    ...fresh.map((event): Item => ({ event, attempts: null }))
  ]
  const blocked = fresh.filter((event) => !isDue(event))
  return {
    groups: groupsOf(items.filter(({ event }) => isDue(event))),
    blocked: blocked.map((event) => ({
      position: event.position,
      attempts: 0,
      dueAt: dueOf(event)
    }))
  }
}

/** The result of delivering the events of one subject, up to the first failure. */
export interface GroupResult {
  readonly group: ReadonlyArray<Item>
  readonly delivered: number
  /** The failure of the event after the delivered ones; null if all were delivered. */
  readonly failure: Exclude<Sent, { readonly _tag: "Delivered" }> | null
}

export interface Settled {
  readonly progress: Progress
  readonly ended: ReadonlyArray<number>
  readonly retries: ReadonlyArray<StoredRetry>
}

const errorOf = ({ failure }: GroupResult): string | null => {
  if (failure === null) return null
  return failure._tag === "Gone" ? "410" : failure.error
}

/** The retries that a group leaves. Events after the failed one are due with it. */
const leftOf = ({ delivered, failure, group }: GroupResult, at: DateTime.Utc) => {
  if (failure === null) return []
  const [failed, ...behind] = group.slice(delivered)
  if (failed === undefined) return []
  const attempts = (failed.attempts ?? 0) + 1
  const next = nextTry(attempts, at)
  const left = { dueAt: next ?? at, isGivenUp: next === null }
  return [
    { ...left, position: failed.event.position, attempts },
    ...behind.map((item) => ({
      ...left,
      position: item.event.position,
      attempts: item.attempts ?? 0
    }))
  ]
}

const endedIn = ({ delivered, group }: GroupResult) =>
  group
    .slice(0, delivered)
    .flatMap(({ attempts, event }) => (attempts === null ? [] : [event.position]))

const isNew = ({ attempts }: Item): boolean => attempts === null

/**
 * Whether the receiver is unavailable, so that the whole webhook waits. One event that a receiver
 * never accepts does not hold back the others.
 */
const isAway = (results: ReadonlyArray<GroupResult>): boolean =>
  results.filter(({ group }) => group.some(isNew)).length >= subjectsOfOutage &&
  results.every(({ delivered }) => delivered === 0)

/** A session begins no further try after this time, so that its slot serves others. */
export const longestSession = Duration.seconds(20)

/** A webhook whose session takes so long comes after others. */
const slowAfter = Duration.seconds(5)

/** New events that the session did not try. Retries that it did not try stay as they are. */
const untried = (
  groups: Work["groups"],
  results: ReadonlyArray<GroupResult>,
  at: DateTime.Utc
): ReadonlyArray<StoredRetry> => {
  const tried = new Set(results.flatMap(({ group }) => group.map(({ event }) => event.position)))
  return groups
    .flat()
    .filter((item) => isNew(item) && !tried.has(item.event.position))
    .map(({ event }) => ({ position: event.position, attempts: 0, dueAt: at }))
}

export interface Tried extends Pick<Work, "blocked" | "groups"> {
  /** Of the groups, each up to its last try. */
  readonly results: ReadonlyArray<GroupResult>
  readonly begunAt: DateTime.Utc
}

/** What is stored after a session. `reached` is the position after the new events. */
export const settle = (
  { webhook }: Session,
  reached: Pick<Progress, "cursor" | "replay">,
  { begunAt, blocked, groups, results }: Tried,
  at: DateTime.Utc
): Settled => {
  const { cursor, failures: before, lastSuccessAt, replay } = webhook
  const away = isAway(results)
  const failures = away ? before + 1 : results.length > 0 ? 0 : before
  const dueAt = away ? nextTry(failures, at) : at
  const left = results.flatMap((result) => leftOf(result, at))
  const fresh = new Set(
    results.flatMap(({ group }) => group.filter(isNew).map(({ event }) => event.position))
  )
  const kept = away ? left.filter(({ position }) => !fresh.has(position)) : left
  const isGone = results.some(({ failure }) => failure?._tag === "Gone")
  const isGivenUp = dueAt === null || kept.some((retry) => retry.isGivenUp)
  const delivered = results.some((result) => result.delivered > 0)
  const error = results.map(errorOf).find((each) => each !== null) ?? null
  return {
    progress: {
      ...(away ? { cursor, replay } : reached),
      failures,
      dueAt: dueAt ?? at,
      disabledBy: isGone ? "GONE" : isGivenUp ? "FAILURES" : null,
      lastError: error ?? (delivered ? null : webhook.lastError),
      lastSuccessAt: delivered ? at : lastSuccessAt,
      isSlow: Duration.isGreaterThanOrEqualTo(DateTime.distance(begunAt, at), slowAfter)
    },
    ended: results.flatMap(endedIn),
    retries: [
      ...(away ? [] : [...blocked, ...untried(groups, results, at)]),
      ...kept.map(({ attempts, dueAt: due, position }) => ({ position, attempts, dueAt: due }))
    ]
  }
}
