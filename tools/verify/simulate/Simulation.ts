/**
 * One run: the next event is drawn until the steps are used up, then no more faults happen and
 * every request ends. The same seed makes the same run, whose log holds every result of a call,
 * every answer and every change of what is stored. So storage and programs are right if their log
 * is that of the model, which is the programs of the domain on the memory adapters.
 */
import { Cause, Effect, Exit } from "effect"
import type { Wire } from "@data-import/domain/testing/wire"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import {
  ask,
  crash,
  freeze,
  proceed,
  proceedTogether,
  passTime,
  repeat,
  returnDocuments,
  shuffleDocuments
} from "./Actions.ts"
import { checkAcknowledged, checkLinearizable } from "./ClientOracle.ts"
import { checkRepeats, checkTimesAdded, unclearRepeats } from "./Repeats.ts"
import { calmBatches } from "./BatchCalm.ts"
import { batchEvents, beginBatch, overtakeWorker, workerWorks } from "./BatchTraffic.ts"
import { calm, hasBatches } from "./Conditions.ts"
import { checkTogether } from "./Invariants.ts"
import { withoutIdentifiers } from "./Output.ts"
import { type SentRequest, isClear, nameOf, type SingleOrder, unanswered } from "./Request.ts"
import {
  clientsOrder,
  keyFor,
  operatorsOrder,
  own,
  owners,
  processOrder,
  revertOrder,
  rival,
  type Situation,
  straightOrders,
  team
} from "./Traffic.ts"
import type { WaitingCall } from "./CallScheduler.ts"
import { watchAll } from "./Watch.ts"
import { type Backend, type World, worldOf } from "./World.ts"

/** The result of a run. `failure` is null if everything held. */
export interface Report {
  readonly seed: number
  readonly steps: number
  readonly requests: number
  /** How much time passed in the run, in milliseconds. */
  readonly simulated: number
  /** How many things were checked. */
  readonly checked: number
  /** For how many imports one order of events explains everything that their clients saw. */
  readonly histories: number
  readonly failure: string | null
  /** How often each outcome of a call and each answer occurred. */
  readonly met: ReadonlyMap<string, number>
  /** The events, one per line. */
  readonly log: ReadonlyArray<string>
}

const rowOf = ({ observations }: World, key: ImportKey) =>
  observations.get(nameOf(key))?.row ?? null

const accountsOf = (world: World, key: ImportKey) => {
  const { account = null, reverted = [] } = rowOf(world, key) ?? {}
  return { present: account && account.number, past: reverted.map(({ number }) => number) }
}

const situationOf = (world: World): Situation => ({
  random: world.random,
  conditions: world.conditions,
  keys: world.keys,
  now: world.time.now(),
  accountsOf: (key) => accountsOf(world, key),
  staged: (key) => {
    const payload = rowOf(world, key)?.payload ?? null
    return payload === null ? null : (JSON.parse(payload) as Wire)
  },
  newVersion: () => world.requests.length + 1,
  sentKeys: world.requests
    .slice(-12)
    .flatMap(({ keyed, line }) => (line === null ? (keyed?.key ?? []) : []))
})

const supplierIn = (order: SingleOrder) =>
  "key" in order ? order.key.import_supplier : order.supplier

/** A new request of a client, mostly the owner of the supplier. */
const askAnew = (world: World) => {
  const situation = situationOf(world)
  const order = clientsOrder(situation)
  const key = keyFor(situation)
  const owner = owners.get(supplierIn(order)) ?? own
  const stranger = owner === own ? rival : own
  const organisation = world.random.chance(0.05) ? stranger : owner
  return ask(world, order, { organisation, repeats: null, key })
}

const notOfClients = ["skip", "setStatus", "setWindow", "createSupplier", "batch", "work"]

/** Whether a client sent it, for itself and not as a line of a batch. */
const isClients = ({ line, order }: SentRequest): boolean =>
  line === null && !notOfClients.includes(order.kind)

/** A client sends a new request, or repeats one. */
const clientAsks = (world: World) => {
  const { conditions, random, requests } = world
  const earlier = requests.slice(-12).filter(isClients)
  if (earlier.length === 0 || !random.chance(conditions.repeats)) return askAnew(world)
  const unclear = earlier.filter((asked) => asked.ended !== null && !isClear(asked))
  return repeat(world, random.pick(unclear.length > 0 && random.chance(0.5) ? unclear : earlier))
}

