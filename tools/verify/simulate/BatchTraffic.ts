/**
 * The next actions of the clients of batches and of the workers. The lines are about the imports
 * that the other clients write to.
 */
import { Effect } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { IdempotencyKey } from "@data-import/domain/idempotency/IdempotencyKey"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { ask, bringDocuments, crash } from "./Actions.ts"
import {
  batchOf,
  type BatchRecord,
  countsOf,
  emptyHeard,
  type LineRecord,
  linesToRetry
} from "./BatchModel.ts"
import type { ChunkSession } from "./ChunkSessions.ts"
import { log } from "./Lifecycle.ts"
import type { BatchAction, Order } from "./Request.ts"
import {
  accountOrder,
  clientsOrder,
  keyFor,
  notesOrder,
  own,
  owners,
  revertOrder,
  type Situation,
  team,
  transactionsOrder
} from "./Traffic.ts"
import { surroundingsOf, type World } from "./World.ts"

/** Mostly the first one, which has the imports that most requests are about. */
const suppliers = ["OWN_A", "OWN_A", "OWN_A", "RIVAL"].map((code) => SupplierCode.make(code))

const hour = 60 * 60_000

/** The maximum number of batches in a run, retries included. */
const mostBatches = 4

type Ends = Pick<LineRecord, "stage" | "end" | "text">

/** The possible requests of a line of the batch. */
const endsOf = (
  situation: Situation,
  key: ImportKey,
  { operation, parameters, revert }: Pick<BatchRecord, "operation" | "parameters" | "revert">
): Ends => {
  const { external_account_number } = key
  const line = (body: unknown) => JSON.stringify(body)
  const process: Order<"process"> = { kind: "process", key, dryRun: false, team }
  switch (operation) {
    case "STAGE":
    case "IMPORT": {
      const stage = accountOrder(situation, key)
      const end = operation === "STAGE" ? stage : process
      return { stage, end, text: line(stage.payload) }
    }
    case "PROCESS":
      return { stage: null, end: process, text: line({ external_account_number }) }
    case "REVERT": {
      const end = { ...revertOrder(situation, key), ...revert }
      return {
        stage: null,
        end,
        text: line({ external_account_number, kraken_account_number: end.number })
      }
    }
    case "NOTES": {
      const end = notesOrder(situation, key)
      return { stage: null, end, text: line({ external_account_number, notes: end.notes }) }
    }
    case "TRANSACTIONS": {
      const end = { ...transactionsOrder(situation, key), ...parameters }
      const { transactions } = end
      return { stage: null, end, text: line({ external_account_number, transactions }) }
    }
  }
}

const record = (
  world: World,
  batch: Omit<BatchRecord, "name" | "key" | "id" | "stored" | "startedAt" | "received" | "heard">
): BatchRecord => {
  const name = `b${world.batches.length + 1}`
  const key = IdempotencyKey.make(`create-${name}`)
  const fresh = { id: null, stored: "", startedAt: null, received: 0, heard: emptyHeard() }
  const made: BatchRecord = { ...batch, name, key, ...fresh }
  world.batches.push(made)
  return made
}

/** A new batch, which its client has not created yet. */
const plan = (world: World, situation: Situation): BatchRecord => {
  const { random } = world
  const supplier = random.pick(suppliers)
  const ofSupplier = world.keys.filter(({ import_supplier }) => import_supplier === supplier)
  const imported = ofSupplier.filter((key) => situation.accountsOf(key).present !== null)
  const operation = random.weighted<BatchRecord["operation"]>([
    [3, "IMPORT"],
    [2, "STAGE"],
    [1, "PROCESS"],
    [2, "NOTES"],
    [2, "TRANSACTIONS"],
    [imported.length > 0 ? 5 : 0.2, "REVERT"]
  ])
  const keys = operation === "REVERT" && imported.length > 0 ? imported : ofSupplier
  const parameters = { check: random.chance(0.7), force: random.chance(0.7) }
  const revert = { withAdditions: random.chance(0.8), dryRun: random.chance(0.1) }
  const lines: Array<LineRecord> = []
  for (let left = 1 + random.below(7); left > 0; left -= 1) {
    const repeated = lines.length > 0 && random.chance(0.1) ? random.pick(lines) : null
    const key = repeated?.key ?? random.pick(keys)
    world.linesPlanned += 1
    const newVersion = () => 1_000_000 + world.linesPlanned
    const ends =
      repeated ??
      endsOf({ ...situation, newVersion }, key, {
        operation,
        parameters,
        revert
      })
    const { end, stage, text } = ends
    const progress = { runs: [], isStoredTogether: false, result: null }
    lines.push({ number: lines.length + 1, key, stage, end, text, sourceLine: null, ...progress })
  }
  return record(world, {
    supplier,
    organisation: owners.get(supplier) ?? own,
    operation,
    parameters,
    revert,
    maxFailures: random.chance(0.2) ? random.below(3) : null,
    retried: null,
    lines
  })
}

