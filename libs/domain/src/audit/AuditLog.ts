/**
 * The attempts of an import, the audit log of every write and of every read of accounts, and the
 * outbox of events. The other storage ports write their entries in the same step as the change.
 * This port reads them, and records refused writes and reads. No entry of the log and no event
 * holds personal data.
 */
import { Context, type DateTime, Duration, type Effect, Struct } from "effect"
import type { Code } from "../codes/Code.ts"
import type { EventName } from "../events/Event.ts"
import type { Attempt } from "../imports/ImportDetails.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { ApiKeyId, Caller, OrganisationName, RequestId } from "../suppliers/Organisation.ts"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** Actions of the operator only. */
export const operatorActions = [
  "create_organisation",
  "issue_key",
  "revoke_key",
  "create_supplier",
  "configure_supplier",
  "change_supplier_status",
  "create_team",
  "add_choice",
  "skip_import",
  "unskip_import",
  "erase_import",
  "create_webhook",
  "change_webhook",
  "issue_board_link",
  "end_board_sessions",
  "prolong_session"
] as const
export type OperatorAction = (typeof operatorActions)[number]

/** Reads of personal data, with their outcome in the log. */
export const readOutcomes = {
  read_account: "read",
  read_accounts: "begun",
  read_batch: "read",
  read_import: "read",
  read_document: "read",
  read_certificate: "read"
} as const
export type ReadAction = keyof typeof readOutcomes

/** Actions of board users that neither clients nor the operator have. */
export const boardActions = [
  "sign_in",
  "set_plan",
  "decide_wave",
  "plan_wave",
  "start_wave",
  "move_accounts",
  "comment",
  "sign_off",
  "set_alerts",
  "invite_supplier",
  "revoke_invitation"
] as const
export type BoardAction = (typeof boardActions)[number]

/** All actions of the log: writes of clients, reads, and actions of the operator and the board. */
export const auditActions = [
  "stage",
  "process",
  "change_import",
  "revert_import",
  "create_notes",
  "create_transactions",
  "create_historical_statements",
  "create_payment_instruction",
  "end_payment_instruction",
  "create_batch",
  "start_batch",
  "pause_batch",
  "resume_batch",
  "cancel_batch",
  "issue_certificate",
  "set_control_totals",
  "empty_sandbox",
  ...Struct.keys(readOutcomes),
  ...operatorActions,
  ...boardActions
] as const
export type AuditAction = (typeof auditActions)[number]

export interface AuditEntry {
  readonly at: DateTime.Utc
  readonly organisation: OrganisationName
  readonly apiKey: ApiKeyId
  readonly requestId: RequestId
  readonly action: AuditAction
  /**
   * `created`, `replaced`, `changed`, `ended`, `emptied`, `unchanged`, `read`, `begun` (a read of
   * many), the code of the refusal, `more_refused` or `more_unchanged`. For actions of the
   * operator, also what was issued, revoked, added or set.
   */
  readonly outcome: string
}

/**
 * What a refused write named. It is recorded for ever, so it holds no free text: only the code of
 * an existing supplier, and a valid number if that supplier is the caller's own.
 */
export interface RefusedKey {
  readonly import_supplier: SupplierCode | null
  readonly external_account_number: ExternalAccountNumber | null
}

/**
 * How long a window of refusals, or of writes without effect, lasts. It begins with the first of
 * its API key.
 */
export const refusalWindow = Duration.hours(1)

/** How many different ones of an API key are recorded in a window. */
export const refusalsInWindow = 1_000

/** The outcome of the one entry that stands for all further refusals of a window. */
export const moreRefused = "more_refused"

/** The same of writes without effect. People's are always recorded. */
export const moreUnchanged = "more_unchanged"

/** An entry with its subject, as the request named it. */
export interface AuditedRequest extends Omit<AuditEntry, "organisation"> {
  /** `*` stands for the whole deployment. */
  readonly organisation: string
  readonly import_supplier: string | null
  readonly external_account_number: string | null
}

/** An entry with its number in the log. */
export interface NumberedEntry extends AuditedRequest {
  readonly id: bigint
}

/** Entries that meet every condition. */
export interface AuditFilter {
  /** Null for all organisations and the entries of the whole deployment. */
  readonly organisations: ReadonlyArray<OrganisationName> | null
  readonly supplier?: SupplierCode
  readonly number?: string
  readonly apiKey?: string
  /** Only actions of people (see the function `isByPerson`). */
  readonly isByPerson?: true
  readonly action?: string
  /** Inclusive. */
  readonly from?: DateTime.Utc
  /** Exclusive. */
  readonly to?: DateTime.Utc
}

/** `codes` is empty except for events that end an attempt without an account. */
export interface OutboxEvent {
  readonly at: DateTime.Utc
  readonly name: EventName
  readonly codes: ReadonlyArray<string>
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /**
     * Records a refused write, unless the present window of its API key has the same one: the same
     * key, action and outcome. After `refusalsInWindow` different refusals, the next one is
     * recorded as `moreRefused` without a key, and then nothing until the window ends. This bounds
     * the number of entries that a caller can cause.
     */
    readonly recordRefusal: (entry: {
      readonly key: RefusedKey
      readonly action: AuditAction
      readonly outcome: Code
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /**
     * Records a read of personal data, before any of it is answered. The account number is null if
     * it is a read of all accounts of a supplier.
     */
    readonly recordRead: (entry: {
      readonly key: {
        readonly import_supplier: SupplierCode
        readonly external_account_number: ExternalAccountNumber | null
      }
      readonly action: ReadAction
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** In the order of writing, like the next two. */
    readonly attempts: (key: ImportKey) => Effect.Effect<ReadonlyArray<Attempt>, StorageUnavailable>
    readonly audit: (key: ImportKey) => Effect.Effect<ReadonlyArray<AuditEntry>, StorageUnavailable>
    readonly events: (
      key: ImportKey
    ) => Effect.Effect<ReadonlyArray<OutboxEvent>, StorageUnavailable>

    /**
     * The entries of all requests with this id, in the order of writing. It reads the whole log, a
     * slice at a time: an index would slow down every write, and this query is rare.
     */
    readonly ofRequest: (
      id: RequestId
    ) => Effect.Effect<ReadonlyArray<AuditedRequest>, StorageUnavailable>

    /**
     * Entries before `before` (exclusive), the newest first, without those of test suppliers. The
     * entries of one import are found by index. Other filters search the log for a bounded time:
     * `stopped` if it ended before the page was full, although older entries may match. `next` is
     * where to continue, null at the beginning of the log.
     */
    readonly search: (query: {
      readonly filter: AuditFilter
      readonly before: bigint | null
      readonly limit: number
    }) => Effect.Effect<
      {
        readonly entries: ReadonlyArray<NumberedEntry>
        readonly next: bigint | null
        readonly stopped: boolean
      },
      StorageUnavailable
    >
  }
>()("@data-import/domain/ports/AuditLog") {}
