/**
 * The short form of the crash tests: one system, one fault after the other, always with the same
 * seed. Recovery times are measured by `npm run test:faults`.
 */
import { expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { line } from "../Report.ts"
import { report, type Sizes } from "../Scenario.ts"
import { scenarios } from "../Scenarios.ts"
import * as System from "@data-import/testbed/System"

const once = { kills: 1, count: 0 }

const sizes: Readonly<Record<string, Sizes>> = {
  "kill-account-import": once,
  "kill-post-import": once,
  "kill-query": once,
  "kill-auth": once,
  "kill-gateway": once,
  "kill-postgres": once,
  "kill-backend": once,
  "lost-answers": { kills: 0, count: 200 },
  "lost-commits": { kills: 0, count: 20 },
  "dead-workers": once,
  "one-pair": { kills: 0, count: 20 },
  "dry-runs": { kills: 0, count: 20 },
  "database-network": once
}

/** Long enough for a machine that has other things to do. */
const limit = Duration.minutes(4)

const chosen = scenarios.filter(({ name }) => name in sizes)

layer(System.layer({ proxied: true, seed: 1 }), { excludeTestServices: true, timeout: limit })(
  "every acknowledged write is stored once and completely",
  (it) => {
    it.effect.each(chosen)(
      "$name: $about",
      (scenario) =>
        Effect.gen(function* () {
          const found = yield* report(scenario, sizes[scenario.name] ?? scenario.short)
          expect(found.findings.described(5), line(found)).toEqual([])
          expect(found.acknowledged).toBeGreaterThan(0)
        }),
      Duration.toMillis(limit)
    )
  }
)
