/** Every scenario, in the order in which they run. */
import type { Scenario } from "./Scenario.ts"
import { batchFrozen } from "./scenarios/BatchFrozen.ts"
import { batchKills } from "./scenarios/BatchKills.ts"
import { onePair } from "./scenarios/ConcurrentProcesses.ts"
import { absences } from "./scenarios/DatabaseUnavailable.ts"
import { deadWorkers } from "./scenarios/DeadWorkers.ts"
import { dryRuns } from "./scenarios/DryRuns.ts"
import { hostileTenant } from "./scenarios/HostileTenant.ts"
import { lostAnswers } from "./scenarios/LostAnswers.ts"
import { overloads } from "./scenarios/Overload.ts"
import { restoreToPoint } from "./scenarios/Restore.ts"
import { slowClients } from "./scenarios/SlowClients.ts"
import { underWriters } from "./scenarios/UnderWriters.ts"
import { vendorAnswers } from "./scenarios/VendorAnswers.ts"
import { webhookKills } from "./scenarios/WebhookKills.ts"
import { worstBodies } from "./scenarios/WorstBodies.ts"

export const scenarios: ReadonlyArray<Scenario> = [
  ...underWriters,
  ...lostAnswers,
  vendorAnswers,
  deadWorkers,
  onePair,
  dryRuns,
  ...overloads,
  ...absences,
  batchKills,
  batchFrozen,
  hostileTenant,
  webhookKills,
  slowClients,
  worstBodies,
  restoreToPoint
]
