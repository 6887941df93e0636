/** The names of the outbox events of batches. A name never changes. */
import { Schema } from "effect"

export const BatchEventName = Schema.Literals([
  "data_import.batch.started-v1",
  "data_import.batch.paused-v1",
  "data_import.batch.completed-v1",
  "data_import.batch.cancelled-v1"
])
export type BatchEventName = typeof BatchEventName.Type