/** The failed lines of a batch once more. */
const planRetry = (world: World, retried: BatchRecord): BatchRecord =>
  record(world, {
    ...retried,
    retried,
    lines: linesToRetry(retried).map((line, index) => ({
      ...line,
      number: index + 1,
      sourceLine: line.number,
      runs: [],
      isStoredTogether: false,
      result: null
    }))
  })

const askFor = Effect.fnUntraced(function* (world: World, batch: BatchRecord, action: BatchAction) {
  const { key, name, organisation } = batch
  const isCreation = action.does === "create"
  return yield* ask(
    world,
    { kind: "batch", batch: name, action },
    { organisation, repeats: null, key: isCreation ? key : null }
  )
})

/** A part of the lines, which may begin with lines that were received. */
const uploadOf = ({ random }: World, { heard, lines }: BatchRecord): BatchAction => {
  const first = random.chance(0.3) ? random.below(heard.received + 1) : heard.received
  const part = lines.slice(first, first + 1 + random.below(lines.length - first))
  return {
    does: "upload",
    from: first + 1,
    lines: part.map(({ text }) => text),
    breaks: random.chance(0.15)
  }
}

const isEnded = ({ heard }: BatchRecord): boolean => /^(COMPLETED|CANCELLED)/.test(heard.state)

/** What the client of the batch does next. */
const nextOf = (world: World, batch: BatchRecord): BatchAction => {
  const { random } = world
  const { heard, lines, retried } = batch
  const reads = random.chance(0.5) ? "read" : "results"
  if (!heard.known) return { does: "create" }
  if (isEnded(batch)) return { does: reads }
  const isWhole = retried !== null || heard.received === lines.length
  const rest: ReadonlyArray<readonly [number, BatchAction]> = [
    [1, { does: reads }],
    [0.25, { does: "cancel" }]
  ]
  if (heard.state === "OPEN") {
    return random.weighted<BatchAction>([
      ...rest,
      isWhole ? [6, { does: "start", lines: lines.length }] : [6, uploadOf(world, batch)],
      [0.2, { does: "start", lines: lines.length }]
    ])
  }
  return random.weighted<BatchAction>([
    ...rest,
    [heard.state === "PAUSED" ? 2 : 0.1, { does: "resume" }],
    [0.4, { does: "pause" }]
  ])
}

const mayRetry = (batch: BatchRecord): boolean =>
  isEnded(batch) && batch.lines.every(({ result }) => result !== null) && countsOf(batch).failed > 0

const isAsked = ({ running }: World, { heard, name }: BatchRecord): boolean => {
  const asked = [...running].filter(({ order }) => order.kind === "batch" && order.batch === name)
  return asked.length >= (heard.known ? 2 : 1)
}

/**
 * The answer to the creation is kept for a day. A client that has none by then looks for its batch.
 */
const lookUp = (world: World, batch: BatchRecord): void => {
  const first = world.requests.find(({ keyed }) => keyed?.key === batch.key)
  const isOld = first !== undefined && world.time.now() - first.at > 12 * hour
  if (!isOld || batch.heard.known) return
  batch.heard.known = batch.id !== null
  batch.heard.refused = batch.id === null
}

/** A client of a batch sends a request; it may create a new batch. */
const batchClientAsks = Effect.fnUntraced(function* (world: World, situation: Situation) {
  const { batches, random } = world
  for (const batch of batches) lookUp(world, batch)
  const alive = batches.filter((batch) => !batch.heard.refused && !isAsked(world, batch))
  const isNew = batches.length < mostBatches && random.chance(batches.length === 0 ? 1 : 0.15)
  const retried = batches.filter(mayRetry)
  if (!isNew && alive.length === 0) return undefined
  if (!isNew) {
    const batch = random.pick(alive)
    return yield* askFor(world, batch, nextOf(world, batch))
  }
  const batch =
    retried.length > 0 && random.chance(0.7)
      ? planRetry(world, random.pick(retried))
      : plan(world, situation)
  for (const { end, stage } of batch.lines) bringDocuments(world, stage ?? end)
  return yield* askFor(world, batch, { does: "create" })
})

