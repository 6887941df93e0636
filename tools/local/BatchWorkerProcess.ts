/**
 * The batch worker of the local run, in a separate process, so that its work does not slow the
 * requests. It is started again if it ends, and ends with the scope or with this process.
 */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import { Data, Deferred, Effect } from "effect"

/** Why it did not start is in its log. */
class WorkerDidNotStart extends Data.TaggedError("WorkerDidNotStart")<{}> {
  override readonly message = "The batch worker did not start."
}

class NotReady extends Data.TaggedError("NotReady")<{}> {}

/** What the process sends when it listens. */
export interface Announcement {
  readonly url: string
  /** Null if it serves no metrics. */
  readonly metricsPort: number | null
}

const script = fileURLToPath(new URL("./batchWorker.ts", import.meta.url))

/**
 * Its log goes to the same output as that of the other services. A signal from the terminal does
 * not reach it: it is stopped after the gateway.
 */
const launch = (env: Readonly<Record<string, string | undefined>>) =>
  Effect.sync(() => fork(script, { env, detached: true, stdio: ["ignore", 2, 2, "ipc"] }))

const ended = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })

const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.suspend(() => {
    child.kill("SIGTERM")
    return ended(child)
  })

/**
 * Starts the worker with these settings and returns when it listens. `announced` is called then,
 * and each time that it was started again.
 */
export const start = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string | undefined>>,
  announced: (announcement: Announcement) => void
) {
  const listening = Deferred.makeUnsafe<void, WorkerDidNotStart>()
  let url = ""
  const life = Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(launch(env), stop)
    child.once("message", (message) => {
      const announcement = message as Announcement
      ;({ url } = announcement)
      announced(announcement)
      Deferred.doneUnsafe(listening, Effect.void)
    })
    yield* ended(child)
    yield* Deferred.fail(listening, new WorkerDidNotStart())
    yield* Effect.logWarning("the batch worker has ended, and is started again")
    yield* Effect.sleep("1 second")
  })
  yield* Effect.forkScoped(Effect.forever(Effect.scoped(life)))
  yield* Deferred.await(listening)
  const checkDependencies = Effect.tryPromise({
    try: (signal) => fetch(`${url}/health/ready`, { signal }),
    catch: () => new NotReady()
  }).pipe(Effect.flatMap(({ ok }) => (ok ? Effect.void : Effect.fail(new NotReady()))))
  return { url, checkDependencies }
})
