/** Sends e-mails, if the deployment is set up to. */
import { Context, type Effect } from "effect"

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/**
 * What came of sending a message. `Refused`: certainly nothing was sent. `Unknown`: it may have
 * been received. `error` is short and has no address; `answer` is what the server said, for the
 * user who sends a test.
 */
export type MessageOutcome =
  | { readonly _tag: "Sent"; readonly answer: string }
  | { readonly _tag: "Refused" | "Unknown"; readonly error: string; readonly answer: string }

export class Mailer extends Context.Service<
  Mailer,
  {
    /** Null if the deployment sends no e-mail. */
    readonly send: ((mail: Mail) => Effect.Effect<MessageOutcome>) | null
  }
>()("@data-import/domain/ports/Mailer") {}
