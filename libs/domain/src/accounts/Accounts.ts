/**
 * The platform accounts and the changes after their import. A change is one atomic step under the
 * account's lock: storage reads the account, a pure function decides, and the result is stored
 * together with the audit entry and the outbox event. Changes of one account are serialised.
 */
import { Context, type DateTime, type Effect, type Option, type Result, type Stream } from "effect"
import type { AccountNumber } from "./Account.ts"
import type { AccountView, Decision, Lookup } from "./AccountChange.ts"
import type { AccountDescription } from "./AccountDescription.ts"
import type { MigrationNotOngoing } from "../requests/Failure.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import type { ImportKey } from "../imports/ImportProcess.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { AuditAction } from "../audit/AuditLog.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { StoredAccount } from "./StoredAccount.ts"

/**
 * A change of the account of `key`. The caller and the time go into the audit log. `decide` may be
 * called again on the result of a concurrent change.
 */
export interface ChangeCommand<A, E> {
  readonly key: ImportKey
  readonly lookup: Lookup
  readonly decide: (account: AccountView) => Result.Result<Decision<A>, E>
  readonly action: AuditAction
  readonly caller: Caller
  readonly at: DateTime.Utc
  /** How to record the response; null without an idempotency key. */
  readonly recorder?: ResponseRecorder<A> | null
}

export class Accounts extends Context.Service<
  Accounts,
  {
    /** The imported account with what `lookup` names; None if it is not imported. */
    readonly view: (
      key: ImportKey,
      lookup: Lookup
    ) => Effect.Effect<Option.Option<AccountView>, StorageUnavailable>

    /** The import that created the account, also if it was reverted; None once it is erased. */
    readonly locate: (
      number: AccountNumber
    ) => Effect.Effect<Option.Option<ImportKey>, StorageUnavailable>

    /**
     * The accounts with these numbers, in this order; missing ones are left out. Several small ones
     * are read at once, as a chunk of the stream, each in its state at that time. Items that are
     * added later are on no page. Of an erased account, only what was kept is read.
     */
    readonly read: (
      numbers: ReadonlyArray<AccountNumber>
    ) => Stream.Stream<StoredAccount, StorageUnavailable>

    /** The same accounts as their rows describe them, each whole in memory. */
    readonly describe: (
      numbers: ReadonlyArray<AccountNumber>
    ) => Stream.Stream<AccountDescription, StorageUnavailable>

    /**
     * Changes an account by `decide`, which sees what `lookup` names and may be called more than
     * once. None if the account does not exist. Nothing is stored if `decide` fails, or if the
     * supplier is not Ongoing, which is checked before it. An empty change writes no event. Event:
     * post_import.completed. Audit: `action`, with the outcome `created` if something is stored and
     * `unchanged` otherwise. `recorder` stores the response in the same step, or releases the key
     * after an empty change. A failure of `decide` takes precedence over `ReservationLost`.
     */
    readonly change: <A, E>(
      command: ChangeCommand<A, E>
    ) => Effect.Effect<
      Option.Option<A>,
      E | MigrationNotOngoing | ReservationLost | StorageUnavailable
    >

    /**
     * Ends the active payment instruction of the account, for the operator. False, without a write,
     * if none is active. Audit: `end_payment_instruction`, with the outcome `ended`.
     */
    readonly endInstruction: (command: {
      readonly key: ImportKey
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>
  }
>()("@data-import/domain/ports/Accounts") {}
