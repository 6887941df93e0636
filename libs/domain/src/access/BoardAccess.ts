/**
 * Sessions of the board. A session ends some time after the last request of its user, and in any
 * case some time after its beginning. A sign-in link begins one session of the operator on this
 * machine.
 * Source: docs/contract/board.md#sessions, docs/contract/board.md#sign-in-links.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, PubSub, Stream } from "effect"
import { type BoardUser, isOfSupplier } from "./BoardUser.ts"
import { Invitations } from "./Invitations.ts"
import { CurrentOperator, type OperatorCommand } from "./Operator.ts"
import { RequestId } from "../suppliers/Organisation.ts"
import { type BoardSession, BoardSessions } from "./BoardSessions.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { TokenSecrets } from "./TokenSigner.ts"
import { every } from "../support/Every.ts"

export interface SessionTimes {
  /** The time limit without a request of the user. */
  readonly idle: Duration.Duration
  /** The time limit since the beginning. */
  readonly absolute: Duration.Duration
  /** For how long a user may prolong a session, once and to look only; null for not at all. */
  readonly prolonged: Duration.Duration | null
}

/** A session that has not ended, with the instants of its ends. */
export interface OpenSession extends BoardSession {
  readonly hash: string
  readonly idleUntil: DateTime.Utc
  readonly endsAt: DateTime.Utc
}

/** The user of a sign-in link: issuing one needs the database, so the user may do everything. */
const localUser: BoardUser = {
  subject: "local",
  name: "local",
  role: "manager",
  organisations: null,
  suppliers: null
}

/** Issues the link that is printed at the start of the local run. */
const local = (): OperatorCommand => ({
  name: localUser.name,
  requestId: RequestId.make(crypto.randomUUID())
})

const linkLifetime = Duration.minutes(10)

/** How often the use of a session is written, because not each request should be a write. */
const renewedEvery = Duration.minutes(1)

const prunedEvery = Duration.minutes(10)

/**
 * A prolonged session needs no user who does something, so its user may only look. Sessions of the
 * role `supplier` are not prolonged.
 */
const openAt = (
  session: BoardSession,
  hash: string,
  { absolute, idle }: SessionTimes
): OpenSession => {
  const { prolongedUntil, user } = session
  if (prolongedUntil !== null) {
    const viewer: BoardUser = { ...user, role: "viewer" }
    return { ...session, user: viewer, hash, idleUntil: prolongedUntil, endsAt: prolongedUntil }
  }
  const endsAt = DateTime.addDuration(session.createdAt, absolute)
  const idleUntil = DateTime.min(DateTime.addDuration(session.lastSeenAt, idle), endsAt)
  return { ...session, hash, idleUntil, endsAt }
}

/** The secret of a new sign-in link, which works once within ten minutes. */
export const issueLink = Effect.gen(function* () {
  const operator = yield* CurrentOperator
  const sessions = yield* BoardSessions
  const secrets = yield* TokenSecrets
  const secret = yield* secrets.make
  const hash = yield* secrets.hash(secret)
  const expiresAt = DateTime.addDuration(yield* DateTime.now, linkLifetime)
  yield* sessions
    .createLink({ hash, expiresAt })
    .pipe(Effect.provideService(CurrentOperator, operator ?? local()))
  return secret
})

export class BoardAccess extends Context.Service<
  BoardAccess,
  {
    /** Begins a session of this user, and returns its id, which is a secret. */
    readonly begin: (
      user: BoardUser,
      requestId: RequestId
    ) => Effect.Effect<string, StorageUnavailable>
    /** None if the session is unknown or has ended. `renews`: the request is one of the user. */
    readonly open: (
      id: string,
      renews: boolean
    ) => Effect.Effect<Option.Option<OpenSession>, StorageUnavailable>
    /** Whether the session with this hash is still open. Does not renew it. */
    readonly goesOn: (hash: string) => Effect.Effect<boolean, StorageUnavailable>
    /**
     * Prolongs the session once, to look only, and returns it as it is then. It is unchanged if it
     * was prolonged, or if sessions are not prolonged here. Audit: `prolong_session`.
     */
    readonly prolong: (
      session: OpenSession,
      requestId: RequestId
    ) => Effect.Effect<OpenSession, StorageUnavailable>
    /** For how long `prolong` would prolong the session; null if it would not. */
    readonly prolongs: (session: OpenSession) => Duration.Duration | null
    readonly end: (hash: string) => Effect.Effect<void, StorageUnavailable>
    /** Ends when this process ends the session; others are noticed by `goesOn`. */
    readonly ended: (hash: string) => Effect.Effect<void>
    /** The id of a new session of the operator; None if the link was used or has expired. */
    readonly follow: (
      secret: string,
      requestId: RequestId
    ) => Effect.Effect<Option.Option<string>, StorageUnavailable>
    /**
     * The id of a new session of the invited person, in place of the one before; None if the
     * invitation was revoked or has expired.
     */
    readonly accept: (
      secret: string,
      requestId: RequestId
    ) => Effect.Effect<Option.Option<string>, StorageUnavailable>
    /** Deletes ended sessions and expired links until it is interrupted. */
    readonly upkeep: Effect.Effect<never>
  }
