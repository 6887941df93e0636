/** Every scenario, in the order in which they run. */
import type { Scenario } from "./Scenario.ts"
import { absences } from "./scenarios/Away.ts"
import { databaseFaults } from "./scenarios/DatabaseFaults.ts"
import { deadWorkers } from "./scenarios/DeadWorkers.ts"
import { dryRuns } from "./scenarios/DryRuns.ts"
import { kills } from "./scenarios/Kills.ts"
import { lostAnswers } from "./scenarios/LostAnswers.ts"
import { onePair } from "./scenarios/OnePair.ts"
import { overloads } from "./scenarios/Overload.ts"

export const scenarios: ReadonlyArray<Scenario> = [
  ...kills,
  ...lostAnswers,
  databaseFaults,
  deadWorkers,
  onePair,
  dryRuns,
  ...overloads,
  ...absences
]
