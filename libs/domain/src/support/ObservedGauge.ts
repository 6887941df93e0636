/** Gauges whose value is read only with the metrics, because it changes too often to be pushed. */
import { Effect, Metric, type Scope } from "effect"

const nothing = (): void => {}

/** Reports the value of `read` in the fiber's metrics until the scope ends. */
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
