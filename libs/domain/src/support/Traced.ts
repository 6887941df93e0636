/**
 * Spans of programs and ports. While requests are not traced, a span costs nothing: `Effect.fn`
 * takes a stack trace and changes the fiber's context at each call, traced or not.
 */
import { Effect, References } from "effect"

/** Runs the calls of a function in spans of this name, if requests are traced. */
export const traced =
  (name: string) =>
  <Args extends ReadonlyArray<unknown>, A, E, R>(run: (...args: Args) => Effect.Effect<A, E, R>) =>
  (...args: Args): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const running = run(...args)
      if (!fiber.getRef(References.TracerEnabled)) return running
      return Effect.withSpan(name, {}, { captureStackTrace: false })(running)
    })
