/**
 * The events of a run: a request starts, a call proceeds, an answer arrives or is lost, an instance
 * crashes, time passes, documents appear and vanish.
 */
import { Cause, Effect, Exit } from "effect"
import type { IdempotencyKey, KeyedRequest } from "@data-import/domain/idempotency/IdempotencyKey"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import type { Reserving } from "@data-import/domain/idempotency/IdempotencyKeys"
import type { Fault } from "@data-import/domain/testing/faults"
import type { Conditions } from "./Conditions.ts"
import { documentsOf } from "./Payloads.ts"
import { orderLine, outcomeLine } from "./Output.ts"
import { begin, checkModel, end, log, meet } from "./Lifecycle.ts"
import { answerOf } from "./Programs.ts"
import {
  type Answer,
  type SentRequest,
  fingerprintOf,
  type Instance,
  isWrite,
  nameOf,
  unanswered,
  type Order
} from "./Request.ts"
import type { WaitingCall } from "./CallScheduler.ts"
import { learnOfAnswer } from "./BatchWatch.ts"
import { answerOfBatch, isOfBatch } from "./BatchPrograms.ts"
import { watchCall } from "./Watch.ts"
import { newInstance, programsOf, surroundingsOf, type World } from "./World.ts"

const settle = (world: World): Effect.Effect<void> =>
  Effect.map(world.backend.settle(world.time, world.scheduler), () => checkModel(world))

/** Puts the documents that a request names into the store before it is sent. */
export const bringDocuments = ({ files, vanished }: World, order: Order): void => {
  if (!("key" in order)) return
  const body = order.kind === "validate" || order.kind === "stage" ? order.payload : { ...order }
  for (const path of documentsOf(body)) {
    const place = `${order.key.import_supplier}/${path}`
    if (!vanished.has(place)) files.set(place, path.length)
  }
}

/** The sender of a request, whether it repeats another one, and its idempotency key. */
interface Asking {
  readonly organisation: OrganisationName
  readonly repeats: SentRequest | null
  readonly key?: IdempotencyKey | null
}

const keyedOf = (order: Order, { key = null, organisation }: Asking): KeyedRequest | null =>
  key === null || !isWrite(order) ? null : { organisation, key, fingerprint: fingerprintOf(order) }

/** Starts a request, which runs until its first port call. */
export const ask = Effect.fnUntraced(function* (world: World, order: Order, by: Asking) {
  const instance = world.random.pick(world.instances)
  const asked = begin(world, {
    order,
    organisation: by.organisation,
    keyed: keyedOf(order, by),
    instance,
    slow: world.random.chance(world.conditions.slow),
    repeats: by.repeats
  })
  const { id } = asked
  bringDocuments(world, order)
  const under = asked.keyed === null ? "" : `, under ${asked.keyed.key}`
  const again = by.repeats === null ? "" : `, again after r${by.repeats.id}`
  log(world, `r${id} ${by.organisation} asks ${instance.name}: ${orderLine(order)}${under}${again}`)
  const program = Effect.uninterruptible(
    isOfBatch(order) ? answerOfBatch(world, asked) : answerOf(programsOf(world, instance), asked)
  )
  const fiber = Effect.runForkWith(surroundingsOf(world, asked))(program)
  fiber.addObserver((exit) => {
    if (instance.crashed) return
    const answer: Answer = Exit.isSuccess(exit)
      ? exit.value
      : { code: "error", message: Cause.pretty(exit.cause) }
    world.scheduler.add({ request: asked, operation: "answer", args: [answer] }, () => {})
  })
  yield* settle(world)
  return asked
})

/** A client repeats a request, with its key if it has one. */
export const repeat = (world: World, repeats: SentRequest) => {
  const { caller, keyed, order } = repeats
  return ask(world, order, {
    organisation: caller.organisation,
    repeats,
    key: keyed && keyed.key
  })
}

/** Delivers an answer or loses it. The answer to a line of a batch is lost only with its worker. */
const answer = Effect.fnUntraced(function* (world: World, call: WaitingCall, lost: number) {
  const { args, request } = call
  const given = args[0] as Answer
  world.scheduler.remove(call)
  const isLost = request.line === null && world.random.chance(lost)
  const message = `r${request.id} is answered ${given.code} ${given.message.replaceAll("\n", " | ")}`
  log(world, isLost ? `${message}, and the answer is lost` : message)
  const kept = given.replayed === true ? ", which was kept" : ""
  meet(world, `${request.order.kind} is answered ${given.code}${kept}`)
  end(world, request, isLost ? unanswered : given)
  if (!isLost) learnOfAnswer(world, request, given)
  call.go()
  yield* settle(world)
})

const chooseFault = ({ random }: World, faults: number): Fault | null =>
  random.chance(faults)
    ? {
        kind: random.chance(0.7) ? "unavailable" : "defect",
        when: random.chance(0.5) ? "before" : "after"
      }
    : null

/** A request of a crashed instance ends when none of its calls is in flight. */
const buryIfOver = (world: World, asked: SentRequest): void => {
  const isUnderWay = world.scheduler.waiting.some(({ request }) => request === asked)
  if (asked.instance.crashed && asked.ended === null && !isUnderWay) end(world, asked, unanswered)
}

