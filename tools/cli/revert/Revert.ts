/**
 * `data-import import revert` and `data-import batch revert`: an account, or a wave, is taken back.
 * Source: docs/contract/reverts.md.
 */
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { DataImport } from "@data-import/client/effect"
import { say } from "@data-import/terminal/Answer"
import { flag } from "@data-import/terminal/Parameter"
import { confirm } from "../connection/Asking.ts"
import { onService } from "../connection/Connection.ts"
import { number, supplier } from "../ImportArguments.ts"

const options = {
  reason: Flag.String("reason").pipe(
    Flag.withMetavar("TEXT"),
    Flag.withDescription("Why; it is kept with the accounts")
  ),
  withAdditions: flag("with-additions", "Also accounts to which something was added"),
  dryRun: flag("dry-run", "Only tell what would happen")
}

export const revertImport = Command.make(
  "revert",
  {
    supplier,
    number,
    account: Flag.String("account").pipe(
      Flag.withMetavar("NUMBER"),
      Flag.withDescription("The platform account, which must be the present one")
    ),
    ...options
  },
  Effect.fnUntraced(function* ({ account, dryRun, number, reason, supplier, withAdditions }) {
    const { accountImport } = yield* DataImport
    const reverted = yield* accountImport.revertImport({
      params: { import_supplier: supplier, external_account_number: number },
      payload: {
        payload: {
          kraken_account_number: account,
          reason,
          with_additions: withAdditions,
          dry_run: dryRun
        }
      }
    })
    const { revert } = reverted
    const ended = (revert?.payment_instructions ?? []).map(
      ({ reference, vendor }) => `\nCancel the payment instruction ${reference} at ${vendor}.`
    )
    const done = dryRun ? "would be reverted" : "is reverted, and its import is pending again"
    const text = revert === null ? `${account} was reverted before.` : `${account} ${done}.`
    yield* say({ ...reverted }, [text, ...ended].join(""))
  }, onService)
).pipe(
  Command.withDescription("Take an account back, so that it can be corrected and imported again"),
  Command.withExamples([
    {
      command:
        'data-import import revert ACME_LEGACY AL-0002 --account A-0000002A --reason "Wrong sign"',
      description: "Revert one account"
    }
  ])
)

export const revertBatch = Command.make(
  "revert",
  {
    supplier,
    cohort: Flag.String("cohort").pipe(
      Flag.withMetavar("TEXT"),
      Flag.withDescription(
        "Only accounts of this cohort; all accounts of the supplier unless given"
      ),
      Flag.optional
    ),
    batch: Flag.String("batch").pipe(
      Flag.withMetavar("ID"),
      Flag.withDescription("Only accounts that this batch has created"),
      Flag.optional
    ),
    ...options,
    yes: flag("yes", "Revert without asking").pipe(Flag.withAlias("y"))
  },
  Effect.fnUntraced(function* ({ batch: creator, cohort, dryRun, ...given }) {
    const { reason, supplier, withAdditions, yes } = given
    const of = [
      `all accounts of ${supplier}`,
      ...(Option.isSome(cohort) ? [`in the cohort ${cohort.value}`] : []),
      ...(Option.isSome(creator) ? [`that batch ${creator.value} created`] : [])
    ].join(" ")
    if (!dryRun && !yes) {
      yield* confirm(`Revert ${of}?`, { does: "reverts", nothing: "Nothing was reverted." })
    }
    const { batches } = yield* DataImport
    const created = yield* batches.createBatch({
      payload: {
        payload: {
          import_supplier: supplier,
          operation: "REVERT",
          source: "IMPORTED",
          reason,
          with_additions: withAdditions,
          dry_run: dryRun,
          filter: {
            ...(Option.isSome(cohort) && { cohort: cohort.value }),
            ...(Option.isSome(creator) && { batch_id: creator.value })
          }
        }
      }
    })
    const { batch_id } = created
    const params = { batch_id }
    const batch = yield* batches.startBatch({ params, payload: { payload: { total_lines: 0 } } })
    const does = dryRun
      ? `Dry run ${batch_id} rehearses the revert of`
      : `Batch ${batch_id} reverts`
    yield* say(
      { ...batch, counts: { ...batch.counts } },
      `${does} ${of}. To follow it: data-import batch watch ${batch_id}`
    )
  }, onService)
).pipe(
  Command.withDescription("Take the imported accounts of a supplier, or of a cohort, back"),
  Command.withExamples([
    {
      command:
        'data-import batch revert ACME_LEGACY --cohort wave-3 --reason "Wrong sign" --dry-run',
      description: "Tell what taking a wave back would do"
    }
  ])
)
