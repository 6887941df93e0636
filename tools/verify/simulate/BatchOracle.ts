/**
 * Checks every call of the storage of batches: each line ends once, with the answer of its last run
 * as its result, no two workers hold a line, and the counts match the results.
 */
import { Effect, Exit, Option, Stream } from "effect"
import type { Appending, Batches, ChunkInHand, Creating } from "@data-import/domain/ports/Batches"
import { keysOf } from "@data-import/domain/requests/LineKey"
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
import { same } from "./CallOracle.ts"
import { isLost, keepAnswer } from "./KeyedSteps.ts"
import * as KeyModel from "./KeyModel.ts"
import { type LineResult, readResult } from "./LineResultText.ts"
import { checkStoredTogether } from "./NewImports.ts"
import { type Answer, type SentRequest, unanswered } from "./Request.ts"
import type { World } from "./World.ts"

type Finishing = Parameters<ChunkInHand["finish"]>[0]
type Port = Batches["Service"]

const decoder = new TextDecoder()

/** Checks that the stored batch matches the outcomes of its lines. */
const checkStored = Effect.fnUntraced(function* (world: World, batch: BatchRecord) {
  const { id, lines, name } = batch
  if (id === null) return
  const { batches } = world.storage
  const found = yield* batches.findOfAny(id)
  const query = { id, afterLine: 0, outcome: null, limit: null, includesLater: true }
  const { results } = yield* batches.results(query)
  const texts = new Map((yield* Stream.runCollect(results)).map(({ line, text }) => [line, text]))
  for (const { number, result } of lines) {
    const text = texts.get(number) ?? null
    world.stateChecks.that(
      text === result,
      () => `line ${number} of ${name} has the result ${text}, and must have ${result}`
    )
  }
  const counts = found._tag === "Some" ? found.value.counts : null
  const expected = countsOf(batch)
  world.stateChecks.that(
    counts !== null &&
      Object.entries(expected).every(([of, count]) => counts[of as keyof Counts] === count),
    () => `${name} counts ${JSON.stringify(counts)}, and its lines ${JSON.stringify(expected)}`
  )
})

/** Checks all batches against the model. */
export const checkBatches = Effect.fnUntraced(function* (world: World) {
  for (const batch of world.batches) yield* checkStored(world, batch)
})

const watchCreate = (world: World, { args, exit }: Executed): void => {
  const command = args[0] as Parameters<Port["create"]>[0]
  const batch = batchNamed(world.batches, command.settings.name ?? "")
  const isRefused = isLost(world.idempotency, command)
  const creating = Exit.isSuccess(exit) ? (exit.value as Creating) : null
  same(world, `${batch.name} is stored under a lost key`, isRefused && creating !== null, false)
  if (creating?._tag !== "Created") return
  keepAnswer(world.idempotency, command, batch.name, command.at)
  const at = command.at.epochMilliseconds
  const isProtected =
    batch.createdAt === null ||
    at - batch.createdAt < KeyModel.keptMillis - 2 * world.conditions.skew
  const isAgain = batch.id !== null
  world.stateChecks.that(!(isAgain && isProtected), () => `${batch.name} is created twice`)
  // If its key has expired, two batches have the name, and the client knows the first.
  if (isAgain) return
  batch.id = creating.batch.id
  batch.createdAt = at
  batch.received = creating.batch.counts.received
  same(world, `the lines of ${batch.name}`, batch.received, batch.retried ? batch.lines.length : 0)
}

const watchAppend = (world: World, { args, exit }: Executed): void => {
  const { from, id, lines } = args[0] as Parameters<Port["append"]>[0]
  const appending = Exit.isSuccess(exit) ? (exit.value as Appending) : null
  if (appending?._tag !== "Appended") return
  const batch = batchOf(world.batches, id)
  const expected = Math.max(batch.received, from - 1 + lines.length)
  same(world, `the lines of ${batch.name}`, appending.received, expected)
  batch.received = appending.received
}

/** The sessions in which workers hold lines of the batch. */
const sessionsOf = ({ sessions }: World, id: string | null) =>
  sessions.filter(({ chunk, isOver }) => !isOver && chunk.batch.id === id)

