/**
 * The document store: whether the file of a payload exists, what the store reports about it, and
 * temporary links to read and to put it. Paths are validated by the caller, and none leads out of
 * the supplier's root.
 */
import { Context, Data, type Duration, type Effect, type Option } from "effect"
import type { StoredDocument } from "../accounts/StoredDocument.ts"
import type { DocumentPath } from "../schema/DocumentPath.ts"

/**
 * The store cannot be reached now; the same request may be repeated. A store that refuses because
 * of its configuration is a defect.
 */
export class DocumentsUnavailable extends Data.TaggedError("DocumentsUnavailable")<{
  readonly cause?: unknown
}> {}

/** A file to upload: its size in bytes, and its SHA-256 in lower-case hexadecimal. */
export interface DocumentUpload {
  readonly size: number
  readonly sha256: string
}

/** Where to PUT a file, and the headers that the request must have. */
export interface UploadLink {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

export class Documents extends Context.Service<
  Documents,
  {
    /**
     * The file at bucket + `root` + `path` at this moment; None if there is no file. A folder is
     * not a file. Programs use `DocumentLookup`, which caches found documents.
     */
    readonly find: (
      root: string,
      path: DocumentPath
    ) => Effect.Effect<Option.Option<StoredDocument>, DocumentsUnavailable>

    /**
     * A link that reads the file for `lifetime`, whether or not it exists. None if the store has no
     * links that expire.
     */
    readonly readLink: (
      root: string,
      path: DocumentPath,
      lifetime: Duration.Duration
    ) => Effect.Effect<Option.Option<URL>, DocumentsUnavailable>

    /**
     * A link that uploads exactly this file, valid for `lifetime`, and fails if a file exists by
     * then. None if the store takes no uploads, or none at this path.
     */
    readonly uploadLink: (
      root: string,
      path: DocumentPath,
      upload: DocumentUpload,
      lifetime: Duration.Duration
    ) => Effect.Effect<Option.Option<UploadLink>, DocumentsUnavailable>
  }
>()("@data-import/domain/ports/Documents") {}
