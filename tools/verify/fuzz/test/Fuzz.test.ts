/**
 * The fuzzer on the whole system: all fixed cases, which cause every documented answer. `npm run
 * fuzz` adds random ones.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { casePoolOf } from "../CaseSelection.ts"
import { dayOf } from "../Day.ts"
import { fuzz } from "../Fuzz.ts"
import { report } from "../Report.ts"

const { fixed } = casePoolOf(dayOf(DateTime.nowUnsafe()))
const options = { seed: 1, from: 0, to: fixed.length, concurrency: 8 }

describe("every request to the system", () => {
  it.live(
    "is answered as documented, and every documented answer occurs",
    () =>
      Effect.gen(function* () {
        const fuzzed = yield* fuzz(options)
        expect(fuzzed.failures, report(fuzzed, options)).toEqual([])
        expect(fuzzed.troubles).toEqual([])
        expect(fuzzed.hangs).toBe(0)
        expect(fuzzed.cases).toBe(fixed.length)
        expect(fuzzed.tally.unseen().reachable).toEqual([])
        expect(fuzzed.tally.unseenFieldCodes()).toEqual([])
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