const isInHand = (world: World, batch: BatchRecord, number: number): boolean =>
  sessionsOf(world, batch.id).some(({ chunk }) => chunk.lines.some(({ line }) => line === number))

/** Checks that taken lines have no other holder, have not ended, and wait for no earlier line. */
const watchTake = Effect.fnUntraced(function* (world: World, { exit, request }: Executed) {
  const taken = Exit.isSuccess(exit) ? (exit.value as Option.Option<ChunkInHand>) : null
  if (taken?._tag !== "Some") return
  const { batch: stored, lines } = taken.value
  const batch = batchOf(world.batches, stored.id)
  const found = Option.getOrThrow(yield* world.storage.batches.findOfAny(stored.id))
  const { isCancelled, pausedBy, started } = found
  world.checks.that(
    started !== null && !isCancelled && pausedBy.size === 0,
    () => `r${request.id} takes lines of ${batch.name}, which does not run`
  )
  for (const { bytes, line } of lines) {
    const own = lineOf(batch, line)
    const hands = sessionsOf(world, batch.id).filter(({ chunk }) =>
      chunk.lines.some((each) => each.line === line)
    )
    const earlier = batch.lines.filter(
      ({ key, number, result }) =>
        number < line &&
        result === null &&
        key.external_account_number === own.key.external_account_number
    )
    world.checks.that(
      own.result === null && hands.length <= 1 && earlier.length === 0,
      () => `r${request.id} takes line ${line} of ${batch.name}, which is not free`
    )
    same(world, `line ${line} of ${batch.name}`, bytes && decoder.decode(bytes), own.text)
  }
})

/** Whether an answer reports an added note or transaction. */
export const addsSomething = (message: string): boolean =>
  /NOTE_CREATION_SUCCESS|TRANSACTION_ADDED_TO_ACCOUNT/.test(message)

/** Whether the run found the same payload staged, or imported. */
const foundSame = ({ calls }: SentRequest): boolean => {
  const exit = calls.findLast(({ operation }) => operation === "ImportProcesses.isStaged")?.exit
  return exit !== undefined && Exit.isSuccess(exit) && exit.value === true
}

/** Whether the run found a transaction that was added with another content. */
const foundOther = ({ calls }: SentRequest): boolean => {
  const exit = calls.findLast(({ operation }) => operation === "Accounts.change")?.exit
  if (exit === undefined || !Exit.isSuccess(exit)) return false
  const results = Option.getOrElse(
    exit.value as Option.Option<ReadonlyArray<{ readonly differs?: boolean }>>,
    () => []
  )
  return results.some(({ differs = false }) => differs)
}

/** The outcome of a line whose last run had this answer. */
const outcomeOf = ({ operation }: BatchRecord, run: SentRequest, { code, message }: Answer) => {
  const { kind } = run.order
  if (code === "account_import_process_already_imported") {
    return operation === "PROCESS" || foundSame(run) ? "ALREADY" : "FAILED"
  }
  if (code !== "ok") return "FAILED"
  if (kind === "process") return "SUCCEEDED"
  const isNew = kind === "stage" ? !foundSame(run) : addsSomething(message) || foundOther(run)
  return isNew ? "SUCCEEDED" : "ALREADY"
}

/** Checks that a result matches the answer of the last run by this worker. */
const checkResult = (
  world: World,
  worker: SentRequest,
  batch: BatchRecord,
  line: LineRecord,
  { code, message, outcome }: LineResult
): void => {
  const run = line.runs.findLast((each) => each.line?.worker === worker.id)
  const what = `line ${line.number} of ${batch.name} ends ${outcome} ${code} ${message}`
  const answer = run?.answer ?? null
  if (run === undefined || answer === null || answer === unanswered) {
    world.checks.that(false, () => `${what}, and was not run`)
    return
  }
  const saysMore = answer.code === "ok" || /_already_imported$/.test(answer.code)
  world.checks.that(
    code === answer.code && (!saysMore || message === answer.message),
    () => `${what}, and r${run.id} was answered ${answer.code} ${answer.message}`
  )
  const expected = answer.replayed === true ? outcome : outcomeOf(batch, run, answer)
  world.checks.that(outcome === expected, () => `${what}, which is ${expected}`)
}

