/**
 * Keeps exports of the sealed audit log outside of the database: in the document store, under a
 * prefix that no supplier can reach. A kept text is never replaced.
 * Source: docs/backup.md#audit-heads.
 */
import { Context, type Effect, type Option } from "effect"
import type { DocumentsUnavailable } from "../documents/Documents.ts"

/** Writes the text piece by piece. */
export type WriteText<E> = (write: (piece: string) => void) => Effect.Effect<void, E>

export interface KeptText {
  readonly name: string
  readonly text: string
}

export class AuditHeadStore extends Context.Service<
  AuditHeadStore,
  {
    readonly isKept: (name: string) => Effect.Effect<boolean, DocumentsUnavailable>

    /** Keeps the text under this name. False, without a change, if the name is taken. */
    readonly keep: <E>(
      name: string,
      text: WriteText<E>
    ) => Effect.Effect<boolean, E | DocumentsUnavailable>

    /** The text with the last name in order; None if nothing is kept. */
    readonly latest: Effect.Effect<Option.Option<KeptText>, DocumentsUnavailable>
  }
>()("@data-import/domain/ports/AuditHeadStore") {}
