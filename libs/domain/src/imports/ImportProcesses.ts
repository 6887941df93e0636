/**
 * Storage of imports and the accounts that they become. Every operation is one atomic step that
 * stores the state, the attempt, the audit entry and the outbox event. If the state does not allow
 * the operation, it changes nothing and returns the state; the program decides which refusal that
 * is. `recorder` stores the response in the same step, and nothing is stored if the reservation of
 * its key is lost.
 */
import type { FoundDocuments } from "../accounts/StoredDocument.ts"
import {
  Context,
  type DateTime,
  type Duration,
  type Effect,
  type Option,
  type Stream
} from "effect"
import type { Account, AccountNumber, ExternalAccountNumber } from "../accounts/Account.ts"
import type { Code } from "../codes/Code.ts"
import type {
  AttemptId,
  ImportKey,
  ImportProcess,
  ImportState,
  PayloadHash
} from "./ImportProcess.ts"
import type { AttemptError, ImportDetails, ImportFilter } from "./ImportDetails.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import type { Caller, OrganisationName } from "../suppliers/Organisation.ts"
import type { SupplierCode, SupplierStatus, WireCode } from "../suppliers/Supplier.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

/** The supplier does not accept writes. That is checked first, in the same step as the write. */
export interface NotOngoing {
  readonly _tag: "NotOngoing"
  readonly status: SupplierStatus
}

/**
 * `created`: first staging. `replaced`: pending data replaced. `present`: pending data kept,
 * because of `createOnly`. `refused`: the state was not Pending.
 */
export type Staging =
  | Stored
  | NotOngoing
  | { readonly _tag: "Present"; readonly hash: PayloadHash }
  | { readonly _tag: "Refused"; readonly found: ImportState }

export type Stored = { readonly _tag: "Created" } | { readonly _tag: "Replaced" }

/**
 * A staged text over `smallBytes` of UTF-8. `stagedPayload` reads it once its permits are acquired.
 */
export interface LargePayload {
  readonly bytes: number
}

/** What is staged, before anything holds it. */
export interface Present {
  readonly process: ImportProcess
  /** Null if no payload is kept. */
  readonly staged: { readonly payload: string | LargePayload; readonly hash: PayloadHash } | null
}

/** `payload` is the last staged text. `found` is null if nothing was ever staged. */
export type Claim =
  | { readonly _tag: "Claimed"; readonly payload: string | LargePayload }
  | NotOngoing
  | { readonly _tag: "Refused"; readonly found: ImportState | null }
  | { readonly _tag: "LimitExceeded" }

export type Completion =
  | { readonly _tag: "Completed" }
  /** Another attempt took the lease, or the data was staged again. Nothing was stored. */
  | { readonly _tag: "LeaseLost" }
  /**
   * Another account has this number. Nothing was stored, and the attempt still holds the import.
   */
  | { readonly _tag: "NumberTaken" }

/** An import as a caller names it, of a supplier of its organisation. */
export interface OwnImport {
  readonly organisation: OrganisationName
  readonly supplier: WireCode
  readonly number: ExternalAccountNumber
}

/** An entry of the lists. Number and time of the account are null if there is none. */
export interface ImportListEntry {
  /** Only if the list was requested with details. */
  readonly details?: ImportDetails
  readonly external_account_number: ExternalAccountNumber
  readonly kraken_account_number: AccountNumber | null
  readonly account_created_at: DateTime.Utc | null
}

/**
 * `all`: every import. `pending`: neither imported nor skipped. `imported`: those with an account.
 */
export type ImportListKind = "all" | "pending" | "imported"

/** The details and the conditions of a list. */
export interface DetailedList {
  readonly filter: ImportFilter
  /**
   * The details of each import: at most the latest attempt, with the first `errorsInList` of its
   * errors.
   */
  readonly details: "none" | "without attempts" | "with attempts"
  /** The instant of the states. */
  readonly at: DateTime.Utc
}

export const errorsInList = 100

/** The account to create: the supplier's data and the platform's additions. */
export interface NewAccount {
  readonly number: AccountNumber
  readonly account: Account
  readonly operationsTeam: string
  /** The document store's findings for the documents of its notes and statements. */
  readonly documents: FoundDocuments
  /** Whether its customers get an e-mail: the setting of the supplier at this moment. */
  readonly customerEmails: boolean
  readonly createdAt: DateTime.Utc
}

