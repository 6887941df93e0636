/** Storage of reverts. */
import { Context, type DateTime, type Effect, type Option, type Result } from "effect"
import type { AccountNumber } from "../accounts/Account.ts"
import type { ResponseRecorder } from "../idempotency/IdempotencyKey.ts"
import type { ReservationLost } from "../idempotency/IdempotencyKeys.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { ImportDetails } from "./ImportDetails.ts"
import type { ImportKey } from "./ImportProcess.ts"
import type { NamedAccount, RevertRefused, RevertView } from "./Revert.ts"

/** An import after a revert, at this instant. */
export interface Reverted {
  readonly details: ImportDetails
  readonly at: DateTime.Utc
  /** The account as it was; null if nothing was changed. */
  readonly account: NamedAccount | null
}

/** Which account to revert, and why. */
export interface RevertOrder {
  readonly key: ImportKey
  readonly number: AccountNumber
  readonly reason: string
  /** Whether to revert. It sees the import and the account under their locks. */
  readonly decide: (view: RevertView) => Result.Result<boolean, RevertRefused>
}

export interface RevertCommand extends RevertOrder {
  readonly dryRun: boolean
  readonly caller: Caller
  readonly at: DateTime.Utc
  readonly recorder?: ResponseRecorder<Reverted> | null
}

export class Reverts extends Context.Service<
  Reverts,
  {
    /**
     * Reverts the account `number` of the import if `decide` says true. None if nothing was ever
     * staged.
     *
     * In one step: the account ends, and is kept; its active payment instruction ends; the import
     * is Pending with the payload that it was created from; the answers that are kept about the
     * account are deleted, and their keys say so for a day. Event: reverted.
     * Audit: `revert_import`, outcome `reverted` or `unchanged`. With `dryRun` nothing is stored,
     * and the key is released.
     */
    readonly revert: (
      command: RevertCommand
    ) => Effect.Effect<
      Option.Option<Reverted>,
      RevertRefused | ReservationLost | StorageUnavailable
    >
  }
>()("@data-import/domain/ports/Reverts") {}
