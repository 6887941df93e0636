/** A task that a process repeats for as long as it runs. */
import { type Duration, Effect, Schedule } from "effect"

/** Once. A failure is left to a later turn, and a defect is logged with this message. */
export const once = (
  message: string,
  task: Effect.Effect<unknown, unknown>
): Effect.Effect<unknown> =>
  task.pipe(
    Effect.ignore,
    Effect.catchDefect((defect) => Effect.logError(message, defect))
  )

/**
 * Repeats the task for ever, with a pause in between. After a failure the next turn tries again. A
 * defect is logged with this message, and the task continues.
 */
export const every = (
  pause: Duration.Duration,
  message: string,
  task: Effect.Effect<unknown, unknown>
): Effect.Effect<never> =>
  once(message, task).pipe(Effect.repeat(Schedule.spaced(pause)), Effect.andThen(Effect.never))
