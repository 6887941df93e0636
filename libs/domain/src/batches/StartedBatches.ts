/**
 * Batches that are created and started at once, without an upload: for chosen imports, or for those
 * that match a filter. The operator command and the board use them.
 * Source: docs/contract/operator.md#imports, docs/contract/board.md#actions.
 */
import { Array, Data, type DateTime, Effect, Stream } from "effect"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import type { ImportFilter } from "../imports/ImportDetails.ts"
import * as Batch from "./Batch.ts"
import { batchLimits } from "./BatchLine.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import type { Batches } from "./Batches.ts"
import type { ImportProcesses } from "../imports/ImportProcesses.ts"
import { limitExceeded } from "../requests/Failure.ts"

/** The batch to create, and on whose behalf. */
export interface WantedBatch {
  readonly id: Batch.BatchId
  readonly settings: Batch.BatchSettings
  readonly caller: Caller
  readonly at: DateTime.Utc
}

const linesAtOnce = 1_000

const lineOf = (externalAccountNumber: ExternalAccountNumber) => ({
  bytes: new TextEncoder().encode(
    JSON.stringify({ external_account_number: externalAccountNumber })
  ),
  externalAccountNumber
})

const create = Effect.fnUntraced(function* (batches: Batches["Service"], wanted: WantedBatch) {
  const creating = yield* batches
    .create({ ...wanted, limit: batchLimits.unfinishedBatches })
    .pipe(Effect.catchTag("ReservationLost", Effect.die))
  return creating._tag === "Created" ? creating.batch : yield* limitExceeded("batches", batchLimits)
})

/** Another request gives the same batch its lines, or gave it others. */
class OtherLines extends Data.TaggedError("OtherLines")<{
  readonly isConcurrent: boolean
}> {}

const start = (batches: Batches["Service"], { at, caller, id }: WantedBatch, lines: number) =>
  batches
    .change({
      id,
      decide: (batch) => Batch.start(batch, lines, { at, apiKey: caller.apiKey }),
      action: "start_batch",
      caller,
      at
    })
    .pipe(
      Effect.catchTags({
        ReservationLost: Effect.die,
        NotFound: Effect.die,
        StateConflict: Effect.die,
        LineCountMismatch: () => new OtherLines({ isConcurrent: false })
      })
    )

/**
 * Starts a batch of PROCESS with these imports, one line each. Repeating it with the same imports
 * changes nothing.
 */
export const processImports = Effect.fnUntraced(function* (
  batches: Batches["Service"],
  wanted: WantedBatch,
  numbers: ReadonlyArray<ExternalAccountNumber>
) {
  const { at, caller, id } = wanted
  yield* create(batches, wanted)
  const upload = yield* batches.beginUpload(id)
  let from = 1
  for (const part of Array.chunksOf(numbers, linesAtOnce)) {
    const lines = part.map(lineOf)
    const { apiKey } = caller
    const filling = batches.append({ id, apiKey, upload, from, lines, at })
    const appending = yield* Effect.catchTag(filling, "NotFound", Effect.die)
    if (appending._tag === "LimitExceeded") return yield* limitExceeded(appending.of, batchLimits)
    // Once it is started, its lines are counted below.
    if (appending._tag !== "Appended" && appending._tag !== "NotOpen") {
      return yield* new OtherLines({ isConcurrent: appending._tag === "Superseded" })
    }
    from += lines.length
  }
  return yield* start(batches, wanted, numbers.length)
})

/** Starts a batch with the imports of its source. Repeating it changes nothing. */
export const startFromSource = Effect.fnUntraced(function* (
  batches: Batches["Service"],
  wanted: WantedBatch
) {
  yield* create(batches, wanted)
  return yield* Effect.catchTag(start(batches, wanted, 0), "OtherLines", Effect.die)
})

/** The imports in the state FAILED, in their order, as many as a batch may have. */
export const failedImports = (
  imports: ImportProcesses["Service"],
  supplier: SupplierCode,
  filter: Pick<ImportFilter, "code" | "cohort">,
  at: DateTime.Utc
) =>
  Effect.map(
    Stream.runCollect(
      imports.list({
        supplier,
        kind: "pending",
        after: null,
        limit: batchLimits.lines,
        detailed: { filter: { failed: true, ...filter }, details: "none", at }
      })
    ),
    (found) => [...found].map(({ external_account_number }) => external_account_number)
  )
