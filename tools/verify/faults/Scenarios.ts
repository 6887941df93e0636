/** Every scenario, in the order in which they run. */
import type { Scenario } from "./Scenario.ts"
import { batchAway } from "./scenarios/BatchAway.ts"
import { batchControls } from "./scenarios/BatchControls.ts"
import { batchDiskFull } from "./scenarios/BatchDiskFull.ts"
import { batchFairness } from "./scenarios/BatchFairness.ts"
import { batchFrozen } from "./scenarios/BatchFrozen.ts"
import { batchKills } from "./scenarios/BatchKills.ts"
import { absences } from "./scenarios/DatabaseUnavailable.ts"
import { deadWorkers } from "./scenarios/DeadWorkers.ts"
import { diskFull } from "./scenarios/DiskFull.ts"
import { dryRuns } from "./scenarios/DryRuns.ts"
import { hostileTenant } from "./scenarios/HostileTenant.ts"
import { kills } from "./scenarios/Kills.ts"
import { lockedImport } from "./scenarios/LockedImport.ts"
import { lostAnswers } from "./scenarios/LostAnswers.ts"
import { networks } from "./scenarios/Networks.ts"
import { onePair } from "./scenarios/ConcurrentProcesses.ts"
import { overloads } from "./scenarios/Overload.ts"
import { restoreToPoint } from "./scenarios/Restore.ts"
import { rollingRestart, rolloutAtOnce } from "./scenarios/RollingRestart.ts"
import { slowClients } from "./scenarios/SlowClients.ts"
import { vendorAnswers } from "./scenarios/VendorAnswers.ts"
import { webhookKills } from "./scenarios/WebhookKills.ts"
import { worstBodies } from "./scenarios/WorstBodies.ts"

export const scenarios: ReadonlyArray<Scenario> = [
  ...kills,
  ...lostAnswers,
  ...networks,
  vendorAnswers,
  diskFull,
  deadWorkers,
  onePair,
  lockedImport,
  dryRuns,
  ...overloads,
  ...absences,
  batchKills,
  batchFrozen,
  batchControls,
  batchAway,
  batchDiskFull,
  batchFairness,
  hostileTenant,
  webhookKills,
  slowClients,
  worstBodies,
  rollingRestart,
  rolloutAtOnce,
  restoreToPoint
]
