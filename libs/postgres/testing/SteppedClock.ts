/**
 * The clock of programs that are tested on PostgreSQL: the time stands still until a test moves it,
 * but sleeping takes its time, because the connections wait for a real server.
 */
import { Clock, Context, type DateTime, Duration, Effect, Layer } from "effect"
import * as CustomClock from "../src/connection/CustomClock.ts"

export class SteppedClock extends Context.Service<
  SteppedClock,
  {
    readonly set: (time: DateTime.Utc) => Effect.Effect<void>
    readonly adjust: (duration: Duration.Input) => Effect.Effect<void>
  }
>()("test/SteppedClock") {
  static readonly layer = Layer.effectContext(
    Effect.gen(function* () {
      let now = 0
      const clock = CustomClock.make(
        yield* Clock.Clock,
        () => now,
        () => BigInt(now) * 1_000_000n
      )
      const steps = {
        set: (time: DateTime.Utc) => Effect.sync(() => void (now = time.epochMilliseconds)),
        adjust: (duration: Duration.Input) =>
          Effect.sync(() => void (now += Duration.toMillis(Duration.fromInputUnsafe(duration))))
      }
      return Context.make(Clock.Clock, clock).pipe(Context.add(SteppedClock, steps))
    })
  )
}

export const adjust = (duration: Duration.Input) =>
  Effect.flatMap(SteppedClock, (clock) => clock.adjust(duration))
