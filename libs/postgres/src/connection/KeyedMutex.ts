/**
 * A mutex for each import. Effects of the same import run one after the other, first come, first
 * served. Use it for work that would otherwise contend for one row: a wait here holds no
 * connection. It orders the work of this process only, so the database must still decide between
 * processes.
 */
import { type Duration, Effect, type Semaphore } from "effect"
import { type ImportKey, keyText } from "@data-import/domain/imports/ImportProcess"
import type { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import * as KeyedSemaphores from "@data-import/domain/support/KeyedSemaphores"
import { contended } from "./SqlFailure.ts"

export type KeyedMutex = <A, E>(
  key: ImportKey,
  effect: Effect.Effect<A, E>
) => Effect.Effect<A, E | StorageUnavailable>

/** An effect that has waited for `wait` fails as contended, and does not run. */
export const make = (wait: Duration.Duration): KeyedMutex => {
  const withSemaphore = KeyedSemaphores.make<string>(1)
  const orElse = () => Effect.fail(contended)
  const afterWait = <A, E>(semaphore: Semaphore.Semaphore, effect: Effect.Effect<A, E>) =>
    Effect.timeoutOrElse(semaphore.takeScoped(1), { duration: wait, orElse }).pipe(
      Effect.andThen(effect),
      Effect.scoped
    )
  // Nearly always the only user, which needs no time limit.
  return (key, effect) =>
    withSemaphore(keyText(key), (semaphore, isOnlyUser) =>
      isOnlyUser ? semaphore.withPermit(effect) : afterWait(semaphore, effect)
    )
}
