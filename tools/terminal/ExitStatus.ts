/**
 * The exit statuses of the commands. 0: success. 1: it was carried out, but reports a problem. 2:
 * it was not carried out. 130: it was interrupted.
 */
import { Cause, Exit, Option, Predicate } from "effect"

/** An error of a command that was carried out. */
const wasCarriedOut = (error: unknown): boolean =>
  Predicate.hasProperty(error, "wasCarriedOut") && error.wasCarriedOut === true

export const exitStatusOf = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.hasInterruptsOnly(exit.cause)) return 130
  return Option.exists(Cause.findErrorOption(exit.cause), wasCarriedOut) ? 1 : 2
}
