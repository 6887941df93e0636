/** Waits for what the composed system gets to by itself. */
import { Duration, Effect, Schedule } from "effect"

/** Tries again until the assertions hold, for two minutes at most; then fails as they did. */
export const eventually = (assertions: () => Promise<void>): Promise<void> =>
  Effect.tryPromise({ try: assertions, catch: (cause) => cause }).pipe(
    Effect.retry({ schedule: Schedule.spaced(Duration.millis(500)), times: 240 }),
    Effect.runPromise
  )