const operatorAsks = (world: World) =>
  ask(world, operatorsOrder(situationOf(world)), { organisation: own, repeats: null })

/**
 * A request freezes until its lease has expired. Its client repeats it with its key; if it is an
 * attempt, others try the same import.
 */
const overtake = Effect.fnUntraced(function* (world: World) {
  const frozen = yield* freeze(world)
  if (frozen === null) return
  if (frozen.line !== null) return yield* overtakeWorker(world)
  if (frozen.keyed !== null && world.random.chance(0.7)) yield* repeat(world, frozen)
  if (frozen.order.kind !== "process") return
  const { key } = frozen.order
  const organisation = owners.get(key.import_supplier) ?? own
  for (let left = 1 + world.random.below(2); left > 0; left -= 1) {
    yield* ask(world, processOrder(situationOf(world), key), { organisation, repeats: null })
  }
})

/** A client reverts an account while other requests are about its import. */
const revertRival = Effect.fnUntraced(function* (world: World) {
  const { random, running } = world
  const keys = [...running].flatMap(({ order }) =>
    "key" in order && accountsOf(world, order.key).present !== null ? order.key : []
  )
  if (keys.length === 0) return
  const situation = situationOf(world)
  const order = revertOrder(situation, random.pick(keys))
  const organisation = owners.get(order.key.import_supplier) ?? own
  yield* ask(world, order, { organisation, repeats: null, key: keyFor(situation) })
})

const second = 1000
const day = 24 * 60 * 60 * second

/** Lets one call proceed, or several in a burst. */
const someGoOn = (world: World, waiting: ReadonlyArray<WaitingCall>): Effect.Effect<void> => {
  const { conditions, random, backend } = world
  const calls = waiting.filter(({ operation }) => operation !== "answer")
  if (calls.length < 2 || (backend.burst ?? 1) < 2 || random.chance(0.3)) {
    return Effect.orDie(proceed(world, random.pick(waiting), conditions))
  }
  return Effect.orDie(proceedTogether(world, calls.slice(0, backend.burst)))
}

/** The next thing that happens. */
const next = (world: World): Effect.Effect<unknown> => {
  const { conditions, scheduler, random, running } = world
  const { atOnce, weights } = conditions
  const canAsk =
    [...running].filter(({ line, order }) => line === null && order.kind !== "work").length < atOnce
  const awake = scheduler.waiting.filter(({ request }) => request.frozenUntil <= world.steps)
  const quick = awake.filter(({ request }) => !request.slow)
  const slow = awake.filter(({ request }) => request.slow)
  const between = (least: number, most: number) => least + random.next() * (most - least)
  return random.weighted<() => Effect.Effect<unknown>>([
    [quick.length > 0 ? 16 : 0, () => someGoOn(world, quick)],
    [slow.length > 0 ? 1.5 : 0, () => Effect.orDie(proceed(world, random.pick(slow), conditions))],
    [canAsk ? 4 : 0, () => clientAsks(world)],
    [canAsk ? weights.reverts : 0, () => revertRival(world)],
    [canAsk ? weights.operator : 0, () => operatorAsks(world)],
    [canAsk ? weights.freeze : 0, () => overtake(world)],
    [weights.pause, () => passTime(world, between(0.01, 8) * second)],
    [weights.expiry, () => passTime(world, between(15, 90) * second)],
    [weights.days, () => passTime(world, between(0.1, 6) * day)],
    [weights.crash, () => crash(world, random.pick(world.instances))],
    [weights.upkeep, () => workerWorks(world, "deletePayloads")],
    [weights.documents, () => Effect.sync(() => shuffleDocuments(world))],
    ...batchEvents(world, () => situationOf(world))
  ])()
}

const checkAll = Effect.fnUntraced(function* (world: World) {
  yield* watchAll(world)
  checkTogether(world.stateChecks, [...world.observations.values()])
}, Effect.orDie)

/** Lets every request in flight end without faults. */
const finish = Effect.fnUntraced(function* (world: World) {
  for (let left = 5_000; world.scheduler.waiting.length > 0; left -= 1) {
    world.stateChecks.that(left > 0, () => `${world.running.size} requests never end`)
    world.steps += 1
    yield* Effect.orDie(proceed(world, world.random.pick(world.scheduler.waiting), calm))
  }
  world.stateChecks.that(
    world.running.size === 0,
    () => `${Array.from(world.running, ({ id }) => `r${id}`).join(", ")} are forgotten`
  )
})

