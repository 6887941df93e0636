/** Selects the store of audit heads: that of the documents. */
import { Effect, Layer, Option } from "effect"
import * as Settings from "@data-import/domain/support/Settings"
import { layerFileSystem } from "./FileSystemAuditHeads.ts"
import { layerS3 } from "./S3AuditHeads.ts"

/** Object storage if `S3_BUCKET` is set, otherwise the file system at `DOCUMENTS_DIR`. */
export const layer = Layer.unwrap(
  Effect.map(Settings.text("S3_BUCKET").optional, (bucket) =>
    Option.isSome(bucket) ? layerS3 : layerFileSystem
  )
)
