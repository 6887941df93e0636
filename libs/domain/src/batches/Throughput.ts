/**
 * How many lines of a batch ended in the last minute, and when the rest will end at that rate.
 * Source: docs/contract/batches.md#the-batch.
 */
import { DateTime, Duration } from "effect"

/** Ended lines by bucket of 5 seconds, each with its first second of Unix time; oldest first. */
export type RecentLines = ReadonlyArray<readonly [second: number, lines: number]>

const bucketSeconds = 5
const windowSeconds = 60

const secondOf = (at: DateTime.Utc): number => Math.floor(DateTime.toEpochMillis(at) / 1_000)

const within = (recent: RecentLines, at: DateTime.Utc): RecentLines =>
  recent.filter(([second]) => second > secondOf(at) - windowSeconds)

/** The buckets with lines that ended now. */
export const add = (recent: RecentLines, lines: number, at: DateTime.Utc): RecentLines => {
  const bucket = secondOf(at) - (secondOf(at) % bucketSeconds)
  const kept = within(recent, at)
  const last = kept.at(-1)
  if (lines === 0) return kept
  return last?.[0] === bucket
    ? [...kept.slice(0, -1), [bucket, last[1] + lines]]
    : [...kept, [bucket, lines]]
}

/** Lines a second over the last minute, or since a later start, to one decimal. */
export const perSecond = (
  recent: RecentLines,
  startedAt: DateTime.Utc,
  now: DateTime.Utc
): number => {
  const lines = within(recent, now).reduce((sum, [, ended]) => sum + ended, 0)
  const seconds = Math.min(windowSeconds, Math.max(1, secondOf(now) - secondOf(startedAt)))
  return Math.round((lines / seconds) * 10) / 10
}

/** When the remaining lines will have ended at this rate; null if it is zero. */
export const estimatedEnd = (
  remaining: number,
  linesPerSecond: number,
  now: DateTime.Utc
): DateTime.Utc | null =>
  linesPerSecond === 0
    ? null
    : DateTime.addDuration(now, Duration.seconds(Math.ceil(remaining / linesPerSecond)))
