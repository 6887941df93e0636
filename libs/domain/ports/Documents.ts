/**
 * The document store, as far as an import needs it: whether the file that a payload names is there, and
 * what the store knows of it. Paths are validated before they come here.
 */
import { Context, Data, type Effect, type Option } from "effect"
import type { DocumentPath } from "../src/Document.ts"

/** What the store gives of a file; `etag` and `checksum` where it gives them. */
export interface StoredDocument {
  readonly size: number
  readonly etag: string | null
  readonly checksum: string | null
}

/** The store cannot be reached right now; the request may be sent again as it is. */
export class DocumentsUnavailable extends Data.TaggedError("DocumentsUnavailable")<{
  readonly cause?: unknown
}> {}

export class Documents extends Context.Service<
  Documents,
  {
    /** The file at bucket + `root` + `path`; none where there is no file (a folder is none). */
    readonly find: (
      root: string,
      path: DocumentPath
    ) => Effect.Effect<Option.Option<StoredDocument>, DocumentsUnavailable>
  }
>()("@data-import/domain/ports/Documents") {}
