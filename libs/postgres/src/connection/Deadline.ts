/** A deadline for the answer of PostgreSQL. */
import { Data, type Duration, Effect, Fiber } from "effect"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"

class NoAnswer extends Data.TaggedError("NoAnswer") {
  override get message(): string {
    return "No answer"
  }
}

const noAnswer = new StorageUnavailable({ cause: new NoAnswer() })

/** Whether the failure is a deadline that has passed. */
export const isNoAnswer = (failure: unknown): boolean => failure === noAnswer

/**
 * Interrupts the effect without a wait for its end. The driver takes up to five seconds to cancel a
 * statement of a silent server.
 */
const disconnect = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(Effect.forkDetach(restore(effect), { startImmediately: true }), (fiber) =>
      Effect.onInterrupt(restore(Fiber.join(fiber)), () =>
        Effect.sync(() => fiber.interruptUnsafe())
      )
    )
  )

/** Fails at the deadline if there is no answer. The statement is cancelled in the background. */
export const answeredWithin = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  duration: Duration.Input
): Effect.Effect<A, E | StorageUnavailable, R> =>
  Effect.timeoutOrElse(disconnect(effect), { duration, orElse: () => Effect.fail(noAnswer) })
