/**
 * What people say about a migration, a wave or an account, with their names and times. A comment is
 * never changed or deleted: a later one corrects it. Erasing an account erases the text about it.
 * Source: docs/contract/board.md#comments.
 */
import { Context, type DateTime, type Effect, Schema } from "effect"
import type { ExternalAccountNumber } from "../accounts/Account.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { nonBlankText } from "../schema/Field.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { SupplierCode } from "../suppliers/Supplier.ts"
import { itemsText, type OpenItem } from "./OpenItems.ts"

export const CommentId = Schema.String.check(Schema.isUUID()).pipe(Schema.brand("CommentId"))
export type CommentId = typeof CommentId.Type

export const CommentText = nonBlankText(2_000)

/** What a user may say by itself. */
export const SaidAbout = Schema.Literals(["comment", "corrections_sent"])
export type SaidAbout = typeof SaidAbout.Type

/** What a comment goes with: nothing else, a change of the status, or a file that was sent. */
export const CommentAbout = Schema.Literals([...SaidAbout.literals, "pause", "resume", "sign_off"])
export type CommentAbout = typeof CommentAbout.Type

export interface Comment {
  readonly id: CommentId
  /** Its place in the order of writing. */
  readonly number: bigint
  readonly supplier: SupplierCode
  /** At most one of these two is given; neither for a comment on the migration. */
  readonly cohort: string | null
  readonly account: ExternalAccountNumber | null
  readonly about: CommentAbout
  /** Null once the account is erased. */
  readonly text: string | null
  /** What was open when it was said, or what the file had; null for other comments. */
  readonly open: ReadonlyArray<OpenItem> | null
  /** As the audit log names people. */
  readonly by: string
  readonly at: DateTime.Utc
}

/** Why a status changes, and what was open then. */
export interface Reason {
  readonly text: string
  readonly open: ReadonlyArray<OpenItem>
}

/** The reason of the present status, for a sentence. */
export type StatusReason = Pick<Comment, "at" | "by" | "open"> & { readonly text: string }

interface Writing {
  readonly supplier: SupplierCode
  readonly caller: Caller
  readonly at: DateTime.Utc
}

/** The outcome in the audit log, which never has the text: that must stay erasable. */
export const commentOutcome = ({
  about,
  id,
  open
}: Pick<Comment, "about" | "open"> & { readonly id: string }): string => {
  const items = open === null || open.length === 0 ? "" : ` with ${itemsText(open)}`
  return `${about} ${id}${items}`
}

export class Comments extends Context.Service<
  Comments,
  {
    /**
     * Stores a comment, unless its id is taken or its account is none or erased. Audit: `comment`
     * with what it is about and its id.
     */
    readonly add: (
      command: Writing &
        Pick<Comment, "about" | "account" | "cohort" | "id" | "open"> & { readonly text: string }
    ) => Effect.Effect<void, StorageUnavailable>

    /** Those of these comments that there are. */
    readonly find: (
      ids: ReadonlyArray<CommentId>
    ) => Effect.Effect<ReadonlyMap<CommentId, Comment>, StorageUnavailable>

    /** Those that meet every condition, the newest first. */
    readonly list: (query: {
      readonly supplier: SupplierCode
      readonly cohort?: string
      readonly account?: ExternalAccountNumber
      readonly about?: CommentAbout
      /** Only comments before this number; null to begin. */
      readonly before: bigint | null
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Comment>, StorageUnavailable>

    /** Why these suppliers are paused or signed off, where a reason was given. */
    readonly reasons: (
      suppliers: ReadonlyArray<SupplierCode>
    ) => Effect.Effect<ReadonlyMap<SupplierCode, StatusReason>, StorageUnavailable>
  }
>()("@data-import/domain/ports/Comments") {}
