/** The services and the peer answer every measured request, and neither refuses one. */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { expect } from "vitest"
import { summary } from "../Comparison.ts"
import { measure, start } from "../Subjects.ts"
import { workloadNames } from "../Workloads.ts"

it.live(
  "the services and the peer answer each workload",
  Effect.fnUntraced(function* () {
    const { ours, peer } = yield* start()
    const amount = { connections: 2, seconds: 30, requests: 20 }
    for (const workload of workloadNames) {
      const pair = [
        yield* measure(ours, workload, amount),
        yield* measure(peer, workload, amount)
      ] as const
      const [low, ratio, high] = summary([pair]).ratio
      expect([low, high], workload).toEqual([ratio, ratio])
      expect(ratio, workload).toBeGreaterThan(0)
    }
  }, Effect.scoped),
  120_000
)
