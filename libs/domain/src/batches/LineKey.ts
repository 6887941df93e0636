/**
 * The idempotency keys under which a line of a batch runs. Its outcome is stored under them until
 * it is stored with the batch.
 */
import type { BatchId } from "./Batch.ts"
import type { EndedLine } from "./BatchLine.ts"
import { IdempotencyKey } from "../idempotency/IdempotencyKey.ts"

/** The steps of a line that store something, each under its own key. */
const steps = ["stage", "end"] as const

/** No client can send a key with such a character. */
export const keyOf = (batch: BatchId, line: number, step: (typeof steps)[number]): IdempotencyKey =>
  IdempotencyKey.make(`\u0001batch ${batch} ${line} ${step}`)

/** The keys of a line. They are needed until its outcome is stored with the batch. */
export const keysOf = (batch: BatchId, line: number): ReadonlyArray<IdempotencyKey> =>
  steps.map((step) => keyOf(batch, line, step))

type End = Pick<EndedLine, "outcome" | "text">

/** The text stored under the key of a step: the outcome of the line if no other step follows. */
export const storedText = ({ outcome, text }: End): string => `${outcome} ${text}`

export const storedEnd = (kept: string): End => {
  const space = kept.indexOf(" ")
  return { outcome: kept.slice(0, space) as EndedLine["outcome"], text: kept.slice(space + 1) }
}

/**
 * The outcome of a line that will not run again: that of the last step with a stored answer. Null
 * if there is none.
 */
export const lastStoredEnd = (
  batch: BatchId,
  line: number,
  answerOf: (key: IdempotencyKey) => string | null
): End | null => {
  const kept = keysOf(batch, line).map(answerOf)
  const last = kept.findLast((answer) => answer !== null) ?? null
  return last === null ? null : storedEnd(last)
}
