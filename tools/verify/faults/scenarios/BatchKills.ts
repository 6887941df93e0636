/**
 * SIGKILL within batches: of the batches service while it receives an upload, and of the worker and
 * of PostgreSQL while lines are processed. The scenario restarts what it has killed. The client
 * continues the upload after the lines that were received.
 */
import { Duration, Effect } from "effect"
import { System } from "@data-import/testbed/System"
import { endedOf, watch } from "../BatchClient.ts"
import { inHand, prepare, takenOver, verifyBatch } from "../BatchWork.ts"
import { killPostgres, killService, type Scenario } from "../Scenario.ts"
import { begin, settle } from "../Work.ts"

/** Seconds in which lines of a dead worker must be processed again. */
export const takeoverLimit = 10

export const batchKills: Scenario = {
  name: "batch-kills",
  about: "SIGKILL of the batches service, the batch worker and PostgreSQL within a batch",
  short: { kills: 2, count: 1_000 },
  long: { kills: 20, count: 20_000 },
  run: Effect.fnUntraced(function* ({ count, kills }) {
    const system = yield* System
    const { random } = system
    const work = yield* begin()
    const { batch, lines } = yield* prepare(work, "K", count)
    yield* watch(batch)

    const drawn = (times: number) =>
      Array.from({ length: times }, () => random.between(0, Math.floor(count * 0.9))).toSorted(
        (one, other) => one - other
      )
    const killAt = drawn(kills)
    let restarts = Promise.resolve()
    let isUp = true
    const sent = (line: number) => {
      if (!isUp || line <= (killAt[0] ?? Infinity)) return
      killAt.shift()
      isUp = false
      const again = Effect.provideService(killService("batches"), System, system)
      restarts = Effect.runPromise(Effect.orDie(again)).then(() => void (isUp = true))
    }
    const uploads = yield* batch.upload(lines, sent)
    yield* Effect.promise(() => restarts)
    yield* batch.start(count)

    const recoveries: Array<number> = []
    for (const [index, lines] of drawn(2 * kills).entries()) {
      yield* batch.until((seen) => endedOf(seen) >= lines)
      yield* Effect.sleep(Duration.millis(random.between(0, 300)))
      const chunks = yield* inHand(batch.id)
      yield* index % 2 === 0 ? killService("batch-worker") : killPostgres
      recoveries.push(yield* takenOver(batch.id, chunks))
    }
    yield* batch.ended
    const accounts = yield* verifyBatch(batch, lines, work.writes, work.findings)
    const figures = [
      { name: "lines", value: count, unit: "" },
      { name: "accounts", value: accounts, unit: "" },
      { name: "uploads", value: uploads, unit: "", atLeast: 1 + kills },
      { name: "answers with counts", value: batch.answers, unit: "" }
    ]
    return { ...(yield* settle(work)), recoveries, recoveryLimit: takeoverLimit, figures }
  })
}