/** Every client that sent a key repeats its request until it knows the outcome. */
const repeatUntilClear = Effect.fnUntraced(function* (world: World) {
  yield* passTime(world, 600 * second)
  for (const asked of unclearRepeats(world)) {
    const again = yield* repeat(world, asked)
    yield* finish(world)
    const { answer } = again
    world.clientChecks.that(
      isClear(again) || again.order.kind === "instruction",
      () => `r${again.id} is asked when nothing goes wrong, and answered ${JSON.stringify(answer)}`
    )
  }
})

const askAndFinish = Effect.fnUntraced(function* (world: World, order: SingleOrder) {
  const organisation = owners.get(supplierIn(order)) ?? own
  const asked = yield* ask(world, order, { organisation, repeats: null })
  yield* finish(world)
  return asked.answer === null || asked.answer === unanswered ? "" : asked.answer.code
})

/**
 * Once the faults have stopped and the leases have expired, every staged import must become an
 * account. Returns how many histories were then explained.
 */
const calmDown = Effect.fnUntraced(function* (world: World) {
  yield* finish(world)
  returnDocuments(world)
  yield* repeatUntilClear(world)
  yield* passTime(world, day)
  for (const supplier of owners.keys()) {
    const order = { kind: "setStatus", supplier, to: "Ongoing", reopen: true } as const
    yield* askAndFinish(world, order)
  }
  yield* calmBatches(world, finish)
  for (const key of world.keys) {
    const row = rowOf(world, key)
    if (row === null) continue
    if (row.skipped) yield* askAndFinish(world, { kind: "skip", key, skipped: false })
    const code = yield* askAndFinish(world, { kind: "process", key, dryRun: false, team })
    const expected = row.account === null ? "ok" : "account_import_process_already_imported"
    world.stateChecks.that(
      code === expected,
      () => `${nameOf(key)} is processed at last, and answered ${code} instead of ${expected}`
    )
  }
  yield* checkAll(world)
  let histories = 0
  for (const key of world.keys) {
    if (checkLinearizable(world, key)) histories += 1
    checkAcknowledged(world, key)
    checkTimesAdded(world, key)
  }
  checkRepeats(world)
  return histories
})

/** The accounts and batches with which the run begins. */
const warmUp = Effect.fnUntraced(function* (world: World) {
  for (const key of world.keys.slice(0, world.conditions.imported)) {
    for (const order of straightOrders(situationOf(world), key)) {
      const code = yield* askAndFinish(world, order)
      world.stateChecks.that(code === "ok", () => `${nameOf(key)} is ${code} at the start`)
    }
  }
  if (!world.conditions.batches) return
  for (let left = 1 + world.random.below(2); left > 0; left -= 1) {
    yield* beginBatch(world, situationOf(world), finish)
  }
})

const drive = Effect.fnUntraced(function* (world: World, steps: number) {
  yield* warmUp(world)
  const end = world.steps + steps
  while (world.steps < end) {
    world.steps += 1
    yield* next(world)
    if (world.steps % 50 === 0) yield* checkAll(world)
  }
  return yield* calmDown(world)
})

/**
 * Whether a run on PostgreSQL makes the same calls as one in memory. A burst has no order, and a
 * chunk holds the lines that were uploaded together.
 */
export const hasModel = (seed: number, burst: number): boolean => burst === 1 && !hasBatches(seed)

/**
 * Runs a seed for this many steps, and as many more as it takes to calm down. It fails at the first
 * line of the log that is not that of the `model`, if one is given.
 */
export const simulate = Effect.fnUntraced(function* (
  seed: number,
  steps: number,
  backend: Backend,
  model: ReadonlyArray<string> | null = null
) {
  const world = yield* worldOf(seed, backend, model)
  const begun = world.time.now()
  const exit = yield* Effect.exit(drive(world, steps))
  const report: Report = {
    seed,
    steps: world.steps,
    requests: world.requests.length,
    simulated: world.time.now() - begun,
    checked: world.stateChecks.count() + world.clientChecks.count(),
    histories: Exit.isSuccess(exit) ? exit.value : 0,
    failure: Exit.isSuccess(exit) ? null : withoutIdentifiers(Cause.pretty(exit.cause)),
    met: world.outcomes,
    log: world.log
  }
  return report
}, Effect.scoped)
