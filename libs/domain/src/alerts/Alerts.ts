/**
 * Storage of alerts: what each user wants to be told, what was found, and what was told to whom.
 * Source: docs/contract/board.md#once-for-each-thing.
 */
import { Context, type DateTime, Duration, type Effect, type Option, type Redacted } from "effect"
import type { BoardUser } from "../access/BoardUser.ts"
import type { CertificateId } from "../certificates/Certificates.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Supplier, SupplierCode } from "../suppliers/Supplier.ts"
import type { Finding, Told } from "./Alert.ts"
import type { AlertSettings, AlertWay } from "./AlertSettings.ts"

/** A condition that holds again within this time is the same, and a wave is told once in it. */
export const sameWithin = Duration.hours(1)

/** How long what was told is kept, and the settings of a user who does not sign in. */
export const alertsKept = Duration.days(90)

/** The most alerts of one message. */
export const mostInMessage = 50

/** What is to be told to one user by one way. The instance that has it sends it. */
export interface Delivery {
  readonly subject: string
  readonly way: AlertWay
  readonly address: Redacted.Redacted
  readonly alerts: ReadonlyArray<Told & { readonly id: bigint; readonly attempts: number }>
}

export interface Attempted {
  readonly id: bigint
  /** When to try again; null if it has ended. */
  readonly dueAt: DateTime.Utc | null
  /** Null if it was sent. */
  readonly error: string | null
  /** Whether it is known that it was sent, or that it was not. */
  readonly isKnown: boolean
}

export const deliveryStates = ["WAITING", "SENT", "FAILED", "UNKNOWN"] as const

export interface Sent extends Told {
  readonly way: AlertWay
  readonly at: DateTime.Utc
  readonly state: (typeof deliveryStates)[number]
  readonly error: string | null
}

export class Alerts extends Context.Service<
  Alerts,
  {
    readonly read: (
      subject: string
    ) => Effect.Effect<Option.Option<AlertSettings>, StorageUnavailable>

    /**
     * Replaces the settings of the user. What waits is found again by the new ones. Audit:
     * `set_alerts`, in the name of the user.
     */
    readonly save: (command: {
      readonly user: BoardUser
      readonly signedInAt: DateTime.Utc
      readonly settings: AlertSettings
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** Whether the user may send a test now, and had none in this time. */
    readonly takeTest: (command: {
      readonly subject: string
      readonly at: DateTime.Utc
      readonly pause: Duration.Duration
    }) => Effect.Effect<boolean, StorageUnavailable>

    /** The newest first. */
    readonly told: (
      subject: string,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Sent>, StorageUnavailable>

    /** True for one instance, unless a turn has begun within this time. */
    readonly begin: (turn: {
      readonly at: DateTime.Utc
      readonly pause: Duration.Duration
    }) => Effect.Effect<boolean, StorageUnavailable>

    /** The percentages of `failing` that users chose; null if nobody is told anything. */
    readonly shares: Effect.Effect<ReadonlyArray<number> | null, StorageUnavailable>

    /** Certificates that were issued since then and do not match the control totals. */
    readonly differingCertificates: (query: {
      readonly suppliers: ReadonlyArray<Pick<Supplier, "code" | "organisation">>
      readonly since: DateTime.Utc
    }) => Effect.Effect<
      ReadonlyArray<{
        readonly id: CertificateId
        readonly supplier: SupplierCode
        readonly cohort: string | null
        readonly endedAt: DateTime.Utc
        readonly accounts: number
        /** Null if no number is expected. */
        readonly expected: number | null
      }>,
      StorageUnavailable
    >

    /** How many accounts the scheduled checks find altered, at most `limit` of a supplier. */
    readonly alteredAccounts: (query: {
      readonly suppliers: ReadonlyArray<SupplierCode>
      readonly limit: number
    }) => Effect.Effect<
      ReadonlyArray<{ readonly supplier: SupplierCode; readonly accounts: number }>,
      StorageUnavailable
    >

    /**
     * Begins and ends alerts, so that the conditions that hold are those found, and stores for whom
     * they are. Repeating it changes nothing. Deletes what is older than `alertsKept`.
     */
    readonly raise: (command: {
      readonly found: ReadonlyArray<Finding>
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>

    /** Takes what is due for one user and way, at most `mostInMessage`. Nobody takes it again. */
    readonly claim: (at: DateTime.Utc) => Effect.Effect<Option.Option<Delivery>, StorageUnavailable>

    readonly conclude: (command: {
      readonly delivery: Pick<Delivery, "subject" | "way">
      readonly attempted: ReadonlyArray<Attempted>
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
  }
>()("@data-import/domain/ports/Alerts") {}
