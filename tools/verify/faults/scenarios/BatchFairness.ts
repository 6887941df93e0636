/**
 * Batches of many suppliers at once. A small batch beside a large one takes at most twice as long
 * as alone, plus a second. Its time beside many is reported.
 */
import { Effect } from "effect"
import { quantile } from "@data-import/testbed/Quantile"
import { System } from "@data-import/testbed/System"
import * as BatchClient from "../BatchClient.ts"
import { linesOf } from "../BatchLines.ts"
import { type Scenario, seconds } from "../Scenario.ts"
import { begin, type Work } from "../Work.ts"

const small = 100

/** More lines than are processed while the small batch runs. */
const large = 2_000

/** An IMPORT batch of a new supplier, with its lines. */
const uploaded = Effect.fnUntraced(function* (work: Work, prefix: string, count: number) {
  const { random } = yield* System
  const { findings, session, tenant } = work
  const batch = yield* BatchClient.create(tenant, session, findings, "IMPORT")
  yield* batch.upload(linesOf(random, prefix, count))
  return batch
})

/** How long a small batch of a new supplier takes, in seconds. */
const smallBatch = Effect.gen(function* () {
  const batch = yield* uploaded(yield* begin(), "S", small)
  return yield* seconds(Effect.andThen(batch.start(small), batch.ended))
})

/** How long it takes beside batches of these numbers of lines, each of a different supplier. */
const beside = Effect.fnUntraced(function* (sizes: ReadonlyArray<number>) {
  const others = yield* Effect.forEach(sizes, (size) =>
    Effect.flatMap(begin(), (work) => uploaded(work, "L", size))
  )
  for (const [index, other] of others.entries()) yield* other.start(sizes[index] ?? 0)
  for (const other of others.slice(0, 2)) yield* other.until(({ state }) => state === "RUNNING")
  const taken = yield* smallBatch
  const unfinished = yield* Effect.filter(others, (other) =>
    Effect.map(other.read(), ({ counts }) => counts.remaining > 0)
  )
  // A batch that completes meanwhile refuses to be cancelled.
  const cancel = (other: BatchClient.BatchClient) =>
    Effect.catchTag(other.act("cancel"), "BatchFailed", () => Effect.void)
  yield* Effect.forEach(unfinished, (other) => Effect.andThen(cancel(other), other.ended))
  return { taken, unfinished: unfinished.length }
})

export const batchFairness: Scenario = {
  name: "batch-fairness",
  about: `a batch of ${small} lines beside one of ${large}, and beside those of many suppliers`,
  short: { kills: 1, count: 4 },
  long: { kills: 5, count: 40 },
  run: Effect.fnUntraced(function* ({ count, kills }) {
    const rounds = Array.from({ length: kills })
    const alone = yield* Effect.forEach(rounds, () => smallBatch)
    const besideOne = yield* Effect.forEach(rounds, () => beside([large]))
    const sizes = Array.from({ length: count - 1 }, (_, index) => small * (2 + (index % 5)))
    const besideMany = yield* beside(sizes)
    const median = (values: ReadonlyArray<number>) => quantile(values, 0.5)
    const [one, other] = [median(alone), median(besideOne.map(({ taken }) => taken))]
    const still = besideOne.filter(({ unfinished }) => unfinished > 0).length
    return {
      acknowledged: small * (2 * kills + 1),
      figures: [
        { name: "alone", value: one, unit: "s" },
        { name: "beside a large one", value: other, unit: "s", atMost: 2 * one + 1 },
        { name: "of which outlasted it", value: still, unit: "", atLeast: kills },
        { name: `beside ${count - 1} suppliers`, value: besideMany.taken, unit: "s" }
      ]
    }
  })
}
