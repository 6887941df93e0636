/** Waits for a state that the composed system reaches on its own. */
import { Duration, Effect, Schedule } from "effect"

/** Retries until the assertions hold, for at most two minutes; then fails with their error. */
export const eventually = (assertions: () => Promise<void>): Promise<void> =>
  Effect.tryPromise({ try: assertions, catch: (cause) => cause }).pipe(
    Effect.retry({ schedule: Schedule.spaced(Duration.millis(500)), times: 240 }),
    Effect.runPromise
  )
