/** How a command of the benchmark runs: its options, and what it says when it cannot go on. */
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Predicate, type Scope } from "effect"
import { layer as tokenMint, type TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { Misunderstood, type Options, optionsOf } from "./Options.ts"

const plainly = ["Misunderstood", "WrongAnswer", "CannotRun", "DidNotStart", "PostgresDidNotStart"]

/** What is wrong with the order or the machine is told in a sentence, everything else in full. */
const explained = (cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  const error = Cause.squash(cause)
  const isPlain = plainly.some((tag) => Predicate.isTagged(error, tag))
  return Console.error(isPlain ? (error as Error).message : Cause.pretty(cause))
}

/** Runs the command of this process to its end. */
export const command = <E>(
  run: (options: Options) => Effect.Effect<void, E, Scope.Scope | TokenIssuer>
): void => {
  const main = Effect.try({
    try: () => optionsOf(process.argv.slice(2)),
    catch: (error) =>
      error instanceof Misunderstood ? error : new Misunderstood({ message: String(error) })
  }).pipe(Effect.flatMap(run), Effect.scoped, Effect.provide(tokenMint), Effect.tapCause(explained))
  NodeRuntime.runMain(main, {
    disableErrorReporting: true,
    teardown: (exit, onExit) => {
      if (Exit.isSuccess(exit)) return onExit(0)
      onExit(Cause.hasInterruptsOnly(exit.cause) ? 130 : 1)
    }
  })
}
