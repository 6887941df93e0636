/** A task that a process repeats for as long as it runs. */
import { type Duration, Effect, Schedule } from "effect"

/**
 * Repeats the task for ever, with a pause in between. After a failure the next turn tries again. A
 * defect is logged with this message, and the task continues.
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
