/** `check` reports for every line what the server answers, in the same words and order. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { compare } from "../comparison/Comparison.ts"
import { startServer } from "../comparison/Server.ts"

it.live(
  "gives the server's answers to 300 valid, broken and hostile lines",
  () =>
    Effect.gen(function* () {
      const server = yield* startServer
      const compared = yield* compare(server, { count: 300, seed: 1, threads: 2 })
      expect(compared.differences).toEqual([])
      expect(compared.lines).toBe(300)
      expect(compared.failed).toBeGreaterThan(150)
      expect(compared.failed).toBeLessThan(285)
    }),
  120_000
)
