/**
 * The command that reverts an account for a client. It may do so after the window, but never
 * without a word.
 * Source: docs/contract/reverts.md.
 */
import { revertBody } from "@data-import/api/RevertApi"
import { envelopeOf } from "@data-import/api/ErrorResponse"
import { decideRevert } from "@data-import/domain/imports/Revert"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { say } from "@data-import/terminal/Answer"
import { flag } from "@data-import/terminal/Parameter"
import { Refused } from "@data-import/terminal/Refused"
import { DateTime, Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { operatorFor } from "./Caller.ts"
import { importArguments } from "./ImportArguments.ts"
import { importMeant, noSupplier } from "./Mode.ts"
import { asAccountNumber, asText } from "./Parameter.ts"
import { onStorage } from "./Storage.ts"

export const revert = Command.make(
  "revert",
  {
    ...importArguments,
    number: Flag.String("account").pipe(
      Flag.withDescription("The platform account, which must be the present one"),
      asAccountNumber
    ),
    reason: Flag.String("reason").pipe(
      Flag.withDescription("Why; it is kept with the account"),
      asText(500)
    ),
    withAdditions: flag("with-additions", "Also if something was added to the account"),
    beyondWindow: flag("beyond-window", "Also after the supplier's window for reverts"),
    dryRun: flag("dry-run", "Only tell what would happen")
  },
  Effect.fnUntraced(function* ({ dryRun, number, reason, ...options }) {
    const { beyondWindow, external_account_number, import_supplier, withAdditions } = options
    const key = yield* importMeant({ import_supplier, external_account_number })
    const supplier = yield* (yield* Configuration).supplier(key.import_supplier)
    if (Option.isNone(supplier)) return yield* noSupplier(key.import_supplier)
    const reverted = yield* (yield* Reverts)
      .revert({
        key,
        number,
        reason,
        dryRun,
        decide: (view) => decideRevert(key, view, { number, withAdditions, beyondWindow }),
        caller: yield* operatorFor(supplier.value.organisation),
        at: yield* DateTime.now
      })
      .pipe(
        Effect.catchTag("ReservationLost", Effect.die),
        Effect.catchIf(
          (error) => error._tag !== "StorageUnavailable",
          (refusal) => new Refused({ why: envelopeOf(refusal).body.detail })
        )
      )
    const label = `${import_supplier} ${external_account_number}`
    if (Option.isNone(reverted)) {
      return yield* new Refused({ why: `Nothing is staged for ${label}.` })
    }
    const payload = { kraken_account_number: number, reason, dry_run: dryRun }
    const { revert: done, ...body } = revertBody({ ...reverted.value, payload })
    const ended = (done?.payment_instructions ?? []).map(
      ({ reference, vendor }) => ` Its payment instruction ${reference} at ${vendor} ends with it.`
    )
    const text =
      done === null
        ? `${number} was reverted before.`
        : `${number} ${dryRun ? "would be" : "is"} reverted; ${label} ` +
          `${dryRun ? "would be" : "is"} pending again.${ended.join("")}`
    yield* say({ ...body, revert: done }, text)
  }, onStorage)
).pipe(
  Command.withDescription("Take an account back, so that its import can be corrected"),
  Command.withExamples([
    {
      command:
        'operator import revert ACME_LEGACY AL-0002 --account A-0000002A --reason "Wrong balance"',
      description: "Revert one account"
    }
  ])
)
