/** The command was carried out, and lines have failed. The answer has said so. */
import { Data } from "effect"

export class LinesFailed extends Data.TaggedError("LinesFailed")<{}> {}