const forgetKeys = (world: World, { id, organisation }: BatchRecord, line: number): void => {
  if (id === null) return
  for (const key of keysOf(id, line)) KeyModel.remove(world.idempotency, { organisation, key })
}

/** Ends the line, which must not have ended before. */
const endLine = (world: World, batch: BatchRecord, number: number, text: string): LineRecord => {
  const line = lineOf(batch, number)
  world.checks.that(line.result === null, () => `line ${number} of ${batch.name} ends twice`)
  line.result = text
  forgetKeys(world, batch, number)
  return line
}

const abandonedAfter = 10

const watchFinish = Effect.fnUntraced(function* (world: World, executed: Executed) {
  const { args, exit, request } = executed
  const session = world.sessions.findLast((each) => each.request === request)
  if (session === undefined || !Exit.isSuccess(exit)) return
  const { abandoned, batch: stored, lines } = session.chunk
  const finishing = args[0] as Finishing
  const batch = batchOf(world.batches, stored.id)
  const together = yield* checkStoredTogether(world, request, finishing, exit.value === true)
  if (exit.value !== true) return
  for (const end of [...finishing.ended, ...together]) {
    world.checks.that(
      lines.some(({ line }) => line === end.line),
      () => `r${request.id} ends line ${end.line} of ${batch.name}, which it has not in hand`
    )
    const line = endLine(world, batch, end.line, end.text)
    const result = readResult(end.text)
    same(world, `line ${end.line} of ${batch.name}`, end.outcome, result.outcome)
    line.isStoredTogether = together.includes(end)
    if (line.isStoredTogether) same(world, "what is stored together", end.outcome, "SUCCEEDED")
    else if (abandoned < abandonedAfter) checkResult(world, request, batch, line, result)
  }
  yield* checkStored(world, batch)
})

/** The required outcome of a cancelled line: that of the last step it has taken. */
const cancelledAs = (world: World, { id, organisation }: BatchRecord, { number }: LineRecord) => {
  if (id === null) return null
  const stepOf = (key: (typeof keys)[number]) =>
    KeyModel.answerOf(world.idempotency, { organisation, key })
  const keys = keysOf(id, number)
  const [stage = null, end = null] = keys.map(stepOf)
  return end === null
    ? { isCancelled: true, message: stage ?? "" }
    : { isCancelled: false, message: end }
}

/** Checks that only lines of cancelled batches without a holder have ended. */
const watchCancel = Effect.fnUntraced(function* (world: World) {
  const { batches } = world.storage
  for (const batch of world.batches) {
    if (batch.id === null) continue
    const found = yield* batches.findOfAny(batch.id)
    const query = { id: batch.id, afterLine: 0, outcome: null, limit: null, includesLater: true }
    const { results } = yield* batches.results(query)
    for (const { line: number, text } of yield* Stream.runCollect(results)) {
      const line = lineOf(batch, number)
      if (line.result !== null) continue
      const isCancelled = found._tag === "Some" && found.value.isCancelled
      const what = `line ${number} of ${batch.name}`
      world.checks.that(isCancelled, () => `${what} is cancelled, and its batch is not`)
      const isTaken = isInHand(world, batch, number)
      world.checks.that(!isTaken, () => `${what} is cancelled while a worker has it in hand`)
      const result = readResult(text)
      const expected = cancelledAs(world, batch, line)
      same(
        world,
        what,
        { isCancelled: result.outcome === "CANCELLED", message: result.message },
        expected
      )
      endLine(world, batch, number, text)
    }
    yield* checkStored(world, batch)
  }
})

/** Checks the effect of a call of the storage of batches. */
export const watchBatches = Effect.fnUntraced(function* (world: World, executed: Executed) {
  switch (executed.operation) {
    case "Batches.create":
      return watchCreate(world, executed)
    case "Batches.append":
      return watchAppend(world, executed)
    case "Batches.take":
      return yield* watchTake(world, executed)
    case "Batches.finish":
      return yield* watchFinish(world, executed)
    case "Batches.cancelLines":
      return yield* watchCancel(world)
    case "Batches.change":
    case "Batches.review":
      return yield* checkBatches(world)
  }
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
