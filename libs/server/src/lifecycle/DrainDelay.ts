/**
 * How long a stopping service still accepts requests. Meanwhile it is not ready and closes each
 * connection after the next answer, so that load balancers and clients move to another instance.
 * The default of `DRAIN_DELAY_SECONDS` is 5 where the service is the whole process, and 0 for
 * several services in one process, which stop together.
 */
import { type Config, Context, Deferred, Duration, Effect } from "effect"
import * as Settings from "@data-import/domain/support/Settings"

interface Draining {
  /** The default of the setting. */
  readonly seconds: number
  /** Completes when the rest of the delay is to be skipped. */
  readonly skipped: Effect.Effect<void>
}

export const Draining = Context.Reference<Draining>("@data-import/server/Draining", {
  defaultValue: () => ({ seconds: 0, skipped: Effect.never })
})

/**
 * The delay of a process that is stopped by a signal. SIGTERM is from an orchestrator, which needs
 * the delay to redirect requests. SIGINT is from a terminal, where a person waits, and so is a
 * second signal: both skip the delay. Requests in progress are finished in any case.
 */
export const ofProcess = (): Draining => {
  const skipped = Deferred.makeUnsafe<void>()
  let signals = 0
  const onSignal = (signal: NodeJS.Signals) => {
    signals += 1
    if (signal === "SIGINT" || signals > 1) Deferred.doneUnsafe(skipped, Effect.void)
  }
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal)
  return { seconds: 5, skipped: Deferred.await(skipped) }
}

const setting = Settings.integer("DRAIN_DELAY_SECONDS", { minimum: 0, maximum: 300 })

/** Waits for the delay. */
export const wait: Effect.Effect<Effect.Effect<void>, Config.ConfigError> = Effect.gen(
  function* () {
    const { seconds, skipped } = yield* Draining
    const delay = Duration.seconds(yield* setting.or(seconds))
    if (Duration.isZero(delay)) return Effect.void
    return Effect.asVoid(Effect.timeoutOption(Effect.interruptible(skipped), delay))
  }
)
