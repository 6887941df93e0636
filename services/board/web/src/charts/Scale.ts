/** The geometry of the charts: scales, ticks, paths, and labels that do not overlap. */

export type Point = readonly [x: number, y: number]

/** Maps the interval of the values to that of the pixels. */
export const linear =
  ([from, to]: Point, [start, end]: Point) =>
  (value: number): number =>
    to === from ? start : start + ((value - from) / (to - from)) * (end - start)

/** Ticks at 1, 2 or 5 times a power of ten, from zero to the first at or above `most`. */
export const ticks = (most: number, wanted = 4): ReadonlyArray<number> => {
  if (most <= 0) return [0, 1]
  const rough = most / wanted
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = Math.max(1, ([1, 2, 5, 10].find((by) => by * power >= rough) ?? 10) * power)
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, index) => index * step)
}

const hour = 3_600_000
const steps = [0.25, 0.5, 1, 3, 6, 12, 24, 48, 96, 168, 336, 672, 1344, 2688].map(
  (hours) => hours * hour
)

/**
 * Instants at round distances, at most `wanted` of them. They are round by the clock of a zone;
 * `offsetAt` says how far it is ahead of UTC, in milliseconds.
 */
export const timeTicks = (
  from: number,
  to: number,
  wanted: number,
  offsetAt: (at: number) => number = () => 0
): ReadonlyArray<number> => {
  const step = steps.find((it) => (to - from) / it <= wanted) ?? (to - from) / wanted
  const first = Math.ceil((from + offsetAt(from)) / step) * step
  return Array.from({ length: wanted + 1 }, (_, index) => first + index * step)
    .map((wall) => wall - offsetAt(wall - offsetAt(from)))
    .filter((at) => at >= from && at <= to)
}

const rounded = (value: number) => Math.round(value * 10) / 10

/** The path through the points; empty for none. */
export const path = (points: ReadonlyArray<Point>): string =>
  points.map(([x, y], index) => `${index === 0 ? "M" : "L"}${rounded(x)} ${rounded(y)}`).join("")

/**
 * Moves labels that are closer than `gap` apart, within `least` and `most`, and keeps their order.
 */
export const spread = (
  wanted: ReadonlyArray<number>,
  gap: number,
  [least, most]: Point
): ReadonlyArray<number> => {
  const order = wanted
    .map((_, index) => index)
    .toSorted((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0))
  const placed = [...wanted]
  let previous = least - gap
  for (const index of order) {
    previous = Math.max(placed[index] ?? 0, previous + gap)
    placed[index] = previous
  }
  let next = most + gap
  for (const index of order.toReversed()) {
    next = Math.min(placed[index] ?? 0, next - gap)
    placed[index] = next
  }
  return placed
}
