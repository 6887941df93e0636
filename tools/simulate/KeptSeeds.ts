/**
 * Every seed that ever failed, kept so that it is run for ever. A seed stands for a run only as
 * long as the simulation draws what it drew then; where the traffic has changed since, a kept seed
 * is one more run like any other.
 */

export interface KeptSeed {
  readonly seed: number
  readonly steps: number
  /** What was wrong, in a line. */
  readonly why: string
}

export const keptSeeds: ReadonlyArray<KeptSeed> = [
  { seed: 178, steps: 250, why: "a status read before a lease was renewed was judged days after" }
]
