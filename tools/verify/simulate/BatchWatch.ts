/**
 * Reads the stored batches after each call about them. Each line ends once, and the counts match
 * the results.
 */
import { Effect, Exit, Result, Stream } from "effect"
import type { ChunkInHand, Creating, LineImport } from "@data-import/domain/batches/Batches"
import {
  batchNamed,
  batchOf,
  type BatchRecord,
  type Counts,
  countsOf,
  lineOf,
  type LineRecord
} from "./BatchModel.ts"
import type { Executed } from "./CallScheduler.ts"
import { begin, end, log } from "./Lifecycle.ts"
import { readResult } from "./LineResultText.ts"
import { revertMessage } from "./Output.ts"
import { type Answer, type LineStep, nameOf, type Order, type SentRequest } from "./Request.ts"
import type { World } from "./World.ts"

const learnOfCreation = (world: World, { exit }: Executed): void => {
  const creating = Exit.isSuccess(exit) ? (exit.value as Creating) : null
  if (creating?._tag !== "Created") return
  const batch = batchNamed(world.batches, creating.batch.settings.name ?? "")
  // If its key has expired, two batches have the name, and the client knows the first.
  batch.id ??= creating.batch.id
}

/**
 * Imports and reverts that are stored together with the ends of their lines: to other clients as if
 * each had been staged and processed, or reverted, now. `stored` has the names of the imports, the
 * ids of the attempts, and the numbers of the accounts.
 */
export const learnOfChunk = (
  world: World,
  { args, request }: Executed,
  stored: ReadonlySet<string>
): void => {
  const { imports, reverts } = args[0] as Parameters<ChunkInHand["finish"]>[0]
  const session = world.sessions.findLast((each) => each.request === request)
  if (session === undefined) return
  const { lines, name, organisation } = batchOf(world.batches, session.chunk.batch.id)
  const happened = (own: LineRecord, order: Order, message: string, code = "ok") => {
    own.isStoredTogether = true
    const line: LineStep = { batch: name, line: own.number, step: "end", worker: request.id }
    const { instance } = request
    const asked = begin(world, { order, organisation, keyed: null, instance, slow: false, line })
    end(world, asked, { code, message })
  }
  const isStored = ({ attempt, key }: LineImport) => stored.has(attempt?.id ?? nameOf(key))
  for (const { attempt, end: ended } of imports.filter(isStored)) {
    const own = lineOf({ lines, name }, ended.line)
    if (own.stage !== null) happened(own, own.stage, "first")
    if (attempt === null) continue
    const { judgement } = attempt
    if (Result.isSuccess(judgement)) happened(own, own.end, judgement.success.number)
    else happened(own, own.end, "", judgement.failure.code)
  }
  for (const { line, number } of reverts.filter((each) => stored.has(each.number))) {
    const own = lineOf({ lines, name }, line)
    happened(own, own.end, revertMessage(true, number))
  }
}

const watchBatch = Effect.fnUntraced(function* (world: World, batch: BatchRecord) {
  const { id, lines, name } = batch
  if (id === null) return
  const { batches } = world.storage
  const found = yield* batches.findOfAny(id)
  if (found._tag === "None") return
  const { counts, isCancelled, pausedBy, started } = found.value
  const query = { id, afterLine: 0, outcome: null, limit: null, includesLater: true }
  const { results } = yield* batches.results(query)
  const texts = new Map((yield* Stream.runCollect(results)).map(({ line, text }) => [line, text]))
  for (const line of lines) {
    const text = texts.get(line.number) ?? null
    world.stateChecks.that(
      line.result === null || line.result === text,
      () => `line ${line.number} of ${name} had the result ${line.result}, and has ${text}`
    )
    line.result = text
  }
  batch.received = counts.received
  batch.startedAt = started && started.at.epochMilliseconds
  const expected = countsOf(batch)
  world.stateChecks.that(
    Object.entries(expected).every(([of, count]) => counts[of as keyof Counts] === count),
    () => `${name} counts ${JSON.stringify(counts)}, and its lines ${JSON.stringify(expected)}`
  )
  const stored = JSON.stringify({
    counts,
    isCancelled,
    pausedBy: [...pausedBy],
    results: [...texts]
  })
  if (stored !== batch.stored) log(world, `${name} is ${stored}`)
  batch.stored = stored
})

