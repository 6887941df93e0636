/**
 * Batches that are paused, resumed and cancelled while their worker or PostgreSQL is killed. A
 * paused batch does not change, and a cancelled one ends soon, with every line accounted for.
 */
import { Duration, Effect } from "effect"
import { System } from "@data-import/testbed/System"
import { type BatchClient, endedOf, watch } from "../BatchClient.ts"
import { prepare, verifyBatch } from "../BatchWork.ts"
import { killPostgres, killService, type Scenario, seconds } from "../Scenario.ts"
import { begin, settle, type Work } from "../Work.ts"

/**
 * Seconds until a cancelled batch has no lines left, including the restart of the killed process.
 */
const cancelLimit = 10

/** For this time no line of a paused batch may end. */
const quiet = Duration.seconds(1)

/** Waits for less time than the other half of the batch takes. */
const progress = Effect.fnUntraced(function* (batch: BatchClient, count: number) {
  const { random } = yield* System
  const before = endedOf(yield* batch.read())
  const least = Math.min(before + random.between(1, count / 4), count / 2)
  yield* batch.until((seen) => endedOf(seen) >= least)
  yield* Effect.sleep(Duration.millis(random.between(0, 100)))
})

/** Kills the worker or PostgreSQL, and acts at the same time. */
const strike = Effect.fnUntraced(function* (
  batch: BatchClient,
  action: Parameters<BatchClient["act"]>[0]
) {
  const { random } = yield* System
  const worker: Effect.Effect<void, Error, System> = killService("batch-worker")
  const kill = random.chance(0.7) ? worker : killPostgres
  const acting = Effect.delay(batch.act(action), Duration.millis(random.between(0, 50)))
  const killing = Effect.delay(kill, Duration.millis(random.between(0, 50)))
  yield* Effect.all([acting, killing], { concurrency: "unbounded" })
})

/** One batch, paused and resumed twice, and then cancelled or left to its end. */
const round = Effect.fnUntraced(function* (work: Work, index: number, count: number) {
  const { batch, lines } = yield* prepare(work, `C${index}`, count)
  yield* watch(batch)
  yield* batch.upload(lines)
  yield* batch.start(count)
  yield* progress(batch, count)
  yield* strike(batch, "pause")
  const paused = yield* batch.read()
  yield* Effect.sleep(quiet)
  const later = yield* batch.read()
  if (paused.state !== "PAUSED" || later.state !== "PAUSED") {
    work.findings.add("wrong", `a paused batch is ${paused.state}, then ${later.state}`)
  }
  yield* strike(batch, "resume")
  const isCancelled = index % 2 === 0
  if (isCancelled) yield* progress(batch, count)
  const cancelling = Effect.andThen(strike(batch, "cancel"), batch.ended)
  const closing = isCancelled ? yield* seconds(cancelling) : 0
  const ended = yield* batch.ended
  const accounts = yield* verifyBatch(batch, lines, work.writes, work.findings, isCancelled)
  return { accounts, cancelled: ended.counts.cancelled, closing }
}, Effect.scoped)

export const batchControls: Scenario = {
  name: "batch-controls",
  about: "batches are paused, resumed and cancelled while the worker or PostgreSQL is killed",
  short: { kills: 1, count: 2_000 },
  long: { kills: 20, count: 2_000 },
  run: Effect.fnUntraced(function* ({ count, kills }) {
    const work = yield* begin()
    const indices = Array.from({ length: kills }, (_, index) => index)
    const rounds = yield* Effect.forEach(indices, (index) => round(work, index, count))
    const sum = (of: (round: (typeof rounds)[number]) => number) =>
      rounds.reduce((all, each) => all + of(each), 0)
    const figures = [
      { name: "batches", value: kills, unit: "" },
      { name: "accounts", value: sum(({ accounts }) => accounts), unit: "" },
      { name: "lines cancelled", value: sum(({ cancelled }) => cancelled), unit: "" }
    ]
    const recoveries = rounds.map(({ closing }) => closing)
    return { ...(yield* settle(work)), recoveries, recoveryLimit: cancelLimit, figures }
  })
}
