/**
 * The short form of the crash tests: one system, one fault after the other, always with the same
 * seed. PostgreSQL does not wait for the disk, because no fault here loses it. `npm run
 * test:faults` measures recovery times with a durable PostgreSQL. The verification itself is
 * tested: it finds each planted defect, and nothing else.
 */
import { describe, expect, layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { line } from "../Report.ts"
import { report, type Sizes } from "../Scenario.ts"
import { scenarios } from "../Scenarios.ts"
import * as System from "@data-import/testbed/System"
import * as PlantedDefects from "./PlantedDefects.ts"

const once = { kills: 1, count: 0 }

/** One of each kind of fault; `npm run test:long` runs all scenarios. */
const sizes: Readonly<Record<string, Sizes>> = {
  "kill-account-import": once,
  "kill-postgres": once,
  "lost-answers": { kills: 0, count: 30 }
}

/** Long enough for a busy machine. */
const limit = Duration.minutes(4)

const chosen = scenarios.filter(({ name }) => name in sizes)

const kindsOf = (described: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...new Set(described.map((what) => what.split(":", 1)[0] ?? ""))].toSorted()

layer(System.layer({ proxied: true, durable: false, seed: 1 }), {
  excludeTestServices: true,
  timeout: limit
})((it) => {
  describe("every acknowledged write is stored once and completely", () => {
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
  })

  it.layer(PlantedDefects.layer, { timeout: limit })("the verification", (it) => {
    it.effect("finds nothing if accounts were not altered", () =>
      Effect.gen(function* () {
        const { before } = yield* PlantedDefects.Verified
        expect(before.described(Infinity)).toEqual([])
      })
    )

    it.effect.each(PlantedDefects.defects)("finds $found where $what", (defect) =>
      Effect.gen(function* () {
        const described = (yield* PlantedDefects.Verified).of(defect)
        expect(kindsOf(described), described.join("\n")).toEqual(defect.found)
      })
    )

    it.effect("finds an account that no client had sent, and wrong counts", () =>
      Effect.gen(function* () {
        const { others } = yield* PlantedDefects.Verified
        const isSummary = (what: string) => what.startsWith("wrong: the summary of ")
        expect(others.filter((what) => !isSummary(what))).toEqual([
          expect.stringMatching(/^wrong: entry \d+ of the audit log: missing$/),
          `wrong: ${PlantedDefects.unsent} was never sent`
        ])
        expect(others.filter(isSummary)).toContainEqual(expect.stringContaining("all cohorts"))
      })
    )
  })
})
