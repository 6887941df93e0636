/** What storage of batches must do with lines whose worker died, for its contract. */
import { expect, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import type { LineEnd } from "../src/batch/BatchLine.ts"
import * as Counts from "../src/batch/Counts.ts"
import type { Batches } from "../src/ports/Batches.ts"
import type { Configuration } from "../src/ports/Configuration.ts"
import { type IdempotencyKeys, ReservationLost } from "../src/ports/IdempotencyKeys.ts"
import type { Reservation } from "../src/requests/IdempotencyKey.ts"
import { keptText, keyOf } from "../src/requests/LineKey.ts"
import { cancelled, createFor, found, resultsOf, started, taken } from "./begunBatches.ts"
import { expectSame, noon } from "./freshNames.ts"
import { freshKeyed, keepAs, reserve } from "./keyedRequests.ts"

type It = Vitest.MethodsNonLive<Batches | Configuration | IdempotencyKeys>

const endedAs = (outcome: LineEnd["outcome"]) => ({ outcome, text: JSON.stringify({ outcome }) })

export const dying = (it: It): void => {
  it.effect("ends a line of a cancelled batch as its worker had ended it before it died", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b", "c"])
      yield* Effect.scoped(taken())
      const keys = [keyOf(batch.id, 1, "end"), keyOf(batch.id, 2, "end")]
      const requests = keys.map((key) => ({ ...freshKeyed(batch.caller.organisation), key }))
      const [done, begun] = yield* Effect.forEach(requests, (request) => reserve(request))
      const kept = keepAs(done?.reservation as Reservation, keptText(endedAs("SUCCEEDED")))
      yield* createFor(batch, { keep: kept })
      yield* cancelled(batch)
      const { counts, finishedAt } = yield* found(batch)
      expectSame(counts, { ...Counts.none, received: 3, succeeded: 1, cancelled: 2 })
      expect(finishedAt).toEqual(noon)
      expect((yield* resultsOf(batch, { outcome: "SUCCEEDED" })).lines).toEqual([1])
      // The worker that had begun the second line stores nothing any more.
      const late = keepAs(begun?.reservation as Reservation, "late")
      expect(yield* Effect.flip(createFor(batch, { keep: late }))).toBeInstanceOf(ReservationLost)
    })
  )
}