/** Lets a call proceed, or an answer arrive. */
export const proceed = Effect.fnUntraced(function* (
  world: World,
  call: WaitingCall,
  { faults, lostAnswers }: Pick<Conditions, "faults" | "lostAnswers">
) {
  const { operation, request } = call
  if (operation === "answer") return yield* answer(world, call, lostAnswers)
  const fault = request.instance.crashed ? null : chooseFault(world, faults)
  world.scheduler.proceed(call, fault)
  yield* settle(world)
  const [executed = null] = world.scheduler.executed()
  const faultNote = fault === null ? "" : `, injected ${fault.kind} ${fault.when}`
  const outcome = executed === null ? "not reached" : outcomeLine(executed.exit)
  log(world, `r${request.id} ${request.instance.name} ${operation}: ${outcome}${faultNote}`)
  if (executed !== null) meet(world, `${operation} gives ${outcome}`)
  if (executed !== null && request.instance.crashed) meet(world, "a call outlives its instance")
  if (executed !== null) yield* watchCall(world, executed)
  buryIfOver(world, request)
})

/** Lets several calls proceed concurrently without faults; the storage decides their order. */
export const proceedTogether = Effect.fnUntraced(function* (
  world: World,
  calls: ReadonlyArray<WaitingCall>
) {
  for (const call of calls) world.scheduler.proceed(call, null)
  yield* settle(world)
  for (const executed of world.scheduler.executed()) {
    const { exit, operation, request } = executed
    meet(world, `${operation} gives ${outcomeLine(exit)}`)
    log(world, `together: r${request.id} ${operation}: ${outcomeLine(exit)}`)
    yield* watchCall(world, executed)
  }
  for (const { request } of calls) buryIfOver(world, request)
})

const writes = new Set([
  "ImportProcesses.stage",
  "ImportProcesses.claim",
  "ImportProcesses.renew",
  "ImportProcesses.complete",
  "ImportProcesses.release",
  "ImportProcesses.setSkipped",
  "ImportProcesses.deletePayloads",
  "Accounts.change",
  "Reverts.revert",
  "AuditLog.recordRefusal",
  "IdempotencyKeys.reserve",
  "IdempotencyKeys.release",
  ...["create", "beginUpload", "append", "change", "take", "finish", "cancelLines", "review"].map(
    (operation) => `Batches.${operation}`
  )
])

/**
 * An instance crashes, and another takes its place. Each call that it had sent may still reach the
 * storage later.
 */
export const crash = Effect.fnUntraced(function* (world: World, instance: Instance) {
  log(world, `${instance.name} crashes`)
  instance.crashed = true
  for (const call of world.scheduler.waiting.filter(
    ({ request }) => request.instance === instance
  )) {
    const isSent = writes.has(call.operation) && world.random.chance(0.5)
    if (!isSent) world.scheduler.remove(call)
  }
  for (const asked of [...world.running]) buryIfOver(world, asked)
  world.instances[world.instances.indexOf(instance)] = yield* newInstance(world)
})

/** Lets time pass and wakes the fibers that sleep until then. */
export const passTime = Effect.fnUntraced(function* (world: World, millis: number) {
  const until = world.time.now() + Math.round(millis)
  while (world.time.wakeNext(until)) yield* settle(world)
  // A call of a crashed instance may have been given up meanwhile.
  for (const asked of [...world.running]) buryIfOver(world, asked)
  log(world, `${Math.round(millis / 100) / 10} s pass`)
})

/** Whether the request has begun an attempt that still has the lease of its import. */
const hasLease = (world: World, { calls, ended, order }: SentRequest): boolean => {
  if (order.kind !== "process" || ended !== null) return false
  const lease = world.observations.get(nameOf(order.key))?.row?.lease ?? null
  return calls.some(
    ({ exit, operation, attempt }) =>
      operation === "ImportProcesses.claim" && Exit.isSuccess(exit) && attempt === lease?.attempt
  )
}

/** Whether the request has reserved its key, and has not ended. */
const hasReserved = ({ calls, ended }: SentRequest): boolean =>
  ended === null &&
  calls.some(
    ({ exit, operation }) =>
      operation === "IdempotencyKeys.reserve" &&
      Exit.isSuccess(exit) &&
      (exit.value as Reserving)._tag === "Reserved"
  )

/**
 * Freezes a request that has a lease, of its import or of its key, for long enough that the lease
 * expires; null if there is no such request.
 */
export const freeze = Effect.fnUntraced(function* (world: World) {
  const { random } = world
  const working = [...world.running].filter((asked) => hasReserved(asked) || hasLease(world, asked))
  if (working.length === 0) return null
  const asked = random.pick(working)
  asked.frozenUntil = world.steps + 4 + random.below(32)
  log(world, `r${asked.id} stands still until step ${asked.frozenUntil}`)
  yield* passTime(world, (58 + random.below(40)) * 1000)
  return asked
})

/** A document vanishes from the store, or all vanished ones return. */
export const shuffleDocuments = (world: World): void => {
  const { random, files, vanished } = world
  const places = [...files.keys()]
  if (places.length === 0 || random.chance(0.4)) {
    returnDocuments(world)
    return
  }
  const place = random.pick(places)
  log(world, `document ${place} vanishes`)
  vanished.set(place, files.get(place) ?? 0)
  files.delete(place)
}

/** Returns all documents to the store. */
export const returnDocuments = (world: World): void => {
  const { files, vanished } = world
  if (vanished.size > 0) log(world, `${vanished.size} documents are back`)
  for (const [place, size] of vanished) files.set(place, size)
  vanished.clear()
}
