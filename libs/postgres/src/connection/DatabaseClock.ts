/**
 * The clock of the database as Effect's `Clock`, so that leases, token buckets and expiries mean
 * the same in every instance, however wrong its local clock is. It is set by measurements of the
 * database's clock and runs by the monotonic clock between them. Until the first measurement it
 * shows the local time. A measurement gives an interval that holds the true time. The clock is
 * moved to the nearest end of the interval, so it never goes back by more than it was wrong.
 */
import type { Clock } from "effect"
import * as CustomClock from "./CustomClock.ts"

/** A reading of the database's clock between two readings of the monotonic clock. */
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

/** Makes a clock without a measurement. `local` is the clock of this machine. */
export const make = (local: Clock.Clock): DatabaseClock => {
  /** The database's clock minus the monotonic clock, in milliseconds. */
  let offset: number | null = null
  const monotonic = () => Number(local.monotonicTimeNanosUnsafe()) / 1e6

  const millis = () =>
    offset === null ? local.currentTimeMillisUnsafe() : Math.floor(monotonic() + offset)
  const nanos = () =>
    offset === null
      ? local.currentTimeNanosUnsafe()
      : local.monotonicTimeNanosUnsafe() + BigInt(Math.round(offset * 1e6))

  return {
    monotonic,
    set: ({ received, sent, shown }) => {
      const least = shown - received
      const most = shown - sent
      offset = offset === null ? (least + most) / 2 : Math.min(Math.max(offset, least), most)
    },
    clock: CustomClock.make(local, millis, nanos)
  }
}
