/** The document store that the environment names. */
import { Config, Effect, Layer, Option } from "effect"
import { layerFileSystem } from "./FileSystemDocuments.ts"
import { layerS3 } from "./S3Documents.ts"

/** Object storage where `S3_BUCKET` is set, otherwise the file system at `DOCUMENTS_DIR`. */
export const layer = Layer.unwrap(
  Effect.map(Config.option(Config.String("S3_BUCKET")), (bucket) =>
    Option.isSome(bucket) ? layerS3 : layerFileSystem
  )
)
