/**
 * The clock that the connection pool tells the age of its connections by. `PgClient` has no way to
 * discard a connection, but its pool replaces one that has reached its maximal age when it is
 * taken next. Moving this clock forward by that age discards every connection that is open:
 * statements that run on one are left to end, and no other is given to it.
 */
import { type Clock, Duration, Effect } from "effect"
import * as CustomClock from "./CustomClock.ts"

export interface PoolClock {
  /** Sleeps as the clock of the process does. */
  readonly clock: Clock.Clock
  /** Lets no statement begin on a connection that is open now. */
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
