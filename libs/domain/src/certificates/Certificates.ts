/**
 * Storage of certificates, of their trees, and of the entries of accounts. A certificate is
 * computed in one snapshot. Its tree stays what it was; only erasures take numbers and entries from
 * it.
 * Source: docs/contract/certificates.md.
 */
import { Context, type DateTime, type Effect, type Option, Schema, type Stream } from "effect"
import type { AccountNumber, ExternalAccountNumber } from "../accounts/Account.ts"
import type { AccountDescription } from "../accounts/AccountDescription.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { DetailedState } from "../imports/ImportDetails.ts"
import type { ExpectedTotals } from "../migrations/ControlTotals.ts"
import type { PayloadHash } from "../imports/ImportProcess.ts"
import type { CertificateLimitExceeded } from "../requests/Failure.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller, OrganisationName } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { AccountSums, Certificate } from "./Certificate.ts"

export const CertificateId = Schema.String.check(Schema.isUUID()).pipe(
  Schema.brand("CertificateId")
)
export type CertificateId = typeof CertificateId.Type

/** Who asked for a certificate. It names no person. */
export type Issuer = Certificate["issued_by"]

export const certificateStatuses = ["RUNNING", "ISSUED", "FAILED"] as const

/** They are kept for ever, so their number is bounded: while they run, and of a day. */
export const certificateLimits = { running: 10, ofSupplierInDay: 100 }

/** The steps of a certificate, in their order. One that fails ends it. */
export const certificateSteps = ["ACCOUNTS", "DOCUMENTS", "SIGNATURE"] as const
export type CertificateStep = (typeof certificateSteps)[number]

/** How many of the accounts are done. */
export interface CertificateProgress {
  readonly done: number
  readonly total: number
}

export interface CertificateRecord {
  readonly id: CertificateId
  readonly supplier: SupplierCode
  readonly cohort: string | null
  readonly status: (typeof certificateStatuses)[number]
  readonly requestedAt: DateTime.Utc
  readonly endedAt: DateTime.Utc | null
  readonly issuedBy: Issuer
  /** Null unless it is running and was begun. */
  readonly progress: CertificateProgress | null
  /** Null unless it has failed. */
  readonly failure: CertificateStep | null
  /** Null unless it is issued. */
  readonly issued: Signed | null
}

export interface Signed {
  readonly content: Certificate
  /** The compact serialisation. */
  readonly jws: string
}

/** The entry of an account, without its payload hash, and its sums. */
export interface StoredEntry {
  readonly members: string
  readonly sums: AccountSums
}

export interface CertifiedAccount {
  readonly number: ExternalAccountNumber
  readonly account: AccountNumber
  /** Of what was imported, or of what was stored when its entry was computed again. */
  readonly payloadHash: PayloadHash
  /** Null if it was not computed since the account changed. */
  readonly entry: StoredEntry | null
}

export interface CertifiedDocument {
  /** Without a leading slash. */
  readonly document_path: string
  /** What the store knows of its content, the hash in hexadecimal; null if it knows no hash. */
  readonly content: { readonly size: number; readonly sha256: string } | null
}

/** Accounts of a tree that follow one another, in the order of their numbers. */
export interface Block {
  readonly index: number
  readonly leaves: ReadonlyArray<{
    readonly number: ExternalAccountNumber
    readonly hash: Uint8Array
    readonly entry: string
  }>
}

/** The leaves of one block of a tree. */
export const blockSize = 256

