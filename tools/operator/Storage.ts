/**
 * The storage that commands work on, opened only for a valid command line, so that help and a
 * mistyped word start no database.
 */
import type { Accounts } from "@data-import/domain/accounts/Accounts"
import type { ApiKeys } from "@data-import/domain/access/ApiKeys"
import type { AuditHeadStore } from "@data-import/domain/audit/AuditHeadStore"
import type { AuditLog } from "@data-import/domain/audit/AuditLog"
import type { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import type { Batches } from "@data-import/domain/batches/Batches"
import type { Checks } from "@data-import/domain/checks/Checks"
import type { Reverts } from "@data-import/domain/imports/Reverts"
import type { Erasures } from "@data-import/domain/erasure/Erasures"
import type { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import type { BoardSessions } from "@data-import/domain/access/BoardSessions"
import type { Configuration } from "@data-import/domain/suppliers/Configuration"
import type { ControlTotals } from "@data-import/domain/migrations/ControlTotals"
import type { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import type { Webhooks } from "@data-import/domain/events/Webhooks"
import type { TokenSecrets } from "@data-import/domain/access/TokenSigner"
import { Context, Effect, type Layer } from "effect"
import { asOperator } from "./Caller.ts"
import { type Explained, explained } from "./Refused.ts"

/** The ports that the commands need. */
export type Ports =
  | Configuration
  | ControlTotals
  | ApiKeys
  | ImportProcesses
  | Erasures
  | Reverts
  | Accounts
  | AuditHeadStore
  | Batches
  | BoardSessions
  | Checks
  | SealedAuditLog
  | AuditLog
  | SupplierSummaries
  | Webhooks
  | TokenSecrets

export class Storage extends Context.Service<Storage, Layer.Layer<Ports, Explained>>()(
  "@data-import/operator/Storage"
) {}

/**
 * Runs the work of a command on the storage, on behalf of the operator, and explains a failure in a
 * sentence.
 */
export const onStorage = <A, R>(work: Effect.Effect<A, Explained, R>) =>
  Storage.use((storage) => explained(asOperator(Effect.provide(work, storage))))
