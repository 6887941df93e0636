/**
 * The kind of run that a seed determines: how many imports and instances there are, how many
 * faults, and how much concurrency. The conditions are drawn once for each seed, because a run with
 * much of one kind of fault finds more than a run with a little of each.
 */
import type { RandomSource } from "@data-import/testbed/RandomSource"

export interface Conditions {
  /** Whether some clients send batches. */
  readonly batches: boolean
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
  /** How likely a request proceeds slowly. */
  readonly slow: number
  /** How likely a request is one that was sent before. */
  readonly repeats: number
  /** How likely a client sends an idempotency key with a write. */
  readonly keyed: number
  /** How likely a payload breaks a rule. */
  readonly broken: number
  /** From how many account numbers the platform draws, so that some are drawn twice. */
  readonly numbers: number
  /** The weights of the next events, besides waiting calls. */
  readonly weights: {
    readonly crash: number
    readonly freeze: number
    readonly pause: number
    readonly expiry: number
    readonly days: number
    readonly operator: number
    readonly documents: number
    /** Payloads of imported accounts are deleted. */
    readonly upkeep: number
    /** An account is reverted while other requests are about it. */
    readonly reverts: number
  }
}

/** Nothing, a little or a lot. */
const some = (random: RandomSource, most: number): number =>
  random.weighted([
    [3, 0],
    [4, most / 8],
    [3, most]
  ])

/** A run about accounts: some exist from the beginning, and much is added to them. */
const aboutAccounts = (random: RandomSource) => ({
  keys: 1 + random.below(3),
  imported: 1 + random.below(2),
  dryRuns: 0.3,
  hot: 0.4,
  slow: random.pick([0, 0.1, 0.3])
})

/** A run about attempts: they compete for few imports, are slow, and mostly do not change them. */
const aboutAttempts = (random: RandomSource) => ({
  keys: 1 + random.below(4),
  imported: 0,
  dryRuns: random.pick([0.3, 0.7]),
  hot: random.pick([0.3, 0.8]),
  slow: 0.5
})

/** Batches have many steps, so one run in eight has some. */
export const hasBatches = (seed: number): boolean => seed % 8 === 0

export const conditionsOf = (seed: number, random: RandomSource): Conditions => {
  const hasAttempts = random.chance(0.5)
  return {
    ...(hasAttempts ? aboutAttempts(random) : aboutAccounts(random)),
    batches: hasBatches(seed),
    atOnce: (hasAttempts ? 3 : 1) + random.below(5),
    instances: 1 + random.below(3),
    skew: random.pick([0, 0, 5_000, 90_000]),
    deploymentLimit: random.chance(0.3) ? 1 : null,
    supplierLimit: random.chance(0.4) ? 1 : null,
    documentCheck: random.chance(0.4),
    faults: some(random, 0.15),
    lostAnswers: some(random, 0.3),
    repeats: random.pick([0.1, 0.3, 0.5]),
    keyed: random.pick([0, 0.5, 0.9]),
    broken: random.pick([0, 0.05, 0.2]),
    numbers: random.chance(0.3) ? 64 : 2 ** 32,
    weights: {
      crash: some(random, 1),
      freeze: hasAttempts ? 2 : 0.5,
      pause: random.pick([0.2, 1]),
      expiry: hasAttempts ? random.pick([1, 3]) : some(random, 1),
      days: some(random, 0.6),
      operator: random.pick([0.3, 1.2]),
      documents: some(random, 0.5),
      upkeep: some(random, 0.3),
      reverts: random.pick([0, 0.5, 3])
    }
  }
}

/** No faults and no lost answers: the conditions at the end of every run. */
export const calm: Pick<Conditions, "faults" | "lostAnswers"> = { faults: 0, lostAnswers: 0 }