/** What a certificate covers, in one snapshot. It can be used within `certify` only. */
export interface Snapshot {
  readonly states: Readonly<Record<DetailedState, number>>
  /** Accounts of the past. */
  readonly reverted: number
  /** The control totals of the supplier or the cohort. */
  readonly expected: ExpectedTotals | null
  /** The last certificate of the same supplier and cohort. */
  readonly previous: { readonly id: CertificateId; readonly jws: string } | null
  readonly accounts: (page: {
    readonly after: ExternalAccountNumber | null
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<CertifiedAccount>, StorageUnavailable>
  readonly read: (
    accounts: ReadonlyArray<AccountNumber>
  ) => Stream.Stream<AccountDescription, StorageUnavailable>
  /** The next documents that the accounts name, each once, in the order of their paths. */
  readonly nextDocuments: (
    limit: number
  ) => Effect.Effect<ReadonlyArray<CertifiedDocument>, StorageUnavailable>
  readonly keep: (block: Block) => Effect.Effect<void, StorageUnavailable>
}

export interface StoredBlock {
  readonly leaves: ReadonlyArray<Uint8Array>
  /** The account number of each leaf; null if it was erased. */
  readonly numbers: ReadonlyArray<string | null>
}

export class Certificates extends Context.Service<
  Certificates,
  {
    /**
     * Stores a running certificate, within `certificateLimits`. Audit: `issue_certificate`. The
     * answer is kept. If
     * there is a certificate with this id, it changes nothing and returns that one.
     */
    readonly request: (command: {
      readonly id: CertificateId
      readonly supplier: SupplierCode
      readonly cohort: string | null
      readonly issuer: Issuer
      readonly caller: Caller
      readonly at: DateTime.Utc
      readonly recorder: ResponseRecorder<CertificateRecord> | null
    }) => Effect.Effect<
      CertificateRecord,
      CertificateLimitExceeded | ReservationLost | StorageUnavailable
    >

    readonly find: (
      organisation: OrganisationName,
      id: CertificateId
    ) => Effect.Effect<Option.Option<CertificateRecord>, StorageUnavailable>

    /** The newest first; `before` is exclusive. */
    readonly list: (page: {
      readonly supplier: SupplierCode
      /** Only those of this cohort. */
      readonly cohort?: string
      readonly before: CertificateId | null
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<CertificateRecord>, StorageUnavailable>

    /** The newest issued one of all accounts; if there is none, the newest of a cohort. */
    readonly newestIssued: (
      supplier: SupplierCode
    ) => Effect.Effect<Option.Option<CertificateRecord>, StorageUnavailable>

    /**
     * Takes the oldest running certificate that nobody works on and that waits for no other of its
     * supplier and cohort.
     */
    readonly take: (turn: {
      readonly at: DateTime.Utc
      readonly until: DateTime.Utc
    }) => Effect.Effect<Option.Option<CertificateRecord>, StorageUnavailable>

    /**
     * Stores what the work returns with the blocks that it kept, all or nothing. Event:
     * `data_import.certificate.issued-v1`. The work reads one snapshot, and no write waits for it.
     */
    readonly certify: <E>(
      id: CertificateId,
      at: DateTime.Utc,
      work: (snapshot: Snapshot) => Effect.Effect<Signed, E>
    ) => Effect.Effect<void, E | StorageUnavailable>

    /** Tells how far a running certificate is. No write of its transaction waits for it. */
    readonly report: (
      id: CertificateId,
      progress: CertificateProgress
    ) => Effect.Effect<void, StorageUnavailable>

    /** Ends the certificate without one, because of this step. */
    readonly fail: (
      id: CertificateId,
      at: DateTime.Utc,
      failure: CertificateStep
    ) => Effect.Effect<void, StorageUnavailable>

    /** The tree hashes of blocks in their order, and the numbers of their first and last account. */
    readonly bounds: (
      id: CertificateId,
      range: { readonly from: number; readonly limit: number }
    ) => Effect.Effect<
      ReadonlyArray<{
        readonly hash: Uint8Array
        readonly first: string | null
        readonly last: string | null
      }>,
      StorageUnavailable
    >

    /** Blocks in their order. */
    readonly blocks: (
      id: CertificateId,
      range: { readonly from: number; readonly limit: number }
    ) => Effect.Effect<ReadonlyArray<StoredBlock>, StorageUnavailable>

    /** The entries that an account had in any tree, and the block that would have it. */
    readonly entriesOf: (
      id: CertificateId,
      number: ExternalAccountNumber
    ) => Effect.Effect<
      Option.Option<{ readonly block: number; readonly entries: ReadonlyArray<string> }>,
      StorageUnavailable
    >

    /** Numbers of accounts whose entry is missing. */
    readonly withoutEntry: (
      limit: number
    ) => Effect.Effect<
      ReadonlyArray<{ readonly account: AccountNumber; readonly revision: number }>,
      StorageUnavailable
    >

    /**
     * Stores the entry, and the hash of what is stored, unless the account has changed since this
     * revision.
     */
    readonly storeEntry: (
      account: AccountNumber,
      revision: number,
      found: { readonly entry: StoredEntry; readonly hash: PayloadHash }
    ) => Effect.Effect<void, StorageUnavailable>

    /** The public keys that certificates were ever signed with. */
    readonly keys: Effect.Effect<ReadonlyArray<CertificateKey>, StorageUnavailable>

    /** Adds keys that are not known yet. */
    readonly addKeys: (
      keys: ReadonlyArray<CertificateKey>,
      at: DateTime.Utc
    ) => Effect.Effect<void, StorageUnavailable>
  }
>()("@data-import/domain/ports/Certificates") {}

/** A public Ed25519 key. `kid` is its thumbprint (RFC 7638). */
export interface CertificateKey {
  readonly kid: string
  readonly x: string
}