const works = ({ running }: World): number =>
  [...running].filter(({ order }) => order.kind === "work").length

/** A batch that was started before anything goes wrong. */
export const beginBatch = Effect.fnUntraced(function* (
  world: World,
  situation: Situation,
  finish: (world: World) => Effect.Effect<void>
) {
  const batch = plan(world, situation)
  const lines = batch.lines.map(({ text }) => text)
  for (const { end, stage } of batch.lines) bringDocuments(world, stage ?? end)
  const actions: ReadonlyArray<BatchAction> = [
    { does: "create" },
    { does: "upload", from: 1, lines, breaks: false },
    { does: "start", lines: lines.length }
  ]
  for (const action of actions) {
    yield* askFor(world, batch, action)
    yield* finish(world)
  }
})

/** A worker works. */
export const workerWorks = (world: World, task: Order<"work">["task"]) =>
  ask(world, { kind: "work", task }, { organisation: own, repeats: null })

const liveSessions = ({ sessions }: World): ReadonlyArray<ChunkSession> =>
  sessions.filter(({ isOver }) => !isOver)

/** The storage gives the lines of a worker to others. */
const endSession = Effect.fnUntraced(function* (world: World, session: ChunkSession) {
  const { chunk, request } = session
  log(world, `the lines that r${request.id} has in hand are free`)
  if (request.instance.crashed) world.storage.countDeath?.(chunk)
  Effect.runForkWith(surroundingsOf(world, request))(session.end)
  yield* world.backend.settle(world.time, world.scheduler)
})

/** The lines of a worker that has crashed are free. */
export const freeLines = Effect.fnUntraced(function* (world: World) {
  const session = liveSessions(world).find(({ request }) => request.instance.crashed)
  if (session !== undefined) yield* endSession(world, session)
})

/** A worker freezes, so that it loses its lines, and continues later. */
export const overtakeWorker = Effect.fnUntraced(function* (world: World) {
  const live = liveSessions(world).filter(({ request }) => request.ended === null)
  if (live.length === 0) return
  const session = world.random.pick(live)
  const { request } = session
  const until = world.steps + 4 + world.random.below(30)
  for (const asked of world.running) {
    const isItsLine = asked.line !== null && asked.instance === request.instance
    if (asked === request || isItsLine) asked.frozenUntil = until
  }
  log(world, `r${request.id} stands still until step ${until}`)
  yield* endSession(world, session)
})

/** A client sends a request about an import of which a worker holds a line. */
const meetWorker = (world: World, situation: Situation, chunks: ReadonlyArray<ChunkSession>) => {
  const { chunk } = world.random.pick(chunks)
  const { lines } = batchOf(world.batches, chunk.batch.id)
  const keys = chunk.lines.flatMap(({ line }) => lines[line - 1]?.key ?? [])
  const conditions = { ...situation.conditions, hot: 0 }
  const key = keyFor(situation)
  const order = clientsOrder({ ...situation, keys, conditions })
  const organisation = owners.get(chunk.batch.settings.supplier) ?? own
  return ask(world, order, { organisation, repeats: null, key })
}

/** What happens beside the other clients, each with its weight. */
export const batchEvents = (
  world: World,
  situation: () => Situation
): ReadonlyArray<readonly [number, () => Effect.Effect<unknown>]> => {
  if (!world.conditions.batches) return []
  const { conditions, random, sessions } = world
  const alive = liveSessions(world).filter(({ request }) => !request.instance.crashed)
  const canWork = works(world) < 3 && world.batches.some(({ id }) => id !== null)
  const isOrphaned = sessions.some(({ isOver, request }) => !isOver && request.instance.crashed)
  return [
    [3, () => batchClientAsks(world, situation())],
    [canWork ? 3 : 0, () => workerWorks(world, "lines")],
    [canWork ? 0.6 : 0, () => workerWorks(world, random.chance(0.5) ? "cancelLines" : "review")],
    [isOrphaned ? 1 : 0, () => freeLines(world)],
    [alive.length > 0 ? 0.3 : 0, () => overtakeWorker(world)],
    [alive.length > 0 ? 1 : 0, () => meetWorker(world, situation(), alive)],
    [
      alive.length > 0 && conditions.weights.crash > 0 ? 0.3 : 0,
      () => crash(world, random.pick(alive).request.instance)
    ]
  ]
}
