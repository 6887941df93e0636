/** A document store in memory with a fixed set of files. */
import { Effect, Layer, Option } from "effect"
import { relativePath } from "../../src/schema/DocumentPath.ts"
import { Documents } from "../../src/documents/Documents.ts"

/** `files` maps "root/path" to the size in bytes. It has no folders, so they are never found. */
export const layerMemory = (files: ReadonlyMap<string, number>): Layer.Layer<Documents> =>
  Layer.succeed(Documents, {
    find: (root, path) =>
      Effect.sync(() =>
        Option.map(
          Option.fromNullishOr(files.get(`${root.replace(/^\/|\/$/g, "")}/${relativePath(path)}`)),
          (size) => ({
            size,
            etag: null,
            checksum: null
          })
        )
      ),
    readLink: () => Effect.succeedNone,
    uploadLink: () => Effect.succeedNone
  })
