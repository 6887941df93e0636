/**
 * The clock by which the connection pool measures the age of its connections. `PgClient` cannot
 * discard a connection, but its pool replaces a connection of the maximal age when it is next
 * taken. Moving this clock forward by that age discards every open connection. Running statements
 * finish.
 */
import { type Clock, Duration, Effect } from "effect"
import * as CustomClock from "./CustomClock.ts"

export interface PoolClock {
  /** Sleeps like the clock of the process. */
  readonly clock: Clock.Clock
  /** Discards all open connections; running statements finish. */
  readonly discardConnections: Effect.Effect<void>
}

/** The clock of a pool whose `connectionTTL` is `maxAge`. */
export const make = (process: Clock.Clock, maxAge: Duration.Duration): PoolClock => {
  const maxAgeMillis = Math.ceil(Duration.toMillis(maxAge))
  let aheadMillis = 0
  const millis = () => process.currentTimeMillisUnsafe() + aheadMillis
  const nanos = () => process.currentTimeNanosUnsafe() + BigInt(aheadMillis) * 1_000_000n
  return {
    clock: CustomClock.make(process, millis, nanos),
    discardConnections: Effect.sync(() => {
      aheadMillis += maxAgeMillis
    })
  }
}
