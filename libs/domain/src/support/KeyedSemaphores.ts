/**
 * Semaphores by key, each kept only while it is used. Effect's `RcMap` counts users as well, but it
 * starts a fiber and copies the context at each first use of a key, which is nearly every use here.
 */
import { Effect, Semaphore } from "effect"

interface Entry {
  readonly semaphore: Semaphore.Semaphore
  users: number
}

/**
 * Runs `use` with the semaphore of the key. `isOnlyUser` says that nobody else uses it, so that all
 * its permits are free.
 */
export type WithSemaphore<Key> = <A, E>(
  key: Key,
  use: (semaphore: Semaphore.Semaphore, isOnlyUser: boolean) => Effect.Effect<A, E>
) => Effect.Effect<A, E>

/** Each semaphore has this many permits. */
export const make = <Key>(permits: number): WithSemaphore<Key> => {
  const entries = new Map<Key, Entry>()
  const enter = (key: Key): Entry => {
    const entry = entries.get(key) ?? { semaphore: Semaphore.makeUnsafe(permits), users: 0 }
    entry.users++
    entries.set(key, entry)
    return entry
  }
  return (key, use) =>
    Effect.acquireUseRelease(
      Effect.sync(() => enter(key)),
      ({ semaphore, users }) => use(semaphore, users === 1),
      (entry) => Effect.sync(() => void (--entry.users === 0 && entries.delete(key)))
    )
}
