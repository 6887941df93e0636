/**
 * The failure that all storage ports share: storage cannot be reached now. Every other error of a
 * driver is a defect.
 */
import { Data } from "effect"

/** The request may be repeated unchanged. */
export class StorageUnavailable extends Data.TaggedError("StorageUnavailable")<{
  readonly cause?: unknown
}> {}
