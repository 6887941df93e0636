/** Runs a batch of commands by one effect and answers each of them. */
import { Cause, Effect, Exit } from "effect"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"

/** Runs commands, all of them or none, and answers in their order. */
export type RunBatch<Command, Answer, E = StorageUnavailable> = (
  commands: ReadonlyArray<Command>
) => Effect.Effect<ReadonlyArray<Answer>, E>

/** A command that waits for its answer. */
export interface Pending<Command, Answer> {
  readonly command: Command
  readonly complete: (exit: Exit.Exit<Answer, StorageUnavailable>) => void
}

/** Answers commands without running them. */
export const refuse = <Command, Answer>(
  commands: ReadonlyArray<Pending<Command, Answer>>,
  refusal = new StorageUnavailable({})
): Effect.Effect<void> =>
  Effect.sync(() => {
    for (const { complete } of commands) complete(Exit.fail(refusal))
  })

const answer = <Command, Answer>(
  batch: ReadonlyArray<Pending<Command, Answer>>,
  answers: ReadonlyArray<Answer>
): void =>
  batch.forEach(({ complete }, index) => {
    const own = answers[index]
    complete(own === undefined ? Exit.die(new Error("No answer")) : Exit.succeed(own))
  })

/**
 * If a batch dies, its commands are run again one by one, so that each dies only of its own defect.
 * If it is interrupted, whether they took effect is not known.
 */
export const execute = <Command, Answer>(
  run: RunBatch<Command, Answer>,
  batch: ReadonlyArray<Pending<Command, Answer>>
): Effect.Effect<void> =>
  run(batch.map(({ command }) => command)).pipe(
    Effect.exit,
    Effect.flatMap((exit): Effect.Effect<void> => {
      if (Exit.isSuccess(exit)) return Effect.sync(() => answer(batch, exit.value))
      if (batch.length > 1 && Cause.hasDies(exit.cause)) {
        return Effect.forEach(batch, (pending) => execute(run, [pending]), { discard: true })
      }
      const failed = Exit.failCause(exit.cause)
      return Effect.sync(() => batch.forEach(({ complete }) => complete(failed)))
    }),
    Effect.onInterrupt(() => refuse(batch))
  )
