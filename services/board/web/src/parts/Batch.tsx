/** The state of a batch: its progress, its lines by outcome, and why it does not move. */
import type { BatchBody, MigrationDetail } from "../data/Answers.ts"
import { useAnswer } from "../data/Store.ts"
import { Link } from "../routing/Location.tsx"
import { count, counted, rate, share } from "../text/Numbers.ts"
import { answers, pages } from "../routing/Paths.ts"
import { batchState, lineEnds, lineWord, whyStill } from "../text/Words.ts"

export const Progress = ({ batch: { counts } }: { readonly batch: BatchBody }) => {
  const ended = counts.received - counts.remaining
  const label = `${count(ended)} of ${count(counts.received)} lines have ended`
  return (
    <>
      <progress max={Math.max(1, counts.received)} value={ended} aria-label={label} />{" "}
      <span class="share">{share(ended, counts.received)}</span>
    </>
  )
}

/**
 * Whether nothing of the migration has failed now: then what failed in batches that have ended came
 * again since, or is no longer meant to.
 */
export const useIsSettled = (supplier: string): boolean => {
  const { value } = useAnswer<MigrationDetail>(answers.migration(supplier))
  if (value === undefined) return false
  const { lines_failed, lines_refused, states } = value.migration
  return lines_failed + lines_refused + states.FAILED === 0
}

interface LinesProps {
  readonly batch: BatchBody
  readonly supplier: string
  /** Whether nothing of the migration has failed now. */
  readonly isSettled: boolean
  /** The link to why lines have failed. */
  readonly failures: string
}

/** The lines by outcome, which sum up to those received. Each number links to its lines. */
export const Lines = ({ batch, failures, isSettled, supplier }: LinesProps) => {
  const { batch_id: id, counts, dry_run, finished_at, operation } = batch
  const isOver = isSettled && finished_at !== null && !dry_run && operation !== "REVERT"
  const parts = lineEnds
    .map(([outcome, , count]) => ({
      outcome,
      name: lineWord(outcome, batch),
      value: counts[count]
    }))
    .filter(({ value }) => value > 0)
  return (
    <>
      {parts.map(({ name, outcome, value }, index) => (
        <span key={name}>
          {index > 0 && " + "}
          <Link
            to={outcome === "FAILED" ? failures : pages.lines(supplier, id, { outcome })}
            class={outcome === "FAILED" && !isOver ? "bad" : undefined}
          >
            {count(value)} {name}
          </Link>
          {outcome === "FAILED" && isOver && <small> (settled since)</small>}
        </span>
      ))}
      {parts.length > 0 && " = "}
      <Link to={pages.lines(supplier, id)}>{counted(counts.received, "line")}</Link>
    </>
  )
}

export const BatchState = ({ batch }: { readonly batch: BatchBody }) => {
  const why = whyStill(batch)
  const speed = batch.lines_per_second
  return (
    <>
      {why === "" ? batchState(batch.state) : why}
      {speed !== null && speed > 0 && <small class="speed"> {rate(speed)}</small>}
    </>
  )
}
