/** What a batch has come to: its progress, its lines by how they ended, and why it stands still. */
import type { BatchBody } from "../data/Answers.ts"
import { Link } from "../routing/Location.tsx"
import { count, counted, rate, share } from "../text/Numbers.ts"
import { batchState, whyStill } from "../text/Words.ts"

export const Progress = ({ batch: { counts } }: { readonly batch: BatchBody }) => {
  const ended = counts.received - counts.remaining
  const label = `${count(ended)} of ${count(counts.received)} lines have ended`
  return (
    <>
      <progress max={Math.max(1, counts.received)} value={ended} aria-label={label} />{" "}
      {share(ended, counts.received)}
    </>
  )
}

interface LinesProps {
  readonly batch: BatchBody
  /** Where it is said why lines have failed. */
  readonly failures: string
}

/** The five ends of lines, which sum up to those that were received. */
export const Lines = ({ batch: { counts }, failures }: LinesProps) => {
  const parts = (
    [
      ["succeeded", counts.succeeded],
      ["there before", counts.already],
      ["failed", counts.failed],
      ["cancelled", counts.cancelled],
      ["to do", counts.remaining]
    ] as const
  ).filter(([, value]) => value > 0)
  return (
    <>
      {parts.map(([name, value], index) => (
        <span key={name}>
          {index > 0 && " + "}
          {name === "failed" ? (
            <Link to={failures} class="bad">
              {count(value)} failed
            </Link>
          ) : (
            `${count(value)} ${name}`
          )}
        </span>
      ))}
      {parts.length > 0 && " = "}
      {counted(counts.received, "line")}
    </>
  )
}

export const BatchState = ({ batch }: { readonly batch: BatchBody }) => {
  const why = whyStill(batch)
  const speed = batch.lines_per_second
  return (
    <>
      {why === "" ? batchState(batch.state) : why}
      {speed !== null && speed > 0 && <small> {rate(speed)}</small>}
    </>
  )
}
