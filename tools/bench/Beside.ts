/**
 * How a batch affects a single endpoint: status requests through the gateway, at a rate far below
 * its capacity, while a batch of IMPORT runs and while it is paused, in turn.
 */
import { Duration, Effect } from "effect"
import * as BatchClient from "./BatchClient.ts"
import { type Comparison, inTurn, summary } from "./Comparison.ts"
import { install, type Server } from "./Installation.ts"
import type { Section } from "./Results.ts"
import * as Subjects from "./Subjects.ts"
import { short, table } from "./Table.ts"
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

/** Enough lines that the batch outlasts the requests. */
const lines = 100_000

const pairs = 6
const amount = { connections: 8, rate: 100, seconds: 8 }
const warmingConnections = 32

/** A worker ends the chunk in hand after a pause, and finds a resumed batch. */
const changeover = Duration.seconds(2)

export interface Measured {
  readonly workers: number
  /** With the batch against without. */
  readonly comparison: Comparison
}

export const measure = Effect.fnUntraced(function* ({ client, subject, workers }: System) {
  const status = Subjects.measure(Subjects.throughGateway(subject), "status", amount)
  yield* Subjects.warmUp(subject, "status", warmingConnections)
  const id = yield* client.create("IMPORT")
  yield* client.upload(id, lines, BatchClient.accountLine)
  yield* client.start(id, lines)
  const changed = (change: Effect.Effect<unknown>) =>
    Effect.andThen(change, Effect.sleep(changeover))
  yield* changed(client.pause(id))
  const beside = Effect.acquireUseRelease(
    changed(client.resume(id)),
    () => status,
    () => changed(client.pause(id))
  )
  const comparison = summary(yield* inTurn(pairs, beside, status))
  const { remaining } = yield* client.counts(id)
  if (remaining === 0) throw new Error(`A batch of ${lines} lines ended before the requests did`)
  yield* client.cancel(id)
  yield* client.follow(id)
  return { workers, comparison } satisfies Measured
})

const workersOf = ({ workers }: Measured): string =>
  workers === 1 ? "one worker" : `${workers} workers`

const batch = `a batch of ${lines.toLocaleString("en-GB")}`

export const judge = (measured: Measured): Judged => ({
  what: `status beside ${batch}, ${workersOf(measured)}: p99, of that without`,
  goal: { most: 2 },
  value: measured.comparison.ratioOf.p99
})

export const section = (measured: ReadonlyArray<Measured>): Section => ({
  title: `Status requests, ${amount.rate} a second, beside ${batch}`,
  text: table(
    ["", "p50 ms", "p99 ms", "pairs"],
    measured.flatMap((one) => {
      const { other, ours, pairs: taken } = one.comparison
      return [
        [`${workersOf(one)}, idle`, short(other.p50), short(other.p99), String(taken)],
        [`${workersOf(one)}, busy`, short(ours.p50), short(ours.p99), String(taken)]
      ]
    })
  )
})
