/**
 * The fuzzer on the whole system: all fixed cases, which cause every documented answer, and some
 * random ones. `npm run fuzz` runs more.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { fuzz } from "../Fuzz.ts"
import { report } from "../Report.ts"

const options = { seed: 1, from: 0, to: 2_000, concurrency: 8, minutes: Infinity }

describe("every request to the system", () => {
  it.live(
    "is answered as documented, and every documented answer occurs",
    () =>
      Effect.gen(function* () {
        const fuzzed = yield* fuzz(options)
        expect(fuzzed.failures, report(fuzzed, options)).toEqual([])
        expect(fuzzed.troubles).toEqual([])
        expect(fuzzed.hangs).toBe(0)
        expect(fuzzed.cases).toBe(2_000)
        expect(fuzzed.tally.unseen().reachable).toEqual([])
        expect(fuzzed.tally.unseenFieldCodes()).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
