/**
 * What clients may rely on when they send a request again. With an idempotency key it takes effect
 * once while its answer is kept, and every success has the same answer. The check uses requests,
 * answers and the stored data, but not the calls in between.
 */
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Wire } from "@data-import/domain/testing/wire"
import type { AuditLine } from "./Observation.ts"
import { transactionIdsOf } from "./Payloads.ts"
import {
  type Answer,
  type SentRequest,
  begunAt,
  isClear,
  nameOf,
  unanswered,
  type Order
} from "./Request.ts"
import { itemsOf, transactionItem } from "./StoredItems.ts"
import type { World } from "./World.ts"

const minute = 60_000

/** How long an answer is kept. Source: docs/contract/http.md#idempotency-keys. */
const keptMillis = 24 * 60 * minute

/** How long a request that died holds its key, and how long the key is known afterwards. */
const patienceMillis = 61 * minute

/** The repetitions of one request, which its client sent until it had an answer. */
type Group = ReadonlyArray<SentRequest>

const groupsOf = (requests: ReadonlyArray<SentRequest>): ReadonlyArray<Group> => [
  ...Map.groupBy(requests, ({ id, keyed }) =>
    keyed === null ? id : `${keyed.organisation} ${keyed.key} ${keyed.fingerprint}`
  ).values()
]

/**
 * Whether the answer of the first request is certainly still kept for one that begins at the
 * instant, however early the first took effect and on any clock.
 */
const isProtected = ({ conditions }: World, begins: number, [first]: Group): boolean =>
  first === undefined || begins < first.at + keptMillis - 2 * conditions.skew

const protectedOf = (world: World, group: Group): Group =>
  group.filter((asked) => isProtected(world, begunAt(asked), group))

/** A dry run stores nothing, so it frees its key, and may be answered otherwise when repeated. */
const isDryRun = ({ order }: SentRequest): boolean => order.kind === "revert" && order.dryRun

const success = ({ answer }: SentRequest): ReadonlyArray<Answer> =>
  answer !== null && answer !== unanswered && answer.code === "ok" ? [answer] : []

/** The last requests with keys whose clients do not know the outcome, and may repeat them. */
export const unclearRepeats = (world: World): Group =>
  groupsOf(world.requests.filter(({ keyed, line }) => keyed !== null && line === null)).flatMap(
    (group) => {
      const last = group.at(-1)
      const isOpen = last !== undefined && !group.some(isClear)
      return isOpen && isProtected(world, world.time.now() + world.conditions.skew, group)
        ? [last]
        : []
    }
  )

const isRevert = ({ action, outcome }: AuditLine): boolean =>
  action === "revert_import" && outcome === "reverted"

/** How many entries of the audit log show that the request has stored something. */
export const effectsOf = (world: World): ((asked: SentRequest) => number) => {
  const counts = new Map<string, number>()
  for (const { audit } of world.observations.values()) {
    for (const { outcome, request } of audit) {
      const isEffect = /^(created|replaced|reverted)$/.test(outcome)
      if (isEffect) counts.set(request, (counts.get(request) ?? 0) + 1)
    }
  }
  return ({ caller }) => counts.get(caller.requestId) ?? 0
}

const idsOf = (group: Group): string => group.map(({ id }) => `r${id}`).join(", ")

const sum = (numbers: ReadonlyArray<number>): number =>
  numbers.reduce((total, each) => total + each, 0)

/** Refusals about a key are true: another request had it, and for `reused` a different one. */
const checkRefusals = (
  world: World,
  asked: SentRequest,
  sent: ReadonlyArray<SentRequest>
): void => {
  const { answer, at, ended, id, keyed } = asked
  const code = answer === null || answer === unanswered ? "" : answer.code
  if (keyed === null || !code.startsWith("idempotency_key_")) return
  const isReused = code === "idempotency_key_reused"
  const others = sent.filter(
    (other) =>
      other !== asked &&
      other.step <= (ended?.step ?? 0) &&
      (other.keyed?.fingerprint !== keyed.fingerprint || !isReused)
  )
  const tookLong = (ended?.at ?? 0) - at > patienceMillis - 2 * world.conditions.skew
  world.clientChecks.that(
    others.length > 0 || (tookLong && !isReused),
    () => `r${id} is answered ${code}, and no other request has had ${keyed.key}`
  )
}

/** Whether the account to which one of the group added had been reverted when this one was sent. */
const isOfReverted = (world: World, group: Group, asked: SentRequest): boolean => {
  const { order, step } = asked
  if (!("key" in order) || order.kind === "stage") return false
  const { audit = [] } = world.observations.get(nameOf(order.key)) ?? {}
  const earlier = group.filter(({ id }) => id < asked.id).map(({ caller }) => caller.requestId)
  const effect = audit.findLastIndex(
    ({ outcome, request }) => outcome === "created" && earlier.some((id) => id === request)
  )
  const revert = effect < 0 ? undefined : audit.slice(effect).find(isRevert)
  const by = world.requests.find(({ caller }) => caller.requestId === revert?.request)
  return (by?.ended?.step ?? Infinity) < step
}

