/**
 * How a batch affects a single endpoint: status requests through the gateway, at a rate far below
 * its capacity, while a batch of IMPORT runs and while it is paused, in turn.
 */
import { Duration, Effect } from "effect"
import * as BatchClient from "./BatchClient.ts"
import { type Comparison, inRounds } from "./Comparison.ts"
import { install, type Server } from "./Installation.ts"
import type { Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { asInterval, asRatio, short, table } from "./Table.ts"
import type { Judged } from "./Targets.ts"

export interface System {
  readonly subject: Subjects.Subject
  readonly client: BatchClient.BatchClient
  readonly workers: number
}

/** A separate system with this many workers. */
export const start = Effect.fnUntraced(function* (server: Server, workers: number) {
  const installation = yield* install(server, `batches_${workers}`, { workers })
  const subject = yield* Subjects.services(installation)
  return { subject, client: yield* BatchClient.make(subject), workers } satisfies System
})

const lines = 100_000
/** More lines than are done in one run. */
const linesOfRun = 40_000

const pairs = 24
const amount = { connections: 8, rate: 100, seconds: 10 }

/** At a low rate, Node compiles the hot code of a process only within minutes. */
const warming = { lines: 40_000, amount: { connections: 32, seconds: 15 } }

/** A worker ends the chunk in hand after a pause, and finds a resumed batch. */
const changeover = Duration.seconds(2)

export interface Measured {
  readonly workers: number
  /** With the batch against without. */
  readonly comparison: Comparison
}

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

const sidesOf = Effect.fnUntraced(function* ({ client, subject, workers }: System) {
  const measured = (of: Subjects.Amount) =>
    Subjects.measure(Subjects.throughGateway(subject), "status", of)
  const status = measured(amount)
  const compileHotCode = Effect.gen(function* () {
    const id = yield* startedBatch(client, warming.lines)
    yield* measured(warming.amount)
    yield* client.follow(id)
  })
  const batch = yield* Effect.acquireRelease(makeBatch(client), ({ end }) => end)
  const beside = Effect.acquireUseRelease(
    batch.run,
    () => status,
    () => batch.pause
  )
  const warmUp = (round: number) => (round === 0 ? Effect.andThen(compileHotCode, beside) : beside)
  return { workers, warmUp, ours: beside, other: status }
})

export const measure = Effect.fnUntraced(function* (systems: ReadonlyArray<System>) {
  const results = yield* inRounds(pairs, yield* Effect.forEach(systems, sidesOf))
  return results.map(({ comparison, sides: { workers } }): Measured => ({ workers, comparison }))
}, Effect.scoped)

const workersOf = ({ workers }: Measured): string =>
  workers === 1 ? "one worker" : `${workers} workers`

const ofLines = `a batch of ${lines.toLocaleString("en-GB")}`

export const judge = (measured: Measured): Judged => ({
  what: `status beside ${ofLines}, ${workersOf(measured)}: p99, of that without`,
  goal: { most: 2 },
  value: measured.comparison.ratioOf.p99.value
})

export const section = (measured: ReadonlyArray<Measured>): Section => ({
  title: `Status requests, ${amount.rate} a second, beside ${ofLines}`,
  text: table(
    [
      ...["", "p50 ms", "without", "p99 ms", "without"],
      ...["ratio", "its interval of 95 %", "pairs"]
    ],
    measured.map((one) => {
      const { other, ours, pairs: taken, ratioOf } = one.comparison
      return [
        workersOf(one),
        ...[short(ours.p50), short(other.p50), short(ours.p99), short(other.p99)],
        ...[`**${asRatio(ratioOf.p99)}**`, asInterval(ratioOf.p99), String(taken)]
      ]
    })
  )
})
