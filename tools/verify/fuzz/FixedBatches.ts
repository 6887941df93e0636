/**
 * The batches that every run has, in each state in which a request can find one, under ids that are
 * the same in every run. They belong to the demo tenant.
 */
import type { Request, Who } from "./Case.ts"
import type { Operation } from "./Document.ts"

const idOf = (digit: number): string => `0f0f0f0f-0000-4000-8000-00000000000${digit}`

/** Has the lines `openLines`. */
export const openBatch = idOf(1)
/** Started with one line, and paused by the operator for the whole run. */
export const pausedBatch = idOf(2)
export const cancelledBatch = idOf(3)
/** Of two lines, of which one has failed. */
export const endedBatch = idOf(4)
/** Has ended, and its lines were deleted. */
export const deletedBatch = idOf(5)
/** Has as many lines as a batch may have. */
export const fullBatch = idOf(6)
/** Accepts no lines, because it is about pending imports, which it only rehearses. */
export const pendingBatch = idOf(7)
/** The id of a batch that does not exist. */
export const noBatch = idOf(8)

/** The name of batches that stay unfinished until there are too many. */
export const oneOfTooMany = "one of too many"

export const batchesPath = "/v1/data-import/batches/"

export const batchPath = (id: string, rest = ""): string => `${batchesPath}${id}/${rest}`

const batches: Readonly<Record<string, string>> = {
  sendBatchLines: openBatch,
  startBatch: pausedBatch,
  pauseBatch: pausedBatch,
  resumeBatch: pausedBatch,
  cancelBatch: cancelledBatch,
  getBatchForecast: pendingBatch,
  getBatchOutcome: pendingBatch,
  listOutcomeLines: pendingBatch
}

/** The path with a batch for which the operation always succeeds. */
export const withBatch = ({ id, template }: Operation): string =>
  template.replace("{batch_id}", batches[id] ?? endedBatch)

export const openLines = '{"external_account_number":"A"}\n{"external_account_number":"B"}\n'

/** An upload of this body, as NDJSON. */
export const put = (path: string, body: string | Uint8Array, who: Who = "demo"): Request => ({
  method: "PUT",
  path,
  headers: [["content-type", "application/x-ndjson"]],
  who,
  body
})
