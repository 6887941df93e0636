/**
 * Storage of who is signed in at the board. Session ids and the secrets of sign-in links are stored
 * as hashes, so that nobody who reads them can sign in.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import type { BoardUser } from "../organisation/BoardUser.ts"
import type { StorageUnavailable } from "./StorageUnavailable.ts"

export interface BoardSession {
  readonly user: BoardUser
  /** The user's pages send it with each change, which those of other sites cannot. */
  readonly csrfToken: string
  readonly createdAt: DateTime.Utc
  readonly lastSeenAt: DateTime.Utc
}

/** In the audit log; a link is not told apart from others, because only its hash is stored. */
export const linkIssued = {
  action: "issue_board_link",
  outcome: "issued",
  organisation: null
} as const

export class BoardSessions extends Context.Service<
  BoardSessions,
  {
    readonly create: (
      hash: string,
      session: BoardSession
    ) => Effect.Effect<void, StorageUnavailable>
    readonly find: (hash: string) => Effect.Effect<Option.Option<BoardSession>, StorageUnavailable>
    /** Records that the user was there at `at`. An earlier instant changes nothing. */
    readonly renew: (hash: string, at: DateTime.Utc) => Effect.Effect<void, StorageUnavailable>
    readonly end: (hash: string) => Effect.Effect<void, StorageUnavailable>
    /** In a command of the operator it is in the audit log by the same step. */
    readonly createLink: (link: {
      readonly hash: string
      readonly expiresAt: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
    /** Takes the link away. True if it was there and expires after `at`; so it is true once. */
    readonly takeLink: (
      hash: string,
      at: DateTime.Utc
    ) => Effect.Effect<boolean, StorageUnavailable>
    /**
     * Deletes sessions that began or were last renewed at these instants or before, and links that
     * have expired by `at`.
     */
    readonly prune: (ended: {
      readonly createdThrough: DateTime.Utc
      readonly seenThrough: DateTime.Utc
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
  }
>()("@data-import/domain/ports/BoardSessions") {}
