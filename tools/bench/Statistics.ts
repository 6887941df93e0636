/** Quantiles, medians and their intervals, slopes and greatest densities of measured values. */

/** The value below which this share of the values lies; 0 if there are none. */
export const quantile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** The middle value, or the mean of the two in the middle; 0 if there are none. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2
}

const confidence = 0.95

/** How many of so many values lie outside of the interval of their median, at each end. */
const outside = (count: number): number => {
  let probability = 0.5 ** count
  let tail = 0
  for (let below = 0; ; below++) {
    tail += probability
    if (2 * tail > 1 - confidence) return Math.max(0, below - 1)
    probability *= (count - below) / (below + 1)
  }
}

/**
 * An interval that has the true median with a probability of at least 95 %: two of the values, by
 * the binomial distribution of how many lie below the median. It assumes nothing of how the values
 * are distributed. Fewer than six values give their lowest and highest, which is less certain.
 */
export const medianInterval = (values: ReadonlyArray<number>): readonly [number, number] => {
  const sorted = values.toSorted((one, other) => one - other)
  const rank = outside(sorted.length)
  return [sorted[rank] ?? 0, sorted[sorted.length - 1 - rank] ?? 0]
}

/** The maximum number of the ascending times that lie within an interval of this length. */
export const mostWithin = (times: ReadonlyArray<number>, long: number): number =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + long).length))

/** The slope of the straight line that fits the points best, by least squares; 0 for one point. */
export const slope = (points: ReadonlyArray<readonly [x: number, y: number]>): number => {
  const mean = (values: ReadonlyArray<number>) =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
  const middleX = mean(points.map(([x]) => x))
  const middleY = mean(points.map(([, y]) => y))
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0)
  const together = points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0)
  return spread === 0 ? 0 : together / spread
}
