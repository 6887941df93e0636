/**
 * How long a service that was told to stop goes on taking requests. It is unready meanwhile and
 * ends each connection with the next answer, so that whoever sends requests here finds out in time
 * and sends them to another instance. `DRAIN_DELAY_SECONDS` is read here, since its default
 * differs: 5 where the service is the whole process, and 0 for several services in one process,
 * which stop together.
 */
import { type Config, Context, Deferred, Duration, Effect } from "effect"
import * as Settings from "@data-import/domain/support/Settings"

interface Draining {
  /** Unless the setting says otherwise. */
  readonly seconds: number
  /** Done when there is no time for the rest of the delay. */
  readonly skipped: Effect.Effect<void>
}

export const Draining = Context.Reference<Draining>("@data-import/server/Draining", {
  defaultValue: () => ({ seconds: 0, skipped: Effect.never })
})

/**
 * What a process does on a signal: SIGTERM is from an orchestrator, which has others send requests
 * elsewhere. SIGINT is from a terminal, where somebody waits, and so is a second signal: both skip
 * the delay. What runs is finished in any case.
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

/** Waits for as long as the delay. */
export const wait: Effect.Effect<Effect.Effect<void>, Config.ConfigError> = Effect.gen(
  function* () {
    const { seconds, skipped } = yield* Draining
    const delay = Duration.seconds(yield* setting.or(seconds))
    if (Duration.isZero(delay)) return Effect.void
    return Effect.asVoid(Effect.timeoutOption(Effect.interruptible(skipped), delay))
  }
)
