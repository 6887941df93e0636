/**
 * The platform accounts and what is added to them after their import. A change is one atomic step
 * under the account's lock: what is there is read, a pure function decides, and what it decides is
 * stored together with the audit entry and the outbox event, or not at all. All changes of one
 * account happen one after the other.
 */
import { Context, type DateTime, type Effect, type Option, type Result } from "effect"
import type { AccountNumber } from "../account/Account.ts"
import type { AccountView, Decision, Lookup } from "../account/AccountChange.ts"
import type { AccountDescription } from "../account/AccountDescription.ts"
import type { Keep } from "../requests/IdempotencyKey.ts"
import type { ImportKey } from "../account/ImportProcess.ts"
import type { Caller } from "../organisation/Organisation.ts"
import type { AuditAction } from "./AuditLog.ts"
import type { ReservationLost } from "./IdempotencyKeys.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

/**
 * A change of the account of `key`; who asks for it, and when, goes into the audit log. `decide`
 * may be asked anew, about what another change has left.
 */
export interface ChangeCommand<A, E> {
  readonly key: ImportKey
  readonly lookup: Lookup
  readonly decide: (account: AccountView) => Result.Result<Decision<A>, E>
  readonly action: AuditAction
  readonly caller: Caller
  readonly at: DateTime.Utc
  /** How the answer is kept, where the request has an idempotency key. */
  readonly keep?: Keep<A> | null
}

export class Accounts extends Context.Service<
  Accounts,
  {
    /** The account that the import has become, with what `lookup` names; none where not imported. */
    readonly view: (
      key: ImportKey,
      lookup: Lookup
    ) => Effect.Effect<Option.Option<AccountView>, StorageUnavailable>

    /**
     * Everything on the account of this number, for the operator; none where there is no such
     * account.
     */
    readonly describe: (
      number: AccountNumber
    ) => Effect.Effect<Option.Option<AccountDescription>, StorageUnavailable>

    /**
     * Changes an account as `decide` says, which sees of the account what `lookup` names and may be
     * called more than once. None where there is no account; nothing is stored where `decide`
     * fails. A change of nothing writes no event. Event: post_import.completed. Audit: `action`,
     * with the outcome `created` where something is stored and `unchanged` where nothing is. With
     * `keep`, the answer is kept in the same step, or the key released where it is a change of
     * nothing; `ReservationLost` comes after what `decide` fails with.
     */
    readonly change: <A, E>(
      command: ChangeCommand<A, E>
    ) => Effect.Effect<Option.Option<A>, E | ReservationLost | StorageUnavailable>

    /**
     * Ends the active payment instruction of the account, for the operator. False, and nothing is
     * written, where none is active. Audit: `end_payment_instruction`, with the outcome `ended`.
     */
    readonly endInstruction: (command: {
      readonly key: ImportKey
      readonly caller: Caller
      readonly at: DateTime.Utc
    }) => Effect.Effect<boolean, StorageUnavailable>
  }
>()("@data-import/domain/ports/Accounts") {}
