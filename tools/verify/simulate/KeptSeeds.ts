/**
 * Every seed that ever failed. A seed stands for the same run only as long as the simulation draws
 * the same numbers; once the traffic has changed, a kept seed is just another run.
 */

export interface KeptSeed {
  readonly seed: number
  readonly steps: number
  /** What was wrong, in a line. */
  readonly why: string
}

export const keptSeeds: ReadonlyArray<KeptSeed> = [
  {
    seed: 178,
    steps: 250,
    why: "a status read before a lease was renewed was evaluated days after"
  }
]
