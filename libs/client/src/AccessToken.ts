/**
 * The access token that all calls of a client share. However many calls need one at the same time,
 * one request obtains it. Before it expires the next one is obtained while calls still use the old
 * one, so that calls survive a short outage of the token service.
 *
 * The API key is exchanged each time. A refresh token would save nothing here: it can be used once,
 * so a lost answer would end it, and the client has the key anyway.
 * Source: docs/contract/authentication.md.
 */
import { Clock, Deferred, Effect, Exit, type Scope } from "effect"

/** A token, and how long it is valid from now. */
export interface Obtained {
  readonly token: string
  readonly milliseconds: number
}

interface Held {
  readonly token: string
  /** When the next one is obtained while this one is still used. */
  readonly renewAt: number
  readonly expiresAt: number
}

export interface AccessToken<E> {
  /** A token that is valid now, as far as the client knows. */
  readonly get: Effect.Effect<string, E>
  /** Forgets this token, which the service has refused. */
  readonly reject: (token: string) => Effect.Effect<void>
}

/** The part of its life after which a token is renewed. */
const renewAfter = 0.8

/** A token is not used in its last seconds, because it may expire while a request is on its way. */
const spareMilliseconds = 10_000

export const make = <E>(
  obtain: Effect.Effect<Obtained, E>
): Effect.Effect<AccessToken<E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope
    let held: Held | null = null
    let pending: Deferred.Deferred<string, E> | null = null

    const settle = (
      waiting: Deferred.Deferred<string, E>,
      exit: Exit.Exit<Obtained, E>,
      at: number
    ) =>
      Effect.suspend(() => {
        pending = null
        if (Exit.isSuccess(exit)) {
          const { milliseconds, token } = exit.value
          held = {
            token,
            renewAt: at + milliseconds * renewAfter,
            expiresAt: at + milliseconds - spareMilliseconds
          }
        }
        return Deferred.done(
          waiting,
          Exit.map(exit, ({ token }) => token)
        )
      })

    /** The request in progress, or a new one. It belongs to the client: no caller interrupts it. */
    const request = Effect.suspend(() => {
      if (pending !== null) return Effect.succeed(pending)
      const waiting = Deferred.makeUnsafe<string, E>()
      pending = waiting
      return Clock.currentTimeMillis.pipe(
        Effect.flatMap((at) =>
          Effect.exit(obtain).pipe(
            Effect.flatMap((exit) => settle(waiting, exit, at)),
            Effect.forkIn(scope, { startImmediately: true })
          )
        ),
        Effect.as(waiting),
        Effect.uninterruptible
      )
    })

    const get = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      if (held === null || now >= held.expiresAt) return yield* Deferred.await(yield* request)
      if (now >= held.renewAt) yield* request
      return held.token
    })

    const reject = (token: string) =>
      Effect.sync(() => {
        if (held?.token === token) held = null
      })

    return { get, reject }
  })
