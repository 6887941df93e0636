/**
 * What kind of run a seed is: how many imports and instances, how much goes wrong, how much happens
 * at once. Drawn once for each seed, because a run in which everything goes wrong a little finds
 * less than runs in which one thing goes wrong a lot.
 */
import type { Dice } from "./Dice.ts"

export interface Conditions {
  /** How many imports each supplier has. */
  readonly keys: number
  /** How likely a request is about the first import. */
  readonly hot: number
  /** How many requests run at once, at most. */
  readonly atOnce: number
  /** How many imports have become accounts before anything goes wrong. */
  readonly imported: number
  readonly instances: number
  /** How far the clock of an instance is from the true time at most, in milliseconds. */
  readonly skew: number
  readonly deploymentLimit: number | null
  readonly supplierLimit: number | null
  /** Whether the documents that a request names must exist. */
  readonly documentCheck: boolean
  /** How likely a port call fails. */
  readonly faults: number
  /** How likely an answer never reaches its client. */
  readonly lostAnswers: number
  /** How likely a process is a dry run, after which the import is still there to process. */
  readonly dryRuns: number
  /** How likely a request comes forward slowly. */
  readonly slow: number
  /** How likely a request is one that was sent before. */
  readonly repeats: number
  /** How likely a client sends an idempotency key with a write. */
  readonly keyed: number
  /** How likely a payload breaks a rule. */
  readonly broken: number
  /** Of how many account numbers the platform draws, so that some are drawn twice. */
  readonly numbers: number
  /** What happens next, each as often as its weight, beside the calls that wait. */
  readonly weights: {
    readonly crash: number
    readonly freeze: number
    readonly pause: number
    readonly expiry: number
    readonly days: number
    readonly operator: number
    readonly documents: number
  }
}

/** Nothing, a little or a lot. */
const some = (dice: Dice, most: number): number =>
  dice.weighted([
    [3, 0],
    [4, most / 8],
    [3, most]
  ])

/** A run about accounts: some are there from the beginning, and much is added to them. */
const aboutAccounts = (dice: Dice) => ({
  keys: 1 + dice.below(3),
  imported: 1 + dice.below(2),
  dryRuns: 0.3,
  hot: 0.4,
  slow: dice.pick([0, 0.1, 0.3])
})

/** A run about attempts: they meet on few imports, are slow, and mostly leave them as they were. */
const aboutAttempts = (dice: Dice) => ({
  keys: 1 + dice.below(4),
  imported: 0,
  dryRuns: dice.pick([0.3, 0.7]),
  hot: dice.pick([0.3, 0.8]),
  slow: 0.5
})

export const conditionsOf = (dice: Dice): Conditions => {
  const hasAttempts = dice.chance(0.5)
  return {
    ...(hasAttempts ? aboutAttempts(dice) : aboutAccounts(dice)),
    atOnce: (hasAttempts ? 3 : 1) + dice.below(5),
    instances: 1 + dice.below(3),
    skew: dice.pick([0, 0, 5_000, 90_000]),
    deploymentLimit: dice.chance(0.3) ? 1 : null,
    supplierLimit: dice.chance(0.4) ? 1 : null,
    documentCheck: dice.chance(0.4),
    faults: some(dice, 0.15),
    lostAnswers: some(dice, 0.3),
    repeats: dice.pick([0.1, 0.3, 0.5]),
    keyed: dice.pick([0, 0.5, 0.9]),
    broken: dice.pick([0, 0.05, 0.2]),
    numbers: dice.chance(0.3) ? 16 : 2 ** 32,
    weights: {
      crash: some(dice, 1),
      freeze: hasAttempts ? 2 : 0.5,
      pause: dice.pick([0.2, 1]),
      expiry: hasAttempts ? dice.pick([1, 3]) : some(dice, 1),
      days: some(dice, 0.6),
      operator: dice.pick([0.3, 1.2]),
      documents: some(dice, 0.5)
    }
  }
}

/** As little as possible goes wrong: what the end of every run is like. */
export const calm: Pick<Conditions, "faults" | "lostAnswers"> = { faults: 0, lostAnswers: 0 }
