/**
 * The document store, as far as an import needs it: whether the file that a payload names is there,
 * what the store knows of it, and a link by which a person can read it for a while. Paths are
 * validated before they come here, and no path leads out of the supplier's root.
 */
import { Context, Data, type Duration, type Effect, type Option } from "effect"
import type { StoredDocument } from "../account/StoredDocument.ts"
import type { DocumentPath } from "../schema/DocumentPath.ts"

/**
 * The store cannot be reached right now; the request may be sent again as it is. A store that
 * refuses for good, because it is set up wrongly, is a defect.
 */
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

    /**
     * A link that reads the file for `lifetime`, whether or not it is there; none where the store
     * has no links that end by themselves.
     */
    readonly readLink: (
      root: string,
      path: DocumentPath,
      lifetime: Duration.Duration
    ) => Effect.Effect<Option.Option<URL>, DocumentsUnavailable>
  }
>()("@data-import/domain/ports/Documents") {}
