/**
 * The document store on a file system, with a folder as the bucket. It is for the local run and for
 * tests; deployments use object storage.
 */
import type { StoredDocument } from "@data-import/domain/accounts/StoredDocument"
import { realpath, stat } from "node:fs/promises"
import { join, resolve, sep } from "node:path"
import { Config, DateTime, Effect, Layer, Option } from "effect"
import { Documents, DocumentsUnavailable } from "@data-import/domain/documents/Documents"
import { relativePath } from "@data-import/domain/schema/DocumentPath"
import * as Settings from "@data-import/domain/support/Settings"
import { isReserved } from "./ReservedKeys.ts"
import * as FileSystemUploads from "./FileSystemUploads.ts"
import { traced } from "@data-import/domain/support/Traced"

/** The error codes of a path without a file. */
const absent = ["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP"]

/** Bytes of a name on the usual file systems. */
const longestName = 255

const isTooLong = (key: string): boolean =>
  key.split("/").some((name) => Buffer.byteLength(name) > longestName)

const none: StoredDocument | null = null

const isBelow = (folder: string, file: string): boolean => file.startsWith(folder + sep)

/** Null if there is no file, or if a link leads out of the supplier's root. */
const look = async (folder: string, path: string): Promise<StoredDocument | null> => {
  try {
    const file = await realpath(join(folder, path))
    // If the real path is below the folder as written, no link leads to the folder.
    if (!isBelow(folder, file) && !isBelow(await realpath(folder), file)) return none
    const found = await stat(file)
    return found.isFile() ? { size: found.size, etag: null, checksum: null } : none
  } catch (cause) {
    if (FileSystemUploads.hasCode(cause, ...absent)) return none
    throw cause
  }
}

/**
 * The store in `bucket`, an absolute path of an existing folder. It makes no links for downloads.
 */
const make = (
  bucket: string,
  uploads: Option.Option<FileSystemUploads.Uploads>
): Documents["Service"] => ({
  find: traced("Documents.find")((root, path) =>
    Effect.tryPromise({
      try: async () => {
        const found = await look(resolve(join(bucket, root)), path)
        if (found === none) await stat(bucket)
        return Option.fromNullishOr(found)
      },
      catch: (cause) => new DocumentsUnavailable({ cause })
    })
  ),
  readLink: () => Effect.succeedNone,
  uploadLink: traced("Documents.uploadLink")(
    Effect.fnUntraced(function* (root, path, upload, lifetime) {
      if (Option.isNone(uploads)) return Option.none()
      const expiresAt = DateTime.addDuration(yield* DateTime.now, lifetime)
      const key = join(root, relativePath(path)).replace(/^\/+/, "")
      if (isReserved(key) || isTooLong(key)) return Option.none()
      const url = FileSystemUploads.linkTo(uploads.value, { ...upload, key, expiresAt })
      const headers = { "content-length": String(upload.size), "if-none-match": "*" }
      return Option.some({ url, headers })
    })
  )
})

/** The store in this folder, an absolute path. */
export const layerWith = (
  bucket: string,
  uploads: Option.Option<FileSystemUploads.Uploads> = Option.none()
): Layer.Layer<Documents> => Layer.succeed(Documents, make(bucket, uploads))

/**
 * Reads `DOCUMENTS_DIR`, the absolute path of the folder that is the bucket, and for uploads
 * `DOCUMENTS_UPLOAD_URL` and `DOCUMENTS_UPLOAD_KEY`, of the process that takes them.
 */
export const layerFileSystem: Layer.Layer<Documents, Config.ConfigError> = Layer.unwrap(
  Effect.map(
    Config.all({
      bucket: Settings.text("DOCUMENTS_DIR").required,
      uploads: FileSystemUploads.settings
    }),
    ({ bucket, uploads }) => layerWith(bucket, uploads)
  )
)
