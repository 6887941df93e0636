/**
 * The one failure that every storage port shares: the store cannot be reached right now. Anything
 * else a driver reports is a defect.
 */
import { Data } from "effect"

/** Nothing is known to have changed; the request may be sent again as it is. */
export class StorageUnavailable extends Data.TaggedError("StorageUnavailable")<{
  readonly cause?: unknown
}> {}
