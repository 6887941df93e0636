/** Waiting until a part of the system is ready to work. */
import { get } from "node:http"
import { Data, Duration, Effect } from "effect"

/** It was not ready within a minute. */
export class NotReady extends Data.TaggedError("NotReady")<{ readonly port: number }> {}

const answersReady = (port: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const request = get(
      { host: "127.0.0.1", port, path: "/health/ready", agent: false, timeout: 5_000 },
      (answer) => {
        answer.resume()
        resume(Effect.succeed(answer.statusCode === 200))
      }
    )
    request.once("timeout", () => request.destroy())
    request.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => request.destroy())
  })

/** Done when the service at this port, and whatever stands behind it, says that it is ready. */
export const ready = (port: number): Effect.Effect<void, NotReady> =>
  Effect.gen(function* () {
    while (!(yield* answersReady(port))) yield* Effect.sleep(Duration.millis(50))
  }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.minutes(1),
      orElse: () => Effect.fail(new NotReady({ port }))
    })
  )