export class ImportProcesses extends Context.Service<
  ImportProcesses,
  {
    /**
     * Stores the payload (JSON text of the normalised account) if there is no import yet or it is
     * Pending at `at`. An expired lease is cleared and its attempt closed at `at` with
     * `lease_expired`, so that it can no longer complete.
     * Event: staged. Audit: `stage`. The response is kept unless it is a refusal. With
     * `createOnly`, a present payload is returned and not replaced: nothing is stored, and the key
     * is released.
     */
    readonly stage: (command: {
      readonly key: ImportKey
      readonly payload: string
      readonly hash: PayloadHash
      readonly createOnly?: boolean
      /** Null to keep the present one. */
      readonly cohort?: string | null
      /** When the batch began. An import whose account was reverted since is refused. */
      readonly since?: DateTime.Utc | null
      readonly caller: Caller
      readonly at: DateTime.Utc
      readonly recorder?: ResponseRecorder<Stored> | null
    }) => Effect.Effect<Staging, ReservationLost | StorageUnavailable>

    readonly find: (
      key: ImportKey
    ) => Effect.Effect<Option.Option<ImportProcess>, StorageUnavailable>

    /**
     * The import of a supplier of this organisation, in one step with the tenancy check. None if
     * the supplier is another organisation's.
     */
    readonly findOwn: (
      sought: OwnImport
    ) => Effect.Effect<Option.Option<ImportProcess>, StorageUnavailable>

    /** The import with what is staged, without a lock. */
    readonly present: (key: ImportKey) => Effect.Effect<Option.Option<Present>, StorageUnavailable>

    /** The text that was staged last; None if there is none, or it was deleted. */
    readonly payload: (key: ImportKey) => Effect.Effect<Option.Option<string>, StorageUnavailable>

    /** Whether the payload with this hash was staged last. */
    readonly isStaged: (staged: {
      readonly key: ImportKey
      readonly hash: PayloadHash
    }) => Effect.Effect<boolean, StorageUnavailable>

    /**
     * Starts an attempt: takes the lease until `at + lease` if the import is Pending at `at` and
     * fewer than `limits` live leases exist, in the deployment and for the supplier. The state is
     * checked before the limits. An attempt with an expired lease is closed at `at` with
     * `lease_expired`.
     */
    readonly claim: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly dryRun: boolean
      /** As of `stage`. */
      readonly since?: DateTime.Utc | null
      readonly lease: Duration.Duration
      readonly limits: { readonly deployment: number | null; readonly supplier: number | null }
      /** By what the attempt will judge what is staged; kept with it, as is the payload hash. */
      readonly judgedBy?: string
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<Claim, StorageUnavailable>

    /** The last staged text, if this attempt still holds the import. */
    readonly stagedPayload: (held: {
      readonly key: ImportKey
      readonly attempt: AttemptId
    }) => Effect.Effect<Option.Option<string>, StorageUnavailable>

    /**
     * Extends the lease of the attempt to `until` if it is live at `at`, and returns whether it
     * was. An expired lease cannot be renewed, because the limits no longer count it.
     */
    readonly renew: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly at: DateTime.Utc
      readonly until: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>

    /**
     * Creates the account with all its items and sets the import Imported, if the attempt still
     * holds it. That is checked before the number. Here and below, an attempt holds an expired
     * lease until another attempt takes it or a staging clears it. The attempt ends at `createdAt`
     * with `created`. Event: complete. Audit: `process`, outcome `created`. The response is kept if
     * the account was created.
     */
    readonly complete: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly newAccount: NewAccount
      readonly caller: Caller
      readonly recorder?: ResponseRecorder<NewAccount> | null
    }) => Effect.Effect<Completion, ReservationLost | StorageUnavailable>

    /**
     * Does the same as `complete` and rolls it back. The attempt still holds the import afterwards.
     */
    readonly dryRun: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly newAccount: NewAccount
      readonly caller: Caller
    }) => Effect.Effect<Completion, StorageUnavailable>

    /**
     * Ends an attempt without an account, releases its lease and stores the codes on the attempt.
     * Releasing a lease that has already ended succeeds and writes nothing. Event: error,
     * dry_run_error, or dry_run_complete if `outcome` is `dry_run_successful`, with `releaseCodes`.
     * Audit: `process`, with `outcome`.
     */
    readonly release: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly outcome: Code
      readonly errors: ReadonlyArray<AttemptError & { readonly code: Code }>
      readonly dryRun: boolean
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /**
     * Marks a pending import as skipped, or not. Refused, with the state, if there is no import, it
     * is imported, or an attempt is running. Repeating it changes nothing. Skipping clears an
     * expired lease as `stage` does. It is not a client's request, so it writes no event. Audit, in
     * a command of the operator: `skip_import` or `unskip_import`.
     */
    readonly setSkipped: (command: {
      readonly key: ImportKey
      readonly skipped: boolean
      readonly at: DateTime.Utc
    }) => Effect.Effect<
      { readonly _tag: "Set" } | { readonly _tag: "Refused"; readonly found: ImportState | null },
      StorageUnavailable
    >

    /**
     * Sets the cohort of a pending import; null for none. Refused, with the state, if there is no
     * import or it is not Pending at `at`. Audit: `change_import`, outcome `changed` or
     * `unchanged`.
     */
    readonly setCohort: (command: {
      readonly key: ImportKey
      readonly cohort: string | null
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<
      | { readonly _tag: "Set" }
      | NotOngoing
      | { readonly _tag: "Refused"; readonly found: ImportState | null },
      StorageUnavailable
    >

    /**
     * Deletes the payloads of at most `limit` imports that became accounts before this time, the
     * oldest first. In the same step the errors of their attempts lose all but their codes.
     * Everything else stays. Imports that are locked at the moment are skipped. True if there may
     * be more.
     */
    readonly deletePayloads: (command: {
      readonly importedBefore: DateTime.Utc
      readonly limit: number
    }) => Effect.Effect<boolean, StorageUnavailable>

    /**
     * How many attempts of all suppliers hold a live lease at this time, and how many leases have
     * expired: such an import is free, and its attempt ends with the next claim.
     */
    readonly leases: (
      at: DateTime.Utc
    ) => Effect.Effect<{ readonly held: number; readonly expired: number }, StorageUnavailable>

    /**
     * The import with its latest attempts, at most `attempts` of them.
     */
    readonly details: (
      key: ImportKey,
      attempts: number
    ) => Effect.Effect<Option.Option<ImportDetails>, StorageUnavailable>

    /**
     * In code point order of `external_account_number`, after `after` (exclusive). Memory use does
     * not depend on the length of the list. The limit counts matching imports.
     */
    readonly list: (query: {
      readonly supplier: SupplierCode
      readonly kind: ImportListKind
      readonly detailed?: DetailedList | null
      readonly after: string | null
      readonly limit: number | null
    }) => Stream.Stream<ImportListEntry, StorageUnavailable>
  }
>()("@data-import/domain/ports/ImportProcesses") {}
