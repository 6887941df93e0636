/**
 * Trying again what failed: a batch of PROCESS that acts for the operator, whom the log names.
 * Source: docs/contract/operator.md#imports.
 */
import * as Batch from "@data-import/domain/batch/Batch"
import { batchLimits } from "@data-import/domain/batch/BatchLine"
import type { ExternalAccountNumber } from "@data-import/domain/account/Account"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import { Batches } from "@data-import/domain/ports/Batches"
import { Configuration, DoesNotExist } from "@data-import/domain/ports/Configuration"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import type { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { DateTime, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { say } from "./Answer.ts"
import { operatorFor } from "./Caller.ts"
import { asExternalAccountNumber, asSupplierCode, asText } from "./Parameter.ts"
import { Refused } from "./Refused.ts"
import { onStorage } from "./Storage.ts"

type Settings = Pick<Batch.BatchSettings, "supplier" | "operationsTeam" | "pending">

const created = Effect.fnUntraced(function* (caller: Caller, settings: Settings, at: DateTime.Utc) {
  const batches = yield* Batches
  const creating = yield* batches
    .create({
      id: Batch.BatchId.make(crypto.randomUUID()),
      settings: {
        ...settings,
        operation: "PROCESS",
        name: "Retry by the operator",
        dryRun: false,
        cohort: null,
        retryOf: null,
        maxFailures: null,
        parameters: {}
      },
      limit: batchLimits.unfinishedBatches,
      caller,
      at
    })
    .pipe(Effect.catchTag("ReservationLost", Effect.die))
  if (creating._tag === "Created") return creating.batch
  return yield* new Refused({ why: "The organisation has too many unfinished batches." })
})

const lineOf = (externalAccountNumber: ExternalAccountNumber) => ({
  bytes: new TextEncoder().encode(
    JSON.stringify({ external_account_number: externalAccountNumber })
  ),
  externalAccountNumber
})

/** Sends the batch its only line. */
const send = Effect.fnUntraced(function* (
  { id }: Batch.Batch,
  number: ExternalAccountNumber,
  { apiKey }: Caller,
  at: DateTime.Utc
) {
  const batches = yield* Batches
  const upload = yield* batches.beginUpload(id)
  yield* batches.append({ id, apiKey, upload, from: 1, lines: [lineOf(number)], at })
})

/** Nobody else knows the batch. */
const impossible = { StateConflict: Effect.die, LineCountMismatch: Effect.die }

const started = Effect.fnUntraced(function* (
  { id }: Batch.Batch,
  lines: number,
  caller: Caller,
  at: DateTime.Utc
) {
  const batches = yield* Batches
  const decide = (batch: Batch.Batch) => Batch.start(batch, lines, { at, apiKey: caller.apiKey })
  return yield* batches
    .change({ id, decide, action: "start_batch", caller, at })
    .pipe(Effect.catchTags({ ReservationLost: Effect.die, ...impossible }))
})

/** A batch would only say so of its line, which has the number. */
const refuseErased = Effect.fnUntraced(function* (
  import_supplier: SupplierCode,
  external_account_number: ExternalAccountNumber
) {
  const imports = yield* ImportProcesses
  const found = yield* imports.find({ import_supplier, external_account_number })
  if (Option.isSome(found) && found.value.erased) {
    const label = `${import_supplier} ${external_account_number}`
    return yield* new Refused({ why: `Cannot retry ${label}: its data was erased.` })
  }
})

export const retry = Command.make(
  "retry",
  {
    supplier: Argument.String("supplier").pipe(asSupplierCode),
    number: Argument.String("number").pipe(asExternalAccountNumber, Argument.optional),
    team: Flag.String("team").pipe(
      Flag.withDescription("The operations team that gets the accounts"),
      asText(128)
    ),
    code: Flag.String("code").pipe(
      Flag.withDescription("Without a number: only those that failed with this code"),
      asText(128),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ code, number, supplier, team }) {
    const configuration = yield* Configuration
    const owner = yield* configuration.supplier(supplier)
    if (Option.isNone(owner)) return yield* new DoesNotExist({ what: "supplier", name: supplier })
    if (!(yield* configuration.hasTeam(team))) {
      return yield* new Refused({ why: `There is no team ${team}.` })
    }
    if (Option.isSome(number)) yield* refuseErased(supplier, number.value)
    const caller = yield* operatorFor(owner.value.organisation)
    const at = yield* DateTime.now
    const ofCode = Option.isSome(code) ? { code: code.value } : {}
    const pending = Option.isSome(number) ? null : { failed: true, ...ofCode }
    const batch = yield* created(caller, { supplier, operationsTeam: team, pending }, at)
    if (Option.isSome(number)) yield* send(batch, number.value, caller, at)
    const { counts, id } = yield* started(batch, Option.isSome(number) ? 1 : 0, caller, at)
    yield* say(
      { batch_id: id, imports: counts.received },
      counts.received === 0
        ? "No import has failed."
        : `${counts.received} imports are processed again: operator batch show ${id}`
    )
  }, onStorage)
).pipe(
  Command.withDescription(
    "Process an import again, or all of a supplier whose latest attempt failed"
  )
)
