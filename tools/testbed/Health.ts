/** Waiting until the whole system answers. */
import { get } from "node:http"
import { Data, Duration, Effect } from "effect"

/** Something did not answer within a minute. */
export class NotReady extends Data.TaggedError("NotReady")<{ readonly port: number }> {}

const readiness = "/health/ready"

/** A path of each service behind the gateway, which needs nothing but the service to answer. */
const paths = [
  "/v1/data-import/validate-account/",
  "/v1/data-import/notes/create/",
  "/v1/data-import/limits/",
  "/.well-known/jwks.json"
]

/** Whether the answer is below 500. For a service that is down, the gateway answers 503. */
const answers = (port: number, path: string): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const request = get(
      { host: "127.0.0.1", port, path, agent: false, timeout: 5_000 },
      (answer) => {
        answer.resume()
        resume(Effect.succeed((answer.statusCode ?? 500) < 500))
      }
    )
    request.once("timeout", () => request.destroy())
    request.once("error", () => resume(Effect.succeed(false)))
    return Effect.sync(() => request.destroy())
  })

/** Whether the process at this port reports that it is ready. */
export const isReady = (port: number): Effect.Effect<boolean> => answers(port, readiness)

const allAnswer = (port: number, paths: ReadonlyArray<string>): Effect.Effect<void, NotReady> =>
  Effect.gen(function* () {
    for (const path of paths) {
      while (!(yield* answers(port, path))) yield* Effect.sleep(Duration.millis(50))
    }
  }).pipe(
    Effect.timeoutOrElse({
      duration: Duration.minutes(1),
      orElse: () => Effect.fail(new NotReady({ port }))
    })
  )

/** Succeeds when each service behind the gateway at this port answers through it. */
export const ready = (port: number): Effect.Effect<void, NotReady> => allAnswer(port, paths)

/** Succeeds when the process at this port reports that it is ready. */
export const instanceReady = (port: number): Effect.Effect<void, NotReady> =>
  allAnswer(port, [readiness])