/** Checks what was stored and answered under every key. */
export const checkRepeats = (world: World): void => {
  const effects = effectsOf(world)
  const keyed = world.requests.filter((asked) => asked.keyed !== null)
  // The effect of the creation of a batch is checked when it is stored.
  for (const group of groupsOf(keyed.filter(({ order }) => order.kind !== "batch"))) {
    const some = protectedOf(world, group)
    const count = sum(some.map(effects))
    world.stateChecks.that(
      count <= 1,
      () => `${idsOf(some)} are one request under its key, and took effect ${count} times`
    )
    const replayed = group.filter((asked) => success(asked).some((answer) => answer.replayed))
    for (const asked of replayed) {
      world.stateChecks.that(
        !isOfReverted(world, group, asked),
        () => `r${asked.id} got a kept answer about an account that had been reverted`
      )
    }
    world.stateChecks.that(
      replayed.length === 0 || sum(group.map(effects)) > 0,
      () => `one of ${idsOf(group)} got a kept answer, and none of them took effect`
    )
    const answers = new Set(
      some
        .filter((asked) => !isDryRun(asked))
        .flatMap(success)
        .map(({ message }) => message)
    )
    world.clientChecks.that(
      answers.size <= 1,
      () => `${idsOf(some)} are one request under its key, and got ${[...answers].join(" and ")}`
    )
  }
  // The keys of lines are deleted, so that no other request explains a refusal.
  const clients = keyed.filter(({ line }) => line === null)
  const ofOneKey = Map.groupBy(
    clients,
    (asked) => `${asked.keyed?.organisation} ${asked.keyed?.key}`
  )
  for (const sent of ofOneKey.values()) {
    for (const asked of sent) checkRefusals(world, asked, sent)
  }
}

/** Whether a client may think that the request has added something. */
const mayHaveAdded = (asked: SentRequest): boolean => !isClear(asked) || success(asked).length > 0

type Transactions = SentRequest & { readonly order: Order<"transactions"> }

const isTransactions = (asked: SentRequest): asked is Transactions =>
  asked.order.kind === "transactions" && asked.order.broken === null

const sentIn = ({ order }: Transactions): ReadonlyArray<string> =>
  order.transactions.map((sent) => transactionItem(sent["transaction_id"]))

/**
 * How often requests can have added a transaction, and how often they must have if acknowledged.
 */
const boundsOf = (
  world: World,
  sent: ReadonlyArray<Transactions>,
  before: ReadonlyArray<number>
) => {
  const ofPayloads = sum(before)
  const unchecked = groupsOf(sent.filter(({ order }) => !order.check))
  const checked = sent.filter(({ order }) => order.check)
  const most = unchecked.map((group) => {
    const adding = group.filter(mayHaveAdded)
    const some = adding.filter((asked) => isProtected(world, begunAt(asked), group))
    return Math.min(some.length, 1) + adding.length - some.length
  })
  const least = unchecked.filter((group) => group.some((asked) => success(asked).length > 0)).length
  const isAcknowledged = checked.some((asked) => success(asked).length > 0)
  return {
    least: Math.max(ofPayloads + least, isAcknowledged ? 1 : 0),
    most:
      ofPayloads +
      sum(most) +
      Math.min(checked.filter(mayHaveAdded).length, before.filter((times) => times === 0).length)
  }
}

/** Checks that every transaction is on the accounts as often as their clients requested. */
export const checkTimesAdded = (world: World, key: ImportKey): void => {
  const name = nameOf(key)
  const { accounts = [] } = world.observations.get(name) ?? {}
  if (accounts.length === 0) return
  const before = accounts.map(({ payload }) =>
    transactionIdsOf(JSON.parse(payload ?? "{}") as Wire).map(transactionItem)
  )
  const now = accounts.flatMap(itemsOf)
  const sent = world.requests
    .filter(isTransactions)
    .filter(({ order }) => nameOf(order.key) === name)
  for (const item of new Set(sent.flatMap(sentIn))) {
    const timesIn = (list: ReadonlyArray<string>) => list.filter((each) => each === item).length
    const about = sent.filter((asked) => sentIn(asked).includes(item))
    const { least, most } = boundsOf(world, about, before.map(timesIn))
    const times = timesIn(now)
    world.clientChecks.that(
      times >= least && times <= most,
      () =>
        `accounts of ${name} have ${item} ${times} times, and ${idsOf(about)} explain ${least} to ${most}`
    )
  }
}
