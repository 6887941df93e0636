/**
 * How a batch affects a single endpoint: status requests through the gateway, at a rate far below
 * its capacity, while a batch of IMPORT runs and while it is paused, in turn.
 */
import { Duration, Effect } from "effect"
import * as BatchClient from "./BatchClient.ts"
import type { Comparison } from "./Comparison.ts"
import { startServer } from "./Installation.ts"
import type { Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { asInterval, asRatio, short, table } from "./Table.ts"
import type { Judged } from "./Targets.ts"

const lines = 100_000
/** More lines than are done in one run. */
const linesOfRun = 40_000

/** Two saturate the machine; one leaves more of it to the requests. */
const workers = 2

export const pairs = 24
const amount = { connections: 8, rate: 100, seconds: 10 }

/** At a low rate, Node compiles the hot code of a process only within minutes. */
const warming = { lines: 40_000, amount: { connections: 32, seconds: 15 } }

/** A worker ends the chunk in hand after a pause, and finds a resumed batch. */
const changeover = Duration.seconds(2)

const startedBatch = Effect.fnUntraced(function* (client: BatchClient.BatchClient, size: number) {
  const id = yield* client.create("IMPORT")
  yield* client.upload(id, size, BatchClient.accountLine)
  yield* client.start(id, size)
  return id
})

const pausedBatch = Effect.fnUntraced(function* (client: BatchClient.BatchClient) {
  const id = yield* startedBatch(client, lines)
  yield* client.pause(id)
  return id
})

/** A batch that runs and is paused in turn, and is replaced by a new one before it ends. */
const makeBatch = Effect.fnUntraced(function* (client: BatchClient.BatchClient) {
  let id = yield* pausedBatch(client)
  const remaining = Effect.suspend(() =>
    Effect.map(client.counts(id), (counts) => counts.remaining)
  )
  const end = Effect.gen(function* () {
    yield* client.cancel(id)
    yield* client.follow(id)
  })
  const run = Effect.gen(function* () {
    if ((yield* remaining) < linesOfRun) {
      yield* end
      id = yield* pausedBatch(client)
    }
    yield* client.resume(id)
    yield* Effect.sleep(changeover)
  })
  const pause = Effect.gen(function* () {
    if ((yield* remaining) === 0) throw new Error("A batch ended before the requests beside it")
    yield* client.pause(id)
    yield* Effect.sleep(changeover)
  })
  return { run, pause, end }
})

/** Starts the services with a paused batch: requests while it runs, and while it is paused. */
export const start = Effect.gen(function* () {
  const { client, subject } = yield* BatchClient.startSystem(yield* startServer, workers)
  const measured = (of: Subjects.Amount) =>
    Subjects.measure(Subjects.throughGateway(subject), "status", of)
  const first = yield* startedBatch(client, warming.lines)
  yield* measured(warming.amount)
  yield* client.follow(first)
  const batch = yield* Effect.acquireRelease(makeBatch(client), ({ end }) => end)
  const requests = measured(amount)
  const beside = Effect.acquireUseRelease(
    batch.run,
    () => requests,
    () => batch.pause
  )
  return { warmUp: beside, ours: beside, other: requests }
})

const ofLines = `a batch of ${lines.toLocaleString("en-GB")}`

export const judge = ({ ratioOf: { p99 } }: Comparison): Judged => ({
  what: `status beside ${ofLines}: p99, of that without`,
  goal: { most: 2 },
  value: p99.value
})

export const section = ({ other, ours, pairs: taken, ratioOf }: Comparison): Section => ({
  title: `Status requests, ${amount.rate} a second, beside ${ofLines} with ${workers} workers`,
  text: table(
    ["p50 ms", "without", "p99 ms", "without", "ratio", "its interval of 95 %", "pairs"],
    [
      [
        ...[ours.p50, other.p50, ours.p99, other.p99].map(short),
        ...[`**${asRatio(ratioOf.p99)}**`, asInterval(ratioOf.p99), String(taken)]
      ]
    ]
  )
})
