/** Keeps the outcomes of rehearsals up to date, in the background. */
import { Duration, Effect } from "effect"
import { every } from "../support/Every.ts"
import type { RehearsalOutcomes } from "./RehearsalOutcomes.ts"

/** How long changes are collected, because the lines of a chunk change one after the other. */
const pause = Duration.seconds(2)

/**
 * Follows until it is interrupted. It rests for as long as it has worked, so that a run whose
 * accounts come in another order than those of the rehearsal is counted later, but costs no more.
 */
export const following = ({ follow }: RehearsalOutcomes["Service"]): Effect.Effect<never> => {
  const turn = Effect.gen(function* () {
    const [took, areMore] = yield* Effect.timed(follow(pause))
    if (areMore) yield* Effect.sleep(took)
    return areMore
  })
  return every(
    pause,
    "the outcomes of rehearsals could not be counted",
    Effect.repeat(turn, { while: (areMore) => areMore })
  )
}
