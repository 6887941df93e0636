/**
 * Trying again what failed: a batch of PROCESS that acts for the operator, whom the log names. It
 * takes the imports that `import list --failed` shows. The filter of batches is another one: it
 * takes those that were staged anew as well, and none that broke off.
 * Source: docs/contract/operator.md#imports.
 */
import * as Batch from "@data-import/domain/batch/Batch"
import { batchLimits } from "@data-import/domain/batch/BatchLine"
import type { ExternalAccountNumber } from "@data-import/domain/account/Account"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import { Batches } from "@data-import/domain/ports/Batches"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { type SupplierCode, wireCode } from "@data-import/domain/organisation/Supplier"
import { Array, DateTime, Effect, Option, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { inEnglish, say } from "@data-import/terminal/Answer"
import { operatorFor } from "./Caller.ts"
import { noSupplier, supplierMeant } from "./Mode.ts"
import { asExternalAccountNumber, asSupplierCode, asText } from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

type Settings = Pick<Batch.BatchSettings, "supplier" | "operationsTeam">

const created = Effect.fnUntraced(function* (caller: Caller, settings: Settings, at: DateTime.Utc) {
  const batches = yield* Batches
  const creating = yield* batches
    .create({
      id: Batch.BatchId.make(crypto.randomUUID()),
      settings: {
        ...settings,
        operation: "PROCESS",
        pending: null,
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

/** The imports in the state FAILED, in their order, as many as a batch may have. */
const failed = Effect.fnUntraced(function* (
  supplier: SupplierCode,
  code: string | null,
  at: DateTime.Utc
) {
  const imports = yield* ImportProcesses
  const filter = { failed: true, ...(code !== null && { code }) }
  const found = yield* Stream.runCollect(
    imports.list({
      supplier,
      kind: "pending",
      after: null,
      limit: batchLimits.lines,
      detailed: { filter, details: "none", at }
    })
  )
  return found.map(({ external_account_number }) => external_account_number)
})

const linesAtOnce = 1_000

/** Sends the batch a line for each. */
const send = Effect.fnUntraced(function* (
  { id }: Batch.Batch,
  numbers: ReadonlyArray<ExternalAccountNumber>,
  { apiKey }: Caller,
  at: DateTime.Utc
) {
  const batches = yield* Batches
  const upload = yield* batches.beginUpload(id)
  let from = 1
  for (const part of Array.chunksOf(numbers, linesAtOnce)) {
    const lines = part.map(lineOf)
    const { _tag } = yield* batches.append({ id, apiKey, upload, from, lines, at })
    if (_tag === "LimitExceeded") {
      return yield* new Refused({ why: "The organisation has too much in unfinished batches." })
    }
    from += lines.length
  }
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
const refuseErased = Effect.fnUntraced(function* (key: ImportKey) {
  const imports = yield* ImportProcesses
  const found = yield* imports.find(key)
  if (Option.isSome(found) && found.value.erased) {
    const label = `${wireCode(key.import_supplier)} ${key.external_account_number}`
    return yield* new Refused({ why: `Cannot retry ${label}: its data was erased.` })
  }
})

export const retry = Command.make(
  "retry",
  {
    supplier: Argument.String("supplier").pipe(
      Argument.withDescription("The code of the import supplier"),
      asSupplierCode
    ),
    number: Argument.String("number").pipe(
      Argument.withDescription("The external account number, as it was sent"),
      asExternalAccountNumber,
      Argument.optional
    ),
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
  Effect.fnUntraced(function* ({ code, number, supplier: named, team }) {
    const configuration = yield* Configuration
    const supplier = yield* supplierMeant(named)
    const owner = yield* configuration.supplier(supplier)
    if (Option.isNone(owner)) return yield* noSupplier(supplier)
    if (!(yield* configuration.hasTeam(team))) {
      return yield* new Refused({ why: `There is no team ${team}.` })
    }
    if (Option.isSome(number)) {
      yield* refuseErased({ import_supplier: supplier, external_account_number: number.value })
    }
    const caller = yield* operatorFor(owner.value.organisation)
    const at = yield* DateTime.now
    const numbers = Option.isSome(number)
      ? [number.value]
      : yield* failed(supplier, Option.getOrNull(code), at)
    const batch = yield* created(caller, { supplier, operationsTeam: team }, at)
    yield* send(batch, numbers, caller, at)
    const { counts, id } = yield* started(batch, numbers.length, caller, at)
    yield* say(
      { batch_id: id, imports: counts.received },
      counts.received === 0
        ? "No import has failed."
        : `${inEnglish(counts.received)} imports are processed again: operator batch show ${id}`
    )
  }, onStorage)
).pipe(
  Command.withDescription("Process an import again, or all that import list --failed shows"),
  Command.withExamples([
    {
      command: 'operator import retry ACME_LEGACY --team "Migration Team North"',
      description: "Process all that failed"
    }
  ])
)
