/**
 * What happened: the attempts at an import, the audit log of every write, and the outbox of events.
 * The other storage ports write their entries in the same step as the change; here they are read,
 * and the writes that were refused are recorded. Nothing here holds personal data.
 */
import { Context, type DateTime, type Effect } from "effect"
import type { Code } from "../codes/Code.ts"
import type { EventName } from "../account/Event.ts"
import type { AttemptId, ImportKey } from "../account/ImportProcess.ts"
import type { ApiKeyId, Caller, OrganisationName, RequestId } from "../organisation/Organisation.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

export interface Attempt {
  readonly id: AttemptId
  readonly dryRun: boolean
  readonly startedAt: DateTime.Utc
  readonly endedAt: DateTime.Utc | null
  /** `created`, a refusal's code, `lease_expired`, or null while it runs. */
  readonly outcome: string | null
  readonly errors: ReadonlyArray<{ readonly code: string; readonly attr: string }>
}

/** The write that was asked for. */
export type AuditAction =
  | "stage"
  | "process"
  | "create_notes"
  | "create_transactions"
  | "create_historical_statements"
  | "create_payment_instruction"
  | "end_payment_instruction"

export interface AuditEntry {
  readonly at: DateTime.Utc
  readonly organisation: OrganisationName
  readonly apiKey: ApiKeyId
  readonly requestId: RequestId
  readonly action: AuditAction
  /** `created`, `replaced`, `ended`, `unchanged`, or the code of the refusal. */
  readonly outcome: string
}

/**
 * How an entry differs from what was written, as far as the chain shows. If someone rewrites it and
 * its hash is found at the next one, which no longer follows from it.
 */
export type AuditFaultReason =
  /** It does not follow from what is before it, or is not of this chain. */
  | "altered"
  /** It was there, and is not. */
  | "missing"
  /** The chain is longer than its head says. */
  | "beyond_head"
  /** It is the last of its chain, and the head says that the chain ends otherwise. */
  | "head_differs"
  /** Its chain has no head. */
  | "head_missing"

/** The first entry of the audit log that is not as it was written. */
export interface AuditFault {
  /** Of the chain: who wrote, and what the requests named; null where they named nothing. */
  readonly organisation: string
  readonly import_supplier: string | null
  readonly external_account_number: string | null
  /** The place in the chain, from 1. */
  readonly position: bigint
  /** Null where the entry is missing. */
  readonly id: bigint | null
  readonly why: AuditFaultReason
}

/** How far the audit log was read, and what ended it before its end. */
export interface AuditVerification {
  readonly chains: number
  readonly entries: number
  readonly fault: AuditFault | null
}

/** `codes` is empty but for the events that end an attempt without an account. */
export interface OutboxEvent {
  readonly at: DateTime.Utc
  readonly name: EventName
  readonly codes: ReadonlyArray<string>
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Records a write that was refused. `key` is what the request named, as sent, cut to the
     * lengths of the contract, and null where it named nothing usable.
     */
    readonly recordRefusal: (entry: {
      readonly key: {
        readonly import_supplier: string | null
        readonly external_account_number: string | null
      }
      readonly action: AuditAction
      readonly outcome: Code
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** In the order of writing, like the two below. */
    readonly attempts: (key: ImportKey) => Effect.Effect<ReadonlyArray<Attempt>, StorageUnavailable>
    readonly audit: (key: ImportKey) => Effect.Effect<ReadonlyArray<AuditEntry>, StorageUnavailable>
    readonly events: (
      key: ImportKey
    ) => Effect.Effect<ReadonlyArray<OutboxEvent>, StorageUnavailable>

    /**
     * Reads the whole audit log, while others may write, and follows every chain from its first
     * entry to its head, up to the first entry that is not as it was written. A chain is what one
     * organisation asked of one import.
     */
    readonly verifyAudit: Effect.Effect<AuditVerification, StorageUnavailable>
  }
>()("@data-import/domain/ports/AuditLog") {}
