/** `check` reports for every line what the server answers, in the same words and order. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { compare } from "../comparison/Comparison.ts"
import { startServer } from "../comparison/Server.ts"

it.live(
  "gives the server's answers to 500 valid, broken and hostile lines",
  () =>
    Effect.gen(function* () {
      const server = yield* startServer
      const compared = yield* compare(server, { count: 500, seed: 1, threads: 2 })
      expect(compared.differences).toEqual([])
      expect(compared.lines).toBe(500)
      expect(compared.failed).toBeGreaterThan(250)
      expect(compared.failed).toBeLessThan(475)
    }),
  120_000
)
