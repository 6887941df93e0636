/**
 * A mutex for each import. Effects of the same import run one after the other, first come, first
 * served. Use it for work that would otherwise contend for one row: a wait here holds no
 * connection. It orders the work of this process only, so the database must still decide between
 * processes.
 */
import { type Duration, Effect, Semaphore } from "effect"
import { type ImportKey, keyText } from "@data-import/domain/account/ImportProcess"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { contended } from "./SqlFailure.ts"

export type KeyedMutex = <A, E>(
  key: ImportKey,
  effect: Effect.Effect<A, E>
) => Effect.Effect<A, E | StorageUnavailable>

interface Lock {
  readonly key: string
  readonly semaphore: Semaphore.Semaphore
  /** How many effects run or wait. */
  users: number
}

/**
 * An effect that has waited for `wait` fails as contended, and does not run. Effect's `RcMap` would
 * count the users as well, but starts a fiber and copies the context at each first use, which is
 * nearly every use here.
 */
export const make = (wait: Duration.Duration): KeyedMutex => {
  const locks = new Map<string, Lock>()
  const retain = (key: string): Lock => {
    const lock = locks.get(key) ?? { key, semaphore: Semaphore.makeUnsafe(1), users: 0 }
    lock.users += 1
    locks.set(key, lock)
    return lock
  }
  const release = (lock: Lock): void => {
    lock.users -= 1
    if (lock.users === 0) locks.delete(lock.key)
  }
  const orElse = () => Effect.fail(contended)
  const afterWait = <A, E>({ semaphore }: Lock, effect: Effect.Effect<A, E>) =>
    Effect.timeoutOrElse(semaphore.takeScoped(1), { duration: wait, orElse }).pipe(
      Effect.andThen(effect),
      Effect.scoped
    )
  return (key, effect) =>
    Effect.acquireUseRelease(
      Effect.sync(() => retain(keyText(key))),
      (lock) => (lock.users === 1 ? lock.semaphore.withPermit(effect) : afterWait(lock, effect)),
      (lock) => Effect.sync(() => release(lock))
    )
}
