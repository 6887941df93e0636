/** A task that a process repeats for as long as it runs. */
import { type Duration, Effect, Schedule } from "effect"

/**
 * Repeats the task for ever, with a pause between. A failure is left to its next turn. A defect is
 * logged with this message, and the task goes on.
 */
export const every = (
  pause: Duration.Duration,
  message: string,
  task: Effect.Effect<unknown, unknown>
): Effect.Effect<never> =>
  task.pipe(
    Effect.ignore,
    Effect.catchDefect((defect) => Effect.logError(message, defect)),
    Effect.repeat(Schedule.spaced(pause)),
    Effect.andThen(Effect.never)
  )
