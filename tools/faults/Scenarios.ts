/** Every scenario, in the order in which they run. */
import type { Scenario } from "./Scenario.ts"
import { kills } from "./scenarios/Kills.ts"

export const scenarios: ReadonlyArray<Scenario> = [...kills]
