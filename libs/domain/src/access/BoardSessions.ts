/**
 * Storage of the board's sessions and sign-in links. Session ids and the secrets of links are
 * stored as hashes, so that nobody can sign in with stored data.
 */
import { Context, type DateTime, type Effect, type Option } from "effect"
import { formatInstant } from "../schema/Field.ts"
import type { BoardUser } from "./BoardUser.ts"
import type { OrganisationName } from "../suppliers/Organisation.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"

export interface BoardSession {
  readonly user: BoardUser
  /** Pages of the board send it with each change. Other sites cannot know it. */
  readonly csrfToken: string
  readonly createdAt: DateTime.Utc
  readonly lastSeenAt: DateTime.Utc
  /** When a session ends that its user has prolonged; null for any other. */
  readonly prolongedUntil: DateTime.Utc | null
}

/** The audit entry of a link. It does not identify the link: only its hash is stored. */
export const linkIssued = {
  action: "issue_board_link",
  outcome: "issued",
  organisation: null
} as const

/** Whose sessions are ended: of a user by subject or name, or of all with their links and invitations. */
export type Ending = { readonly user: string } | "all"

/** The audit entry of ended sessions. */
export const sessionsEnded = (ending: Ending, count: number) =>
  ({
    action: "end_board_sessions",
    outcome: `ended ${count} of ${ending === "all" ? "all users" : ending.user}`,
    organisation: null
  }) as const

/** The audit entry of a sign-in in an organisation, or in `*`. */
export const beginning = (organisation: OrganisationName | null) =>
  ({ action: "sign_in", outcome: "begun", organisation }) as const

/** The audit entries of a sign-in of a user of organisations. */
export const signedIn = ({ organisations }: BoardUser) => (organisations ?? [null]).map(beginning)

/** The audit entries of a session that was prolonged. */
export const prolonged = ({ organisations }: BoardUser, until: DateTime.Utc) =>
  (organisations ?? [null]).map((organisation) => ({
    action: "prolong_session" as const,
    outcome: `read-only until ${formatInstant(until)}`,
    organisation
  }))

export class BoardSessions extends Context.Service<
  BoardSessions,
  {
    /** In the name of the user, this step also writes the audit log. */
    readonly create: (
      hash: string,
      session: BoardSession
    ) => Effect.Effect<void, StorageUnavailable>
    readonly find: (hash: string) => Effect.Effect<Option.Option<BoardSession>, StorageUnavailable>
    /** Records that the user was there at `at`. An earlier instant changes nothing. */
    readonly renew: (hash: string, at: DateTime.Utc) => Effect.Effect<void, StorageUnavailable>
    /**
     * Prolongs a session that was not prolonged before. In the name of the user, this step also
     * writes the audit log.
     */
    readonly prolong: (
      hash: string,
      until: DateTime.Utc,
      user: BoardUser
    ) => Effect.Effect<void, StorageUnavailable>
    readonly end: (hash: string) => Effect.Effect<void, StorageUnavailable>
    /** Sessions that were not deleted yet, the latest first. */
    readonly list: Effect.Effect<ReadonlyArray<Omit<BoardSession, "csrfToken">>, StorageUnavailable>
    /** A change by the operator; returns how many sessions it has ended. */
    readonly endAll: (ending: Ending) => Effect.Effect<number, StorageUnavailable>
    /** In a command of the operator, this step also writes the audit log. */
    readonly createLink: (link: {
      readonly hash: string
      readonly expiresAt: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
    /** Deletes the link. True if it existed and expires after `at`; so a link works once. */
    readonly takeLink: (
      hash: string,
      at: DateTime.Utc
    ) => Effect.Effect<boolean, StorageUnavailable>
    /**
     * Deletes sessions that began or were last renewed at these instants or before, prolonged ones
     * that have ended by `at`, and links and invitations that have expired by then.
     */
    readonly prune: (ended: {
      readonly createdThrough: DateTime.Utc
      readonly seenThrough: DateTime.Utc
      readonly at: DateTime.Utc
    }) => Effect.Effect<void, StorageUnavailable>
  }
>()("@data-import/domain/ports/BoardSessions") {}
