/**
 * The dependencies that a service must have reached once before it is ready, such as its database.
 * Readiness does not depend on them later: see Dependencies.
 */
import { Duration, Effect, Exit, Schedule } from "effect"

const patience = Duration.seconds(2)
const pause = Schedule.spaced(Duration.millis(500))

/**
 * Tries once, because the dependencies are nearly always there. `retryUntilReady` goes on until it
 * succeeds.
 */
export const begin = Effect.fnUntraced(function* (warm: Effect.Effect<unknown, unknown>) {
  let isWarm = false
  const attempt = Effect.tap(Effect.timeout(warm, patience), () =>
    Effect.sync(() => void (isWarm = true))
  )
  const first = yield* Effect.exit(attempt)
  const retryUntilReady = Exit.match(first, {
    onSuccess: () => Effect.void,
    onFailure: (cause) =>
      Effect.logWarning("not ready, because what the service needs does not answer", cause).pipe(
        Effect.andThen(Effect.retry(attempt, pause)),
        Effect.andThen(Effect.logInfo("ready"))
      )
  })
  return { isWarm: () => isWarm, goOn: retryUntilReady }
})
