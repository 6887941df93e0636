/**
 * A worker of batches is frozen while it holds lines, and another one takes them over. The frozen
 * one then resumes, and changes nothing of what was done meanwhile.
 */
import { Duration, Effect } from "effect"
import { System } from "@data-import/testbed/System"
import { endedOf, watch } from "../BatchClient.ts"
import { inHand, prepare, takenOver, verifyBatch } from "../BatchWork.ts"
import type { Scenario } from "../Scenario.ts"
import { begin, settle } from "../Work.ts"
import { takeoverLimit } from "./BatchKills.ts"

/** Longer than the silence after which a worker loses its lines. */
const frozenAtLeast = Duration.seconds(6)

export const batchFrozen: Scenario = {
  name: "batch-frozen",
  about: "one of two batch workers is frozen for some seconds within a batch",
  short: { kills: 1, count: 400 },
  long: { kills: 20, count: 20_000 },
  run: Effect.fnUntraced(function* ({ count, kills }) {
    const { random, services } = yield* System
    const frozen = services["batch-worker"]
    const other = yield* frozen.another
    const thaw = Effect.sync(() => void process.kill(frozen.pid, "SIGCONT"))
    yield* Effect.addFinalizer(() => thaw)
    const work = yield* begin()
    const { batch, lines } = yield* prepare(work, "F", count)
    yield* watch(batch)
    yield* batch.upload(lines)
    yield* batch.start(count)

    const recoveries: Array<number> = []
    let held = 0
    for (let freeze = 0; freeze < kills; freeze++) {
      const least = Math.floor((count * freeze) / kills)
      yield* batch.until((seen) => seen.state !== "QUEUED" && endedOf(seen) >= least)
      yield* Effect.sleep(Duration.millis(random.between(0, 300)))
      process.kill(frozen.pid, "SIGSTOP")
      const chunks = yield* inHand(batch.id)
      held += chunks.length
      if (freeze === 0) yield* other.start()
      yield* Effect.all(
        [
          Effect.map(takenOver(batch.id, chunks), (seconds) => void recoveries.push(seconds)),
          Effect.sleep(Duration.sum(frozenAtLeast, Duration.millis(random.between(0, 2_000))))
        ],
        { concurrency: "unbounded" }
      )
      yield* thaw
    }
    yield* batch.ended
    const accounts = yield* verifyBatch(batch, lines, work.writes, work.findings)
    const figures = [
      { name: "lines", value: count, unit: "" },
      { name: "accounts", value: accounts, unit: "" },
      { name: "chunks in hand when frozen", value: held, unit: "", atLeast: 1 }
    ]
    return { ...(yield* settle(work)), recoveries, recoveryLimit: takeoverLimit, figures }
  })
}
