/** Bars on stderr, drawn over each other, on a terminal only. */
import { Effect } from "effect"
import { createLogUpdate } from "log-update"
import { Json } from "@data-import/terminal/Answer"

const width = 24

/** A bar that is full up to this share, with the share in per cent. */
export const barOfShare = (share: number): string => {
  const full = Math.floor(Math.min(1, share) * width)
  const percent = String(Math.floor(Math.min(1, share) * 100)).padStart(3)
  return `${"█".repeat(full)}${"░".repeat(width - full)} ${percent} %`
}

/** Between two drawings, in milliseconds. */
const pause = 100

export interface Drawing {
  /** Draws a text in the place of the last one, unless that was drawn just before. */
  readonly draw: (at: number, text: () => string) => void
  /** Removes it before further output. */
  readonly end: Effect.Effect<void>
}

const onTerminal = (): Drawing => {
  const update = createLogUpdate(process.stderr)
  let drawnAt = -Infinity
  return {
    draw: (at, text) => {
      if (at - drawnAt < pause) return
      drawnAt = at
      update(text())
    },
    end: Effect.sync(() => update.clear())
  }
}

/** Null if nothing is drawn. It is removed with the scope, also when the work is interrupted. */
export const drawing = Effect.gen(function* () {
  const isDrawn = process.stderr.isTTY && process.env["TERM"] !== "dumb" && !(yield* Json)
  const make = Effect.sync(() => (isDrawn ? onTerminal() : null))
  return yield* Effect.acquireRelease(make, (drawn) => drawn?.end ?? Effect.void)
})
