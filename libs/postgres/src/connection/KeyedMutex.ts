/**
 * A mutex for each import. Effects of the same import run one after the other, first come, first
 * served. Use it for work that would otherwise contend for one row: a wait here holds no
 * connection. It orders the work of this process only, so the database must still decide between
 * processes.
 */
import { type Duration, Effect, RcMap, Semaphore } from "effect"
import { type ImportKey, keyText } from "@data-import/domain/account/ImportProcess"
import type { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import { contended } from "./SqlFailure.ts"

export type KeyedMutex = <A, E>(
  key: ImportKey,
  effect: Effect.Effect<A, E>
) => Effect.Effect<A, E | StorageUnavailable>

/** Nearly always succeeds, and then no time limit is set. Released with the scope. */
const takeIfFree = (semaphore: Semaphore.Semaphore) =>
  Effect.acquireRelease(semaphore.takeIfAvailable(1), (isTaken) =>
    isTaken ? semaphore.release(1) : Effect.void
  )

/** An effect that has waited for `wait` fails as contended, and does not run. */
export const make = Effect.fnUntraced(function* (wait: Duration.Duration) {
  const semaphores = yield* RcMap.make({ lookup: (_key: string) => Semaphore.make(1) })
  const orElse = () => Effect.fail(contended)
  const mutex: KeyedMutex = (key, effect) =>
    RcMap.get(semaphores, keyText(key)).pipe(
      Effect.flatMap((semaphore) =>
        Effect.flatMap(takeIfFree(semaphore), (isTaken) =>
          isTaken
            ? Effect.void
            : Effect.timeoutOrElse(semaphore.takeScoped(1), { duration: wait, orElse })
        )
      ),
      Effect.andThen(effect),
      Effect.scoped
    )
  return mutex
})
