/**
 * One run: the next event is drawn until the steps are used up, then no more faults happen and
 * every request ends. The same seed on the same kind of storage makes the same run.
 */
import { Cause, Clock, Effect, Exit, Stream } from "effect"
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
import { checkBatches } from "./BatchOracle.ts"
import { batchEvents, beginBatch, overtakeWorker } from "./BatchTraffic.ts"
import { calm } from "./Conditions.ts"
import { stateOf } from "./ImportModel.ts"
import { checkBalance, checkTogether } from "./Invariants.ts"
import { withoutIdentifiers } from "./Output.ts"
import { entryLine } from "./Programs.ts"
import { type SentRequest, isClear, nameOf, type SingleOrder, unanswered } from "./Request.ts"
import {
  clientsOrder,
  keyFor,
  operatorsOrder,
  own,
  owners,
  processOrder,
  rival,
  type Situation,
  straightOrders,
  team
} from "./Traffic.ts"
import type { WaitingCall } from "./CallScheduler.ts"
import { checkUnchanged, linesOfList, same } from "./CallOracle.ts"
import { type Backend, programsOf, type World, worldOf } from "./World.ts"

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

const situationOf = (world: World): Situation => ({
  random: world.random,
  conditions: world.conditions,
  keys: world.keys,
  now: world.time.now(),
  isImported: (key) => world.accounts.has(nameOf(key)),
  staged: (key) => world.staged.get(nameOf(key))?.payload ?? null,
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

const notOfClients = ["skip", "setStatus", "createSupplier", "batch", "work"]

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
    [canAsk ? weights.operator : 0, () => operatorAsks(world)],
    [canAsk ? weights.freeze : 0, () => overtake(world)],
    [weights.pause, () => passTime(world, between(0.01, 8) * second)],
    [weights.expiry, () => passTime(world, between(15, 90) * second)],
    [weights.days, () => passTime(world, between(0.1, 6) * day)],
    [weights.crash, () => crash(world, random.pick(world.instances))],
    [weights.documents, () => Effect.sync(() => shuffleDocuments(world))],
    ...batchEvents(world, () => situationOf(world))
  ])()
}

const statuses: Readonly<Record<string, string>> = {
  Imported: "COMPLETED",
  InProgress: "IN_PROGRESS"
}

/** Checks that the query program reports the status of the state. */
const checkStatuses = Effect.fnUntraced(function* (world: World) {
  for (const { key, row } of world.observations.values()) {
    if (row === null) continue
    const caller = {
      organisation: owners.get(key.import_supplier) ?? own,
      apiKey: "nobody",
      scopes: [],
      requestId: "none"
    } as unknown as SentRequest["caller"]
    const { external_account_number, import_supplier } = key
    const [instance] = world.instances
    if (instance === undefined) return
    const found = yield* programsOf(world, instance)
      .query.status(caller, import_supplier, external_account_number)
      .pipe(Effect.provideService(Clock.Clock, world.time.clock), Effect.orDie)
    const state = stateOf(row, world.time.now())
    same(
      world,
      `the status of ${nameOf(key)}`,
      [found.status, found.kraken_account_number],
      [statuses[state] ?? "UNKNOWN", row.account?.number ?? ""]
    )
  }
})

const checkLists = Effect.fnUntraced(function* (world: World) {
  for (const supplier of owners.keys()) {
    const of = (kind: "all" | "pending" | "imported") =>
      Effect.map(
        Stream.runCollect(world.storage.imports.list({ supplier, kind, after: null, limit: null })),
        (entries) => entries.map(entryLine)
      )
    const [all, pending, imported] = [yield* of("all"), yield* of("pending"), yield* of("imported")]
    const skipped = [...world.observations.values()].filter(
      ({ key, row }) => key.import_supplier === supplier && row?.skipped === true
    )
    world.stateChecks.that(
      pending.length + imported.length + skipped.length === all.length,
      () =>
        `${supplier}: ${pending.length} pending, ${imported.length} imported and ` +
        `${skipped.length} skipped make not the ${all.length} of all`
    )
    const query = { supplier, after: null, limit: null }
    same(world, `all of ${supplier}`, all, linesOfList(world, { ...query, kind: "all" }))
  }
})

const checkAll = Effect.fnUntraced(function* (world: World) {
  yield* checkUnchanged(world)
  const observations = [...world.observations.values()]
  checkTogether(world.stateChecks, observations)
  for (const observation of observations) checkBalance(world.stateChecks, observation)
  yield* checkStatuses(world)
  yield* checkLists(world)
  yield* checkBatches(world)
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
  for (const supplier of [...world.suppliers.keys()]) {
    const order = { kind: "setStatus", supplier, to: "Ongoing", reopen: true } as const
    yield* askAndFinish(world, order)
  }
  yield* calmBatches(world, finish)
  for (const key of world.keys) {
    const row = world.observations.get(nameOf(key))?.row ?? null
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
      same(world, `${nameOf(key)} at the start`, yield* askAndFinish(world, order), "ok")
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

const count = ({ checks, clientChecks, stateChecks }: World): number =>
  checks.count() + stateChecks.count() + clientChecks.count()

/** Runs a seed for this many steps, and as many more as it takes to calm down. */
export const simulate = Effect.fnUntraced(function* (
  seed: number,
  steps: number,
  backend: Backend
) {
  const world = yield* worldOf(seed, backend)
  const begun = world.time.now()
  const exit = yield* Effect.exit(drive(world, steps))
  const report: Report = {
    seed,
    steps: world.steps,
    requests: world.requests.length,
    simulated: world.time.now() - begun,
    checked: count(world),
    histories: Exit.isSuccess(exit) ? exit.value : 0,
    failure: Exit.isSuccess(exit) ? null : withoutIdentifiers(Cause.pretty(exit.cause)),
    met: world.outcomes,
    log: world.log
  }
  return report
}, Effect.scoped)
