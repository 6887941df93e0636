/** A deadline for the answer of PostgreSQL. */
import { Data, type Duration, Effect } from "effect"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"

class NoAnswer extends Data.TaggedError("NoAnswer") {
  override get message(): string {
    return "No answer"
  }
}

const noAnswer = new StorageUnavailable({ cause: new NoAnswer() })

/** Whether the failure is a deadline that has passed. */
export const isNoAnswer = (failure: unknown): boolean => failure === noAnswer

/**
 * Fails at the deadline if there is no answer. The statement is cancelled in the background, at the
 * deadline or when the caller is interrupted: the driver takes up to five seconds to cancel a
 * statement of a silent server. This is what a race with a sleep does, with two fibers instead of
 * three, because there is one for each statement.
 */
export const answeredWithin = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  duration: Duration.Input
): Effect.Effect<A, E | StorageUnavailable, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const statement = yield* Effect.forkDetach(restore(effect), { startImmediately: true })
      const deadline = yield* Effect.forkDetach(Effect.sleep(duration), { startImmediately: true })
      const first = Effect.callback<A, E | StorageUnavailable>((resume) => {
        statement.addObserver(resume)
        deadline.addObserver(() => resume(Effect.fail(noAnswer)))
      })
      const end = Effect.sync(() => {
        deadline.interruptUnsafe()
        statement.interruptUnsafe()
      })
      return yield* Effect.ensuring(restore(first), end)
    })
  )
