/**
 * A network between the services and PostgreSQL that is slow, silent, resets connections or refuses
 * them, again and again under writers. Once it is well again the services must be so, alone.
 */
import { Duration, Effect } from "effect"
import type { Chance } from "../Chance.ts"
import type { Mode } from "../Proxy.ts"
import type { Pulse, Stalled } from "../Pulse.ts"
import { allAnswer, type Scenario, seconds, settle, work } from "../Scenario.ts"
import { System } from "../System.ts"

interface Phase {
  readonly mode: Mode
  /** For how long: until so much was felt of it, or for a time where nothing can be felt. */
  readonly lasts: (pulse: Pulse, chance: Chance) => Effect.Effect<void, Stalled>
}

const phases: ReadonlyArray<Phase> = [
  { mode: { _tag: "Slow", millis: 20 }, lasts: (pulse) => pulse.more("account-import", 32) },
  { mode: { _tag: "Reset" }, lasts: (pulse) => pulse.more("refusal", 32) },
  {
    mode: { _tag: "Silent" },
    lasts: (_, chance) => Effect.sleep(Duration.millis(chance.between(500, 2_500)))
  },
  { mode: { _tag: "Refuse" }, lasts: (pulse) => pulse.more("refusal", 32) }
]

export const databaseFaults: Scenario = {
  name: "database-network",
  about: "the network to PostgreSQL is slow, silent, reset and refused, under 16 writers",
  short: { kills: 1, count: 0 },
  long: { kills: 20, count: 0 },
  proxied: true,
  run: Effect.fnUntraced(function* ({ kills }) {
    const { chance, databaseProxy } = yield* System
    const working = yield* work({})
    const { pulse } = working.traffic
    yield* Effect.addFinalizer(() => Effect.promise(() => databaseProxy.set({ _tag: "Pass" })))
    const recoveries: Array<number> = []
    for (const { lasts, mode } of Array.from({ length: kills }, () => phases).flat()) {
      yield* pulse.more("account-import", chance.between(10, 60))
      yield* Effect.promise(() => databaseProxy.set(mode))
      yield* lasts(pulse, chance)
      yield* Effect.promise(() => databaseProxy.set({ _tag: "Pass" }))
      recoveries.push(yield* seconds(allAnswer(pulse)))
    }
    yield* working.traffic.finish
    const repeats = { name: "sent again", value: working.traffic.repeats(), unit: "times" }
    return { ...(yield* settle(working)), recoveries, figures: [repeats] }
  })
}
