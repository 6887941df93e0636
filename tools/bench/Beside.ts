/**
 * How a batch affects a single endpoint: status requests through the gateway, at a rate far below
 * its capacity, before a batch of IMPORT and while it runs.
 */
import { Effect } from "effect"
import * as BatchClient from "./BatchClient.ts"
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

const amount = { connections: 8, rate: 100, seconds: 20 }
const warmingConnections = 32

export const measure = Effect.fnUntraced(function* ({ client, subject, workers }: System) {
  const status = Subjects.measure(Subjects.throughGateway(subject), "status", amount)
  yield* Subjects.warmUp(subject, "status", warmingConnections)
  const without = yield* status
  const id = yield* client.create("IMPORT")
  yield* client.upload(id, lines, BatchClient.accountLine)
  yield* client.start(id, lines)
  const beside = yield* status
  const { remaining } = yield* client.counts(id)
  if (remaining === 0) throw new Error(`A batch of ${lines} lines ended before the requests did`)
  yield* client.cancel(id)
  yield* client.follow(id)
  return { workers, without, beside }
})

type Measured = Effect.Success<ReturnType<typeof measure>>

const workersOf = ({ workers }: Measured): string =>
  workers === 1 ? "one worker" : `${workers} workers`

const batch = `a batch of ${lines.toLocaleString("en-GB")}`

export const judge = (measured: Measured): Judged => ({
  what: `status beside ${batch}, ${workersOf(measured)}: p99, of that without`,
  goal: { most: 2 },
  value: measured.beside.p99 / measured.without.p99
})

export const section = (measured: ReadonlyArray<Measured>): Section => ({
  title: `Status requests, ${amount.rate} a second, beside ${batch}`,
  text: table(
    ["", "p50 ms", "p99 ms"],
    measured.flatMap((one) => [
      [`${workersOf(one)}, idle`, short(one.without.p50), short(one.without.p99)],
      [`${workersOf(one)}, busy`, short(one.beside.p50), short(one.beside.p99)]
    ])
  )
})
