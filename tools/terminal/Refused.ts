/** A command that was not carried out, with the reason in a sentence for whoever typed it. */
import { Data } from "effect"
import { CliError } from "effect/cli"

/** The command changed nothing; `why` goes to stderr, and the exit status is not 0. */
export class Refused extends Data.TaggedError("Refused")<{ readonly why: string }> {
  override get [CliError.userMessage](): string {
    return this.why
  }
}