/** Observes all batches, after a call about one or at any time. */
export const watchBatches = Effect.fnUntraced(function* (world: World, executed: Executed | null) {
  if (executed?.operation === "Batches.create") learnOfCreation(world, executed)
  for (const batch of world.batches) yield* watchBatch(world, batch)
})

/** The counts of an answer: state, received, succeeded, already, failed, cancelled, remaining. */
const countsIn = (message: string) => {
  const [state = "", ...numbers] = message.split(" ")
  const [received = 0, succeeded = 0, already = 0, failed = 0, cancelled = 0, remaining = 0] =
    numbers.map(Number)
  return { state, remaining, counts: { received, succeeded, already, failed, cancelled } }
}

/** Checks that the counts of an answer add up, and are never below those of an earlier answer. */
const hearCounts = (world: World, batch: BatchRecord, asked: SentRequest, message: string) => {
  const { heard, name } = batch
  const { counts, remaining, state } = countsIn(message)
  const { already, cancelled, failed, received, succeeded } = counts
  world.clientChecks.that(
    received === succeeded + already + failed + cancelled + remaining && remaining >= 0,
    () => `r${asked.id} reads of ${name} counts that do not close: ${message}`
  )
  for (const earlier of heard.counts) {
    if (earlier.step >= asked.step) continue
    for (const [of, count] of Object.entries(earlier.counts)) {
      world.clientChecks.that(
        counts[of as keyof Counts] >= count,
        () => `r${asked.id} reads of ${name} that ${of} has fallen to ${message} from ${count}`
      )
    }
  }
  const wasFinal = /^(COMPLETED|CANCELLED)/.test(heard.state)
  world.clientChecks.that(
    !wasFinal || asked.step <= heard.step || heard.state === state,
    () => `r${asked.id} reads that ${name} is ${state}, and it had ended as ${heard.state}`
  )
  heard.counts.push({ step: world.steps, counts })
  heard.state = wasFinal ? heard.state : state
  heard.step = wasFinal ? heard.step : world.steps
  heard.received = Math.max(heard.received, received)
}

/** Checks that a result that was read once never changes. */
const hearResults = (world: World, { heard, name }: BatchRecord, message: string): void => {
  for (const text of message === "" ? [] : message.split("\n")) {
    const { line } = readResult(text)
    const earlier = heard.results.get(line) ?? text
    world.clientChecks.that(
      earlier === text,
      () => `line ${line} of ${name} had the result ${earlier}, and has ${text}`
    )
    heard.results.set(line, text)
  }
}

/** Records what the client of a batch learns from an answer. */
export const learnOfAnswer = (
  world: World,
  asked: SentRequest,
  { code, message }: Answer
): void => {
  const { order } = asked
  if (order.kind !== "batch") return
  const batch = batchNamed(world.batches, order.batch)
  const { action } = order
  if (action.does === "create") {
    batch.heard.known ||= code === "ok"
    batch.heard.refused ||= !/^(ok|error|service_unavailable|idempotency_key_in_use)$/.test(code)
    return
  }
  if (code !== "ok") return
  if (action.does === "upload") {
    world.clientChecks.that(
      Number(message) >= action.from - 1 + action.lines.length,
      () => `r${asked.id} was told that ${message} lines of ${batch.name} are received`
    )
    batch.heard.received = Math.max(batch.heard.received, Number(message))
  } else if (action.does === "results") hearResults(world, batch, message)
  else hearCounts(world, batch, asked, message)
}
