/** All storage ports on one database, for whoever stands on more than one of them. */
import { Layer } from "effect"
import * as Accounts from "./Accounts.ts"
import * as Allowances from "./Allowances.ts"
import * as ApiKeys from "./ApiKeys.ts"
import * as Database from "./Database.ts"
import * as History from "./History.ts"
import * as IdempotencyKeys from "./IdempotencyKeys.ts"
import * as ImportProcesses from "./ImportProcesses.ts"
import * as OperatorSetup from "./OperatorSetup.ts"

/** The ports on a database that is provided. */
export const layerPorts = Layer.mergeAll(
  Accounts.layer,
  Allowances.layer,
  ApiKeys.layer,
  History.layer,
  IdempotencyKeys.layer,
  ImportProcesses.layer,
  OperatorSetup.layer
)

/**
 * The ports and their database, which the environment names, and its clock: what stands on this
 * layer goes by the database's time.
 */
export const layer = layerPorts.pipe(
  Layer.provideMerge(Database.layerClock),
  Layer.provideMerge(Database.layer)
)
