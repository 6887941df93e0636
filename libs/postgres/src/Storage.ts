/** All storage ports on one database. */
import { Layer } from "effect"
import * as Accounts from "./accounts/Accounts.ts"
import * as Alerts from "./alerts/Alerts.ts"
import * as Batches from "./batches/Batches.ts"
import * as RehearsalOutcomes from "./batches/RehearsalOutcomes.ts"
import * as BoardSessions from "./access/BoardSessions.ts"
import * as Invitations from "./access/Invitations.ts"
import * as Certificates from "./certificates/Certificates.ts"
import * as Checks from "./checks/Checks.ts"
import * as TokenBuckets from "./access/TokenBuckets.ts"
import * as ApiKeys from "./access/ApiKeys.ts"
import * as AuditLog from "./audit/AuditLog.ts"
import * as SealedAuditLog from "./audit/SealedAuditLog.ts"
import * as Erasures from "./erasure/Erasures.ts"
import * as EventLog from "./events/EventLog.ts"
import * as Webhooks from "./events/Webhooks.ts"
import * as IdempotencyKeys from "./idempotency/IdempotencyKeys.ts"
import * as CohortMoves from "./migrations/CohortMoves.ts"
import * as Comments from "./migrations/Comments.ts"
import * as ControlTotals from "./migrations/ControlTotals.ts"
import * as Forecasts from "./migrations/Forecasts.ts"
import * as ImportProcesses from "./imports/ImportProcesses.ts"
import * as Reverts from "./imports/Reverts.ts"
import * as ImportSearch from "./migrations/ImportSearch.ts"
import * as Migrations from "./migrations/Migrations.ts"
import * as Programme from "./migrations/Programme.ts"
import * as WavePlans from "./migrations/WavePlans.ts"
import * as SupplierChanges from "./migrations/SupplierChanges.ts"
import * as SupplierSummaries from "./migrations/SupplierSummaries.ts"
import * as Sandbox from "./sandbox/Sandbox.ts"
import * as Configuration from "./suppliers/Configuration.ts"
import * as ServiceStorage from "./ServiceStorage.ts"

/** The ports on a database that is provided. */
export const layerPorts = Layer.mergeAll(
  Accounts.layer,
  Alerts.layer,
  TokenBuckets.layer,
  ApiKeys.layer,
  AuditLog.layer,
  Batches.layer,
  RehearsalOutcomes.layer,
  BoardSessions.layer,
  Certificates.layer,
  Checks.layer,
  CohortMoves.layer,
  Comments.layer,
  ControlTotals.layer,
  Erasures.layer,
  EventLog.layer,
  Forecasts.layer,
  IdempotencyKeys.layer,
  ImportProcesses.layer,
  ImportSearch.layer,
  Invitations.layer,
  Migrations.layer,
  Reverts.layer,
  SealedAuditLog.layer,
  SupplierChanges.layer,
  SupplierSummaries.layer,
  Configuration.layer,
  Sandbox.layer,
  Programme.layer,
  WavePlans.layer,
  Webhooks.layer
)

export const layer = ServiceStorage.of(layerPorts)
