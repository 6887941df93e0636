/**
 * A bar on stderr while a book is checked, with the progress, the rate and the remaining time. It
 * is drawn on a terminal only.
 */
import { Effect } from "effect"
import { inEnglish } from "@data-import/terminal/Answer"
import { barOfShare, drawing } from "../progress/Drawing.ts"
import type { Progress } from "./CheckBook.ts"

const clock = (seconds: number): string => {
  const [minutes, rest] = [Math.floor(seconds / 60), Math.floor(seconds % 60)]
  return `${minutes}:${String(rest).padStart(2, "0")}`
}

/** The bar as text. Without a known size there is no bar, only counts. */
export const barOf = (progress: Progress): string => {
  const { bytesRead, failed, lines, milliseconds, size } = progress
  const seconds = milliseconds / 1_000
  const rate = seconds > 0 ? `${inEnglish(lines / seconds)} lines/s` : ""
  const counts = `${inEnglish(lines)} lines, ${inEnglish(failed)} failed  ${rate}`
  if (size === null || size === 0) return counts
  const share = Math.min(1, bytesRead / size)
  const left = share > 0 ? clock((seconds * (1 - share)) / share) : "-:--"
  return `${barOfShare(share)}  ${counts}  ${left} left`
}

export interface ProgressBar {
  readonly show: (progress: Progress) => Effect.Effect<void>
  /** Removes the bar before further output. */
  readonly end: Effect.Effect<void>
}

/** It is removed with the scope, also when the check is interrupted. */
export const progressBar = Effect.map(drawing, (drawn): ProgressBar => ({
  show: (progress) => Effect.sync(() => drawn?.draw(progress.milliseconds, () => barOf(progress))),
  end: drawn?.end ?? Effect.void
}))
