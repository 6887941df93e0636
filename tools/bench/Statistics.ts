/** Quantiles, medians, scatter, slopes and maximum densities of measured values. */

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

/** The range of the values, from the lowest to the highest, as a share of their median. */
export const scatter = (values: ReadonlyArray<number>): number =>
  values.length === 0 ? 0 : (Math.max(...values) - Math.min(...values)) / median(values)

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
