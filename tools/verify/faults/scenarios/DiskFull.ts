/**
 * A full disk under PostgreSQL. First there is no room for rows: writes are refused, and reads are
 * answered. Then there is no room for the write-ahead log either, which ends the server. A
 * supervisor restarts it until there is room, and the rest recovers without help.
 */
import { Data, Duration, Effect } from "effect"
import type { Disk } from "@data-import/testbed/Disk"
import * as Requests from "../Requests.ts"
import {
  allAnswer,
  type Scenario,
  seconds,
  settle,
  startWorkload,
  type Workload,
  writers
} from "../Scenario.ts"
import * as Session from "../Session.ts"
import { quantile } from "@data-import/testbed/Quantile"
import { System } from "@data-import/testbed/System"

/** A new cluster takes 40 MB; the rows of a long run and their log take more than 200 MB. */
export const diskMegabytes = 512

/** This scenario is for a system whose disk can be filled. */
export class NoDisk extends Data.TaggedError("NoDisk") {
  override get message(): string {
    return "the system has no disk to fill"
  }
}

const pause = Duration.millis(100)

/** Starts PostgreSQL whenever it does not run, until the scope ends; returns how often that was. */
export const supervised = Effect.gen(function* () {
  const { postgres } = yield* System
  let ends = 0
  const supervise = Effect.gen(function* () {
    if (yield* postgres.isRunning) return
    ends++
    // A start fails while the disk is full; the supervisor tries again.
    while ((yield* Effect.result(postgres.start))._tag === "Failure") yield* Effect.sleep(pause)
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(supervise, Effect.sleep(pause))))
  return () => ends
})

/** Writes to the write-ahead log until the disk is full, which stops the server. */
const endLog = Effect.gen(function* () {
  const { run, sql } = (yield* System).database
  const write = run(
    sql`select pg_logical_emit_message(false, 'faults', repeat('x', 1000000))::text`
  )
  yield* Effect.ignore(Effect.forever(write))
})

const round = Effect.fnUntraced(function* (
  disk: Disk,
  working: Workload,
  session: Session.Session
) {
  const { random } = yield* System
  const { findings, tenant, traffic } = working
  yield* traffic.probe.more("account-import", random.between(10, 60))
  yield* disk.fill
  yield* traffic.probe.more("refusal", 2 * writers)
  const number = traffic.writes.entries[0]?.number ?? ""
  const { status } = yield* session.send(Requests.status(tenant, number))
  if (status !== 200) findings.add("wrong", `${number} is answered ${status} on a full disk`)
  yield* endLog
  yield* Effect.sleep(Duration.millis(random.between(500, 2_000)))
  yield* disk.free
  return yield* seconds(allAnswer(traffic.probe))
})

export const diskFull: Scenario = {
  name: "disk-full",
  about: `a disk of ${diskMegabytes} MB is full under 16 writers, first for rows, then for the log`,
  short: { kills: 1, count: 0 },
  long: { kills: 20, count: 0 },
  diskMegabytes,
  run: Effect.fnUntraced(function* ({ kills }) {
    const { disk } = yield* System
    if (disk === undefined) return yield* new NoDisk()
    const ends = yield* supervised
    yield* Effect.addFinalizer(() => disk.free)
    const working = yield* startWorkload({})
    const session = yield* Session.open(working.tenant, 1)
    const rounds = Array.from({ length: kills }, () => round(disk, working, session))
    const recoveries = yield* Effect.all(rounds)
    yield* working.traffic.finish
    const refusals = working.traffic.refusals().map(({ millis }) => millis)
    const figures = [
      { name: "PostgreSQL ended", value: ends(), unit: "times" },
      { name: "refused", value: refusals.length, unit: "times" },
      { name: "median of refusals", value: quantile(refusals, 0.5), unit: "ms" },
      { name: "p99", value: quantile(refusals, 0.99), unit: "ms" }
    ]
    return { ...(yield* settle(working)), recoveries, figures }
  })
}
