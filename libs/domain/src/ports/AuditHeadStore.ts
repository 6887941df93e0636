/**
 * Where the heads of the audit chains are kept, apart from the database: in the document store,
 * under a prefix that no supplier can reach. What is kept is never replaced.
 * Source: docs/backup.md#audit-heads.
 */
import { Context, type Effect, type Option } from "effect"
import type { DocumentsUnavailable } from "./Documents.ts"

/** Gives the text piece by piece. */
export type WriteText<E> = (write: (piece: string) => void) => Effect.Effect<void, E>

export interface KeptText {
  readonly name: string
  readonly text: string
}

export class AuditHeadStore extends Context.Service<
  AuditHeadStore,
  {
    readonly isKept: (name: string) => Effect.Effect<boolean, DocumentsUnavailable>

    /** Keeps the text under this name. False, and nothing changes, if one is kept there. */
    readonly keep: <E>(
      name: string,
      text: WriteText<E>
    ) => Effect.Effect<boolean, E | DocumentsUnavailable>

    /** The text under the last name in the order of names; None if nothing is kept. */
    readonly latest: Effect.Effect<Option.Option<KeptText>, DocumentsUnavailable>
  }
>()("@data-import/domain/ports/AuditHeadStore") {}
