/**
 * Storage of imports and of the accounts they become. Every operation is one atomic step: the
 * state, the attempt, the audit entry and the outbox event of a change are stored together or not
 * at all. An operation that finds another state than it needs changes nothing and says what it
 * found; which refusal that is, the program decides. With `keep` the answer is stored in the same
 * step, and nothing is stored where the reservation of its key is lost.
 */
import type { FoundDocuments } from "../account/StoredDocument.ts"
import {
  Context,
  type DateTime,
  type Duration,
  type Effect,
  type Option,
  type Stream
} from "effect"
import type { Account, AccountNumber, ExternalAccountNumber } from "../account/Account.ts"
import type { Code } from "../codes/Code.ts"
import type { AttemptId, ImportKey, ImportProcess, ImportState } from "../account/ImportProcess.ts"
import type { Keep } from "../requests/IdempotencyKey.ts"
import type { Caller } from "../organisation/Organisation.ts"
import type { SupplierCode } from "../organisation/Supplier.ts"
import type { ReservationLost } from "./IdempotencyKeys.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/**
 * `created`: first staging. `replaced`: pending data replaced. `refused`: the state was not
 * Pending.
 */
export type Staging = Stored | { readonly _tag: "Refused"; readonly found: ImportState }

export type Stored = { readonly _tag: "Created" } | { readonly _tag: "Replaced" }

/** A staged text over `smallBytes` of UTF-8: `stagedPayload` reads it once there is room for it. */
export interface LargePayload {
  readonly bytes: number
}

/** `payload` is the text that was staged last. `found` is null where nothing was ever staged. */
export type Claim =
  | { readonly _tag: "Claimed"; readonly payload: string | LargePayload }
  | { readonly _tag: "Refused"; readonly found: ImportState | null }
  | { readonly _tag: "LimitExceeded" }

export type Completion =
  | { readonly _tag: "Completed" }
  /** The lease went to somebody else, or the data was staged anew; nothing was stored. */
  | { readonly _tag: "LeaseLost" }
  /** Another account has this number; nothing was stored, the attempt is still held. */
  | { readonly _tag: "NumberTaken" }

/** One line of the lists; an import without an account has null for both. */
export interface ImportListEntry {
  readonly external_account_number: ExternalAccountNumber
  readonly kraken_account_number: AccountNumber | null
  readonly account_created_at: DateTime.Utc | null
}

/**
 * `all` has every import, `pending` those neither imported nor skipped, `imported` those with an
 * account.
 */
export type ImportListKind = "all" | "pending" | "imported"

/** The account to create: what the supplier staged, and what the platform adds to it. */
export interface NewAccount {
  readonly number: AccountNumber
  readonly account: Account
  readonly operationsTeam: string
  /** The document store's findings for the documents of its notes and statements. */
  readonly documents: FoundDocuments
  readonly createdAt: DateTime.Utc
}

export class ImportProcesses extends Context.Service<
  ImportProcesses,
  {
    /**
     * Stores the payload (JSON text of the normalised account) if there is no import yet or it is
     * Pending at `at`. An expired lease is cleared and its attempt closed at `at` with
     * `lease_expired`, so that it can no longer complete.
     * Event: staged. Audit: `stage`. The answer is kept unless it is a refusal.
     */
    readonly stage: (command: {
      readonly key: ImportKey
      readonly payload: string
      readonly caller: Caller
      readonly at: DateTime.Utc
      readonly keep?: Keep<Stored> | null
    }) => Effect.Effect<Staging, ReservationLost | StorageUnavailable>

    readonly find: (
      key: ImportKey
    ) => Effect.Effect<Option.Option<ImportProcess>, StorageUnavailable>

    /**
     * Starts an attempt: takes the lease until `at + lease` if the import is Pending at `at` and
     * fewer than `limits` live leases exist, in the deployment and for the supplier; the state is
     * looked at before the limits. An attempt whose lease had expired is closed at `at` with
     * `lease_expired`.
     */
    readonly claim: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly dryRun: boolean
      readonly lease: Duration.Duration
      readonly limits: { readonly deployment: number | null; readonly supplier: number | null }
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<Claim, StorageUnavailable>

    /** The text that was staged last, if this attempt still holds the import. */
    readonly stagedPayload: (held: {
      readonly key: ImportKey
      readonly attempt: AttemptId
    }) => Effect.Effect<Option.Option<string>, StorageUnavailable>

    /**
     * Extends the lease of the attempt to `until` if it is live at `at`; false if it is not, and so
     * a lease that no limit counts any more never lives again.
     */
    readonly renew: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly at: DateTime.Utc
      readonly until: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>

    /**
     * Creates the account with everything on it and sets the import Imported, if the attempt still
     * holds it; that is looked at before the number. An expired lease is still held until somebody
     * else takes or clears it, here and below. The attempt ends at `createdAt` with
     * `created`. Event: complete. Audit: `process`, outcome `created`. The answer is kept if the
     * account was created.
     */
    readonly complete: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly newAccount: NewAccount
      readonly caller: Caller
      readonly keep?: Keep<NewAccount> | null
    }) => Effect.Effect<Completion, ReservationLost | StorageUnavailable>

    /** Does all that `complete` does and rolls it back; the attempt is still held afterwards. */
    readonly dryRun: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly newAccount: NewAccount
      readonly caller: Caller
    }) => Effect.Effect<Completion, StorageUnavailable>

    /**
     * Ends an attempt without an account and gives its lease back, keeping the codes on the
     * attempt. Nothing to give back is no failure, changes nothing and writes nothing. Event:
     * error, dry_run_error, or dry_run_complete where `outcome` is `dry_run_successful`, with
     * `releaseCodes`. Audit: `process`, with `outcome`.
     */
    readonly release: (command: {
      readonly key: ImportKey
      readonly attempt: AttemptId
      readonly outcome: Code
      readonly errors: ReadonlyArray<{ readonly code: Code; readonly attr: string }>
      readonly dryRun: boolean
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /**
     * Marks a pending import to be skipped, or back. Refused (with what was found) where there is
     * no import, it is imported, or an attempt is running. The same again changes nothing. Skipping
     * clears an expired lease as `stage` does. Nobody's request: neither event nor audit.
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
     * In code point order of `external_account_number`, `after` exclusive; memory does not grow
     * with it.
     */
    readonly list: (query: {
      readonly supplier: SupplierCode
      readonly kind: ImportListKind
      readonly after: string | null
      readonly limit: number | null
    }) => Stream.Stream<ImportListEntry, StorageUnavailable>
  }
>()("@data-import/domain/ports/ImportProcesses") {}
