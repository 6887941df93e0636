/**
 * A seeded source of random numbers: the same seed draws the same numbers on every machine. It is
 * sfc32, which passes the usual test batteries and needs 32-bit arithmetic only. fast-check cannot
 * serve here, because what there is to choose from depends on how a run has gone so far.
 */

export interface RandomSource {
  /** From 0, inclusive, to 1, exclusive. */
  readonly next: () => number
  /** A whole number from 0 to `bound`, exclusive. */
  readonly below: (bound: number) => number
  /** A whole number from `least` to `most`, both inclusive. */
  readonly between: (least: number, most: number) => number
  readonly chance: (probability: number) => boolean
  /** One element of a list that is not empty. */
  readonly pick: <A>(from: ReadonlyArray<A>) => A
  /** One of the options, each as likely as its weight; at least one weight is above 0. */
  readonly weighted: <A>(options: ReadonlyArray<readonly [weight: number, option: A]>) => A
}

/** Spreads a small seed over the state, so that neighbouring seeds have nothing in common. */
const splitMix = (seed: number) => {
  let state = seed | 0
  return () => {
    state = (state + 0x9e3779b9) | 0
    const once = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    const twice = Math.imul(once ^ (once >>> 15), 0x735a2d97)
    return (twice ^ (twice >>> 15)) | 0
  }
}

const sfc32 = (seed: number): (() => number) => {
  const spread = splitMix(seed)
  let [a, b, c, counter] = [spread(), spread(), spread(), 1]
  return () => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
}

/** The source of a seed; another `stream` of the same seed is independent of the first. */
export const randomSource = (seed: number, stream = 0): RandomSource => {
  const next = sfc32(Math.imul(seed, 0x01000193) ^ Math.imul(stream, 0x85ebca6b))
  const below = (bound: number) => Math.floor(next() * bound)
  return {
    next,
    below,
    between: (least, most) => least + below(most - least + 1),
    chance: (probability) => next() < probability,
    pick: <A>(from: ReadonlyArray<A>) => from[below(from.length)] as A,
    weighted: <A>(options: ReadonlyArray<readonly [number, A]>) => {
      let left = next() * options.reduce((sum, [weight]) => sum + weight, 0)
      const found = options.find(([weight]) => (left -= weight) < 0)
      const [, option] = found ?? options[0] ?? []
      return option as A
    }
  }
}
