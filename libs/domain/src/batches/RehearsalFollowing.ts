/** Keeps the outcomes of rehearsals up to date, in the background. */
import { Duration, Effect } from "effect"
import { every } from "../support/Every.ts"
import type { RehearsalOutcomes } from "./RehearsalOutcomes.ts"

/** How long changes are collected, because the lines of a chunk change one after the other. */
const pause = Duration.seconds(2)

/** Follows until it is interrupted. */
export const following = ({ follow }: RehearsalOutcomes["Service"]): Effect.Effect<never> =>
  every(
    pause,
    "the outcomes of rehearsals could not be counted",
    Effect.repeat(follow(pause), { while: (areMore) => areMore })
  )
