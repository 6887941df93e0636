/** A command that was not carried out, with the reason in a sentence for the user. */
import { Data } from "effect"
import { CliError } from "effect/cli"

/**
 * `why` goes to stderr. The command changed nothing, unless it was carried out and `why` says what
 * it found; the exit status tells which.
 */
export class Refused extends Data.TaggedError("Refused")<{
  readonly why: string
  readonly wasCarriedOut?: true
  /** The same command would be refused again. */
  readonly isFinal?: true
}> {
  override get [CliError.userMessage](): string {
    return this.why
  }
}
