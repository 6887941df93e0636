/** The command was carried out, and lines have failed. The answer has already reported them. */
import { Data } from "effect"

export class LinesFailed extends Data.TaggedError("LinesFailed")<{}> {
  readonly wasCarriedOut = true
}
