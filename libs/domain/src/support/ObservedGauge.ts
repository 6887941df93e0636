/** Gauges whose value is read when the metrics are, because it changes too often to be written. */
import { Effect, Metric, type Scope } from "effect"

const nothing = (): void => {}

/** Reports what `read` gives, in the metrics of the fiber, until the scope ends. */
export const observe = (
  gauge: Metric.Gauge<number>,
  read: () => number
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.contextWith((context) =>
    Effect.acquireRelease(
      Effect.sync(() =>
        Metric.registerUnsafe(gauge, context, {
          get: () => ({ value: read() }),
          update: nothing,
          modify: nothing
        })
      ),
      (registration) => Effect.sync(() => registration.remove())
    )
  )
