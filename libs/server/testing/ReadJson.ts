/** Reads a body whole, for handlers of tests. */
import { Effect } from "effect"
import { parse, read } from "../src/http/JsonBody.ts"

/** The JSON of the request's body of at most `limit` bytes, unchecked. */
export const readJson = (...body: Parameters<typeof read>) => Effect.flatMap(read(...body), parse)
