/**
 * The clock of the database, as Effect's `Clock`, so that leases, allowances and expiries mean the
 * same in every instance, however wrong the clock of its machine is. It is set by measurements of
 * the database's clock and goes on by the monotonic clock between them; until the first one it
 * shows the local time. Each measurement leaves an interval in which the true time lies, and the
 * clock is corrected only as far as it is outside: never back by more than it was wrong.
 */
import type { Clock } from "effect"
import * as CustomClock from "./CustomClock.ts"

/** What the database's clock showed at some instant between two of the monotonic clock. */
export interface Measurement {
  /** Monotonic, in milliseconds. */
  readonly sent: number
  readonly received: number
  /** Unix time in milliseconds. */
  readonly shown: number
}

export interface DatabaseClock {
  readonly clock: Clock.Clock
  /** In milliseconds, with fractions. */
  readonly monotonic: () => number
  readonly set: (measurement: Measurement) => void
}

/** A clock that nothing was measured for yet; `local` is the clock of this machine. */
export const make = (local: Clock.Clock): DatabaseClock => {
  /** By how much the database's clock is ahead of the monotonic one, in milliseconds. */
  let lead: number | null = null
  const monotonic = () => Number(local.monotonicTimeNanosUnsafe()) / 1e6

  const millis = () =>
    lead === null ? local.currentTimeMillisUnsafe() : Math.floor(monotonic() + lead)
  const nanos = () =>
    lead === null
      ? local.currentTimeNanosUnsafe()
      : local.monotonicTimeNanosUnsafe() + BigInt(Math.round(lead * 1e6))

  return {
    monotonic,
    set: ({ received, sent, shown }) => {
      const least = shown - received
      const most = shown - sent
      lead = lead === null ? (least + most) / 2 : Math.min(Math.max(lead, least), most)
    },
    clock: CustomClock.make(local, millis, nanos)
  }
}
