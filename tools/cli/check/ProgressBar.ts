/**
 * A bar on stderr while a book is checked: how far, how fast, and how long it will still take. It
 * is drawn on a terminal only.
 */
import { Effect } from "effect"
import { createLogUpdate } from "log-update"
import { Json } from "@data-import/terminal/Answer"
import { inEnglish } from "./CheckAnswer.ts"
import type { Progress } from "./CheckBook.ts"

/** Between two drawings, in milliseconds. */
const pause = 100
const width = 24

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
  const full = Math.floor(share * width)
  const bar = "█".repeat(full) + "░".repeat(width - full)
  const left = share > 0 ? clock((seconds * (1 - share)) / share) : "-:--"
  return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${counts}  ${left} left`
}

export interface ProgressBar {
  readonly show: (progress: Progress) => Effect.Effect<void>
  /** Takes the bar away, so that what follows stands alone. */
  readonly end: Effect.Effect<void>
}

const none: ProgressBar = { show: () => Effect.void, end: Effect.void }

const onTerminal = (): ProgressBar => {
  const update = createLogUpdate(process.stderr)
  let shownAt = -Infinity
  return {
    show: (progress) =>
      Effect.sync(() => {
        if (progress.milliseconds - shownAt < pause) return
        shownAt = progress.milliseconds
        update(barOf(progress))
      }),
    end: Effect.sync(() => update.clear())
  }
}

/** It goes away with the scope, also when the check is interrupted. */
export const progressBar = Effect.gen(function* () {
  const isDrawn = process.stderr.isTTY && process.env["TERM"] !== "dumb" && !(yield* Json)
  const make = Effect.sync(() => (isDrawn ? onTerminal() : none))
  return yield* Effect.acquireRelease(make, ({ end }) => end)
})
