/**
 * The document store on a file system, with a folder as the bucket. It is for the local run and for
 * tests; deployments use object storage.
 */
import type { StoredDocument } from "@data-import/domain/account/StoredDocument"
import { realpath, stat } from "node:fs/promises"
import { join, sep } from "node:path"
import { type Config, Effect, Layer, Option } from "effect"
import { Documents, DocumentsUnavailable } from "@data-import/domain/ports/Documents"
import * as Settings from "@data-import/domain/support/Settings"

/** The error codes of a path without a file. */
const absent = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP"])

const isAbsent = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && absent.has(String(cause.code))

const none: StoredDocument | null = null

/** Null if there is no file, or if a link leads out of the supplier's root. */
const look = async (folder: string, path: string): Promise<StoredDocument | null> => {
  try {
    const root = await realpath(folder)
    const file = await realpath(join(root, path))
    if (!file.startsWith(root + sep)) return none
    const found = await stat(file)
    return found.isFile() ? { size: found.size, etag: null, checksum: null } : none
  } catch (cause) {
    if (isAbsent(cause)) return none
    throw cause
  }
}

/** The store in `bucket`, an absolute path of an existing folder. It has no links. */
const make = (bucket: string): Documents["Service"] => ({
  find: Effect.fn("Documents.find")((root, path) =>
    Effect.tryPromise({
      try: async () => {
        const found = await look(join(bucket, root), path)
        if (found === none) await stat(bucket)
        return Option.fromNullishOr(found)
      },
      catch: (cause) => new DocumentsUnavailable({ cause })
    })
  ),
  readLink: () => Effect.succeedNone
})

/** The store in this folder, an absolute path. */
export const layerWith = (bucket: string): Layer.Layer<Documents> =>
  Layer.succeed(Documents, make(bucket))

/** Reads `DOCUMENTS_DIR`, the absolute path of the folder that is the bucket. */
export const layerFileSystem: Layer.Layer<Documents, Config.ConfigError> = Layer.unwrap(
  Effect.map(Settings.text("DOCUMENTS_DIR").required, layerWith)
)
