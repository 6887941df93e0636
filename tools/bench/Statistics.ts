/** Medians, centres with their intervals, slopes and densities of measured values. */

/** The middle value, or the mean of the two in the middle; 0 if there are none. */
export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((one, other) => one - other)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2
}

const confidence = 0.95

/**
 * How many of the means of two values lie outside of the interval of the centre, at each end, by
 * the distribution of Wilcoxon's signed-rank statistic for so many values.
 */
const outside = (count: number): number => {
  const total = (count * (count + 1)) / 2
  // How many sets of ranks have each sum.
  const sets = [1, ...Array.from({ length: total }, () => 0)]
  for (let rank = 1; rank <= count; rank++) {
    for (let sum = total; sum >= rank; sum--) sets[sum] = (sets[sum] ?? 0) + (sets[sum - rank] ?? 0)
  }
  let tail = 0
  for (let sum = 0; ; sum++) {
    tail += (sets[sum] ?? 0) / 2 ** count
    if (2 * tail > 1 - confidence) return Math.max(0, sum - 1)
  }
}

/** Where values lie, and an interval that has the true centre with a probability of 95 %. */
export interface Centre {
  readonly value: number
  readonly interval: readonly [low: number, high: number]
}

/**
 * The Hodges-Lehmann estimate of the centre, which is the median of the means of any two of the
 * values and of the values themselves, with its interval. Outliers move it as little as a median,
 * and it scatters less. It assumes that values lie symmetrically. Fewer than six values give their
 * lowest and highest, which is less certain.
 */
export const centre = (values: ReadonlyArray<number>): Centre => {
  const means = values
    .flatMap((one, index) => values.slice(index).map((other) => (one + other) / 2))
    .toSorted((one, other) => one - other)
  const rank = outside(values.length)
  return {
    value: median(means),
    interval: [means[rank] ?? 0, means[means.length - 1 - rank] ?? 0]
  }
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
