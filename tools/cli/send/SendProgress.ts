/**
 * The progress of a send: two bars on a terminal, for the lines sent and the lines done, and an
 * occasional line elsewhere.
 */
import { Clock, Effect } from "effect"
import type { Batch } from "@data-import/client/effect"
import { inEnglish } from "@data-import/terminal/Answer"
import { barOfShare, drawing } from "../progress/Drawing.ts"

export interface Sending {
  readonly lines: number
  readonly received: number
  /** Lines that an earlier command has sent. */
  readonly before: number
  /** Since this command sends, in milliseconds. */
  readonly elapsed: number
}

const timeOf = (at: number): string => new Date(at).toLocaleTimeString("en-GB")

const shareOf = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole)

const rateText = (rate: number): string => `${inEnglish(rate)} lines/s`

export const sentText = ({ before, elapsed, lines, received }: Sending, now: number): string => {
  const counts = `${inEnglish(received)} of ${inEnglish(lines)} lines`
  const rate = elapsed > 0 ? ((received - before) * 1_000) / elapsed : 0
  if (rate === 0 || received === lines) return counts
  const end = now + ((lines - received) * 1_000) / rate
  return `${counts}  ${rateText(rate)}  ends ${timeOf(end)}`
}

/** What holds up the lines; empty if they are processed. */
const heldUp = ({ paused_by, waiting_for }: Batch): string => {
  if (paused_by.length > 0) return `  paused by ${paused_by.join(", ")}`
  return waiting_for === null ? "" : `  waits for ${waiting_for}`
}

const endedOf = ({ counts }: Batch): number => counts.received - counts.remaining

export const doneText = (batch: Batch): string => {
  const { counts, estimated_finish_at, lines_per_second } = batch
  const ended = `${inEnglish(endedOf(batch))} of ${inEnglish(counts.received)} lines`
  const failed = `${ended}, ${inEnglish(counts.failed)} failed`
  if (counts.remaining === 0) return failed
  const rate = lines_per_second > 0 ? `  ${rateText(lines_per_second)}` : ""
  const end =
    estimated_finish_at === null ? "" : `  ends ${timeOf(Date.parse(estimated_finish_at))}`
  return `${failed}${rate}${end}${heldUp(batch)}`
}

/** The pause between two lines without a terminal, in milliseconds. */
const linePause = 10_000

export interface SendProgress {
  readonly reading: (read: number, size: number | null) => void
  readonly sending: (received: number) => void
  readonly working: (batch: Batch) => void
  readonly end: Effect.Effect<void>
}

export interface Begun {
  readonly lines: number
  readonly before: number
}

/** Shows nothing of the sending before `begin` was called. */
export const sendProgress = Effect.gen(function* () {
  const clock = yield* Clock.Clock
  const drawn = yield* drawing
  let begun: (Begun & { readonly at: number }) | null = null
  let sent = ""
  let writtenAt = -Infinity
  const line = (now: number, text: () => string) => {
    if (now - writtenAt < linePause) return
    writtenAt = now
    process.stderr.write(`${text()}\n`)
  }
  const show = (text: () => string, bars: () => string) => {
    const now = clock.currentTimeMillisUnsafe()
    if (drawn === null) line(now, text)
    else drawn.draw(now, bars)
  }
  const sentBar = (share: number) => `sent ${barOfShare(share)}  ${sent}`
  const progress: SendProgress & { readonly begin: (begun: Begun) => void } = {
    reading: (read, size) => {
      if (size === null || size === 0) return
      const bar = () => `read ${barOfShare(read / size)}`
      drawn?.draw(clock.currentTimeMillisUnsafe(), bar)
    },
    begin: (given) => {
      begun = { ...given, at: clock.currentTimeMillisUnsafe() }
    },
    sending: (received) => {
      if (begun === null) return
      const { at, before, lines } = begun
      const now = clock.currentTimeMillisUnsafe()
      sent = sentText({ lines, received, before, elapsed: now - at }, now)
      const bars = () => `${sentBar(shareOf(received, lines))}\ndone ${barOfShare(0)}`
      show(() => `sent ${sent}`, bars)
    },
    working: (batch) => {
      const { received } = batch.counts
      sent = `${inEnglish(received)} of ${inEnglish(received)} lines`
      const share = shareOf(endedOf(batch), received)
      const text = doneText(batch)
      const bars = () => `${sentBar(1)}\ndone ${barOfShare(share)}  ${text}`
      show(() => `done ${text}`, bars)
    },
    end: drawn?.end ?? Effect.void
  }
  return progress
})
