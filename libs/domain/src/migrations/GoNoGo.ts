/**
 * Whether a wave is to be imported: who has said so, and of which rehearsal. Pure functions.
 * Source: docs/contract/board.md#go-or-no-go.
 */
import { type DateTime, Result, Schema } from "effect"
import type { BatchId } from "../batches/Batch.ts"
import type { FieldError } from "../schema/FieldErrors.ts"

export const GoNoGo = Schema.Literals(["GO", "NO_GO"])
export type GoNoGo = typeof GoNoGo.Type

export interface WaveDecision {
  readonly decision: GoNoGo
  /** As the audit log names people. */
  readonly by: string
  readonly at: DateTime.Utc
  /** The rehearsal that it rests on; null if there was none. */
  readonly rehearsal: BatchId | null
  readonly note: string | null
}

/** How many decisions about a wave are read; the newest. */
export const decisionsLookedAt = 20

/** What holds of a wave: a decision that stands, or what is missing for one. */
export type Verdict = GoNoGo | "UNDECIDED" | "OVER" | "HALF"

/**
 * A decision that does not stand any more is over. With four eyes, a go is one of two people:
 * `HALF` is that of one. A no-go ends every go before it.
 */
export const verdictOf = <Decision extends Pick<WaveDecision, "by" | "decision">>(
  newestFirst: ReadonlyArray<Decision>,
  stands: (decision: Decision) => boolean,
  fourEyes: boolean
): Verdict => {
  const [newest] = newestFirst
  if (newest === undefined) return "UNDECIDED"
  const end = newestFirst.findIndex((each) => each.decision === "NO_GO" || !stands(each))
  const goes = end < 0 ? newestFirst : newestFirst.slice(0, end)
  const people = new Set(goes.map(({ by }) => by))
  if (people.size >= (fourEyes ? 2 : 1)) return "GO"
  if (people.size > 0) return "HALF"
  return stands(newest) ? "NO_GO" : "OVER"
}

/** What is wrong with a decision: it rests on what was seen, and a doubtful one has a reason. */
export const checkDecision = (
  decided: Pick<WaveDecision, "decision" | "note"> & { readonly rehearsal: string | null },
  newest: BatchId | null
): Result.Result<void, FieldError> => {
  if (decided.rehearsal !== newest) {
    const detail = `Is not the newest rehearsal, which is ${newest ?? "none"}. Look at it first.`
    return Result.fail({ attr: "rehearsal_id", code: "invalid", detail })
  }
  if (decided.note === null && (decided.decision === "NO_GO" || newest === null)) {
    const detail = "Say why: this is a no-go, or a go without a rehearsal."
    return Result.fail({ attr: "note", code: "required", detail })
  }
  return Result.void
}