>()("@data-import/domain/access/BoardAccess") {}

const prolonging = (sessions: BoardSessions["Service"], times: SessionTimes) => {
  const prolongs = ({ prolongedUntil, user }: OpenSession) =>
    prolongedUntil === null && !isOfSupplier(user) ? times.prolonged : null

  const prolong = Effect.fnUntraced(function* (session: OpenSession, requestId: RequestId) {
    const duration = prolongs(session)
    if (duration === null) return session
    const { hash, user } = session
    const until = DateTime.addDuration(yield* DateTime.now, duration)
    yield* sessions
      .prolong(hash, until, user)
      .pipe(Effect.provideService(CurrentOperator, { name: user.name, on: "board", requestId }))
    return openAt({ ...session, prolongedUntil: until }, hash, times)
  })
  return { prolong, prolongs }
}

const signingIn = Effect.fnUntraced(function* (sessions: BoardSessions["Service"]) {
  const invitations = yield* Invitations
  const secrets = yield* TokenSecrets

  /** A session that begins now, with its id. */
  const fresh = Effect.gen(function* () {
    const id = yield* secrets.make
    const csrfToken = yield* secrets.make
    const now = yield* DateTime.now
    const times = { createdAt: now, lastSeenAt: now, prolongedUntil: null }
    const sessionOf = (user: BoardUser): BoardSession => ({ user, csrfToken, ...times })
    return { id, hash: yield* secrets.hash(id), sessionOf }
  })

  const begin = Effect.fnUntraced(function* (user: BoardUser, requestId: RequestId) {
    const { hash, id, sessionOf } = yield* fresh
    yield* sessions
      .create(hash, sessionOf(user))
      .pipe(Effect.provideService(CurrentOperator, { name: user.name, on: "board", requestId }))
    return id
  })

  const follow = Effect.fnUntraced(function* (secret: string, requestId: RequestId) {
    const taken = yield* sessions.takeLink(yield* secrets.hash(secret), yield* DateTime.now)
    return taken ? Option.some(yield* begin(localUser, requestId)) : Option.none<string>()
  })

  const accept = Effect.fnUntraced(function* (secret: string, requestId: RequestId) {
    const { hash: sessionHash, id, sessionOf } = yield* fresh
    const hash = yield* secrets.hash(secret)
    const at = yield* DateTime.now
    const isUsed = yield* invitations.use({ hash, at, requestId, sessionHash, sessionOf })
    return isUsed ? Option.some(id) : Option.none<string>()
  })
  return { begin, follow, accept }
})

const make = (times: SessionTimes) =>
  Effect.gen(function* () {
    const sessions = yield* BoardSessions
    const secrets = yield* TokenSecrets
    const ends = yield* PubSub.unbounded<string>()

    const find = Effect.fnUntraced(function* (hash: string) {
      const now = yield* DateTime.now
      const found = yield* sessions.find(hash)
      return found.pipe(
        Option.map((session) => openAt(session, hash, times)),
        Option.filter(({ idleUntil }) => DateTime.isGreaterThan(idleUntil, now))
      )
    })

    const open = Effect.fnUntraced(function* (id: string, renews: boolean) {
      const hash = yield* secrets.hash(id)
      const found = yield* find(hash)
      if (Option.isNone(found) || !renews) return found
      const now = yield* DateTime.now
      const { lastSeenAt } = found.value
      const due = DateTime.addDuration(lastSeenAt, renewedEvery)
      if (DateTime.isGreaterThan(due, now)) return found
      yield* sessions.renew(hash, now)
      return Option.some(openAt({ ...found.value, lastSeenAt: now }, hash, times))
    })

    const prune = Effect.gen(function* () {
      const at = yield* DateTime.now
      const createdThrough = DateTime.subtractDuration(at, times.absolute)
      const seenThrough = DateTime.subtractDuration(at, times.idle)
      yield* sessions.prune({ at, createdThrough, seenThrough })
    })

    return BoardAccess.of({
      ...(yield* signingIn(sessions)),
      open,
      ...prolonging(sessions, times),
      goesOn: (hash) => Effect.map(find(hash), Option.isSome),
      end: (hash) => Effect.andThen(sessions.end(hash), PubSub.publish(ends, hash)),
      ended: (hash) =>
        Stream.fromPubSub(ends).pipe(
          Stream.filter((other) => other === hash),
          Stream.take(1),
          Stream.runDrain
        ),
      upkeep: every(prunedEvery, "the deletion of ended sessions met an error", prune)
    })
  })

export const layer = (times: SessionTimes) => Layer.effect(BoardAccess, make(times))
