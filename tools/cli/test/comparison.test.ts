/** `check` reports for every line what the server answers, in the same words and order. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { compare } from "../comparison/Comparison.ts"
import { startServer } from "../comparison/Server.ts"

it.live(
  "gives the server's answers to 2,000 valid, broken and hostile lines",
  () =>
    Effect.gen(function* () {
      const server = yield* startServer
      const compared = yield* compare(server, { count: 2_000, seed: 1, threads: 2 })
      expect(compared.differences).toEqual([])
      expect(compared.lines).toBe(2_000)
      expect(compared.failed).toBeGreaterThan(1_000)
      expect(compared.failed).toBeLessThan(1_900)
    }),
  120_000
)
