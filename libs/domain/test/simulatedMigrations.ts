/**
 * Simulated migrations of varied shapes, to test forecasts on: accounts created in each hour, from
 * the first import to the last. The same seed makes the same migration.
 */
import { Effect, Random } from "effect"

type Draw = () => number

export interface SimulatedMigration {
  /** The hour of the first import, from a Monday at midnight on. */
  readonly firstHour: number
  /** Imports by hour since the first one, up to the hour in which the migration was done. */
  readonly counts: ReadonlyArray<number>
  /** The fraction of the last hour that it took. */
  readonly lastShare: number
}

const normal = (draw: Draw): number =>
  Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw())

const between = (draw: Draw, least: number, most: number): number => least + draw() * (most - least)

/** A number with equal probability for each order of magnitude. */
const ofAnyScale = (draw: Draw, least: number, most: number): number =>
  least * (most / least) ** draw()

/** A factor around 1. */
const noise = (draw: Draw, spread: number): number => Math.exp(spread * normal(draw))

/** Imports of an hour, relative to the usual ones. Called for each hour in order. */
type Rate = (hour: number) => number

/** The rates of a migration that takes about `hours` active hours from `start` on. */
type Shape = (draw: Draw, start: number, hours: number) => Rate

const always: Rate = () => 1

const daytime = (draw: Draw): Rate => {
  const from = Math.floor(between(draw, 6, 10))
  const to = from + Math.floor(between(draw, 6, 14))
  return (hour) => (hour % 24 >= from && hour % 24 < to ? 1 : 0)
}

const workdays = (draw: Draw): Rate => {
  const day = daytime(draw)
  return (hour) => (Math.floor(hour / 24) % 7 < 5 ? day(hour) : 0)
}

const anyRhythm = (draw: Draw): Rate => {
  const share = draw()
  if (share < 0.4) return always
  return share < 0.6 ? daytime(draw) : workdays(draw)
}

/** A rhythm with noise from hour to hour, times the level. */
const varied = (draw: Draw, rhythm: Rate, level: Rate = always): Rate => {
  const spread = between(draw, 0, 0.6)
  return (hour) => rhythm(hour) * level(hour) * noise(draw, spread)
}

/** Active for one to three hours at a time, and idle for up to days between. */
const bursts: Shape = (draw) => {
  const gap = ofAnyScale(draw, 12, 96)
  let active = 0
  return varied(draw, always, () => {
    if (active > 0) active -= 1
    else if (draw() < 1 / gap) active = Math.floor(between(draw, 1, 4))
    return active > 0 ? 1 : 0
  })
}

/** A trial with few imports, and then the rest. */
const slowStart: Shape = (draw, start, hours) => {
  const until = start + hours * between(draw, 0.15, 0.5)
  const level = ofAnyScale(draw, 0.03, 0.3)
  return varied(draw, anyRhythm(draw), (hour) => (hour < until ? level : 1))
}

/** The level changes a few times, up or down. */
const changes: Shape = (draw, _start, hours) => {
  const probability = between(draw, 1, 4) / hours
  let level = 1
  return varied(draw, anyRhythm(draw), () => {
    if (draw() < probability) level *= noise(draw, 0.7)
    return level
  })
}

const pauses: Shape = (draw, _start, hours) => {
  const probability = between(draw, 1, 4) / hours
  const usual = ofAnyScale(draw, 0.03, 0.25) * hours
  let left = 0
  return varied(draw, anyRhythm(draw), () => {
    if (left > 0) left -= 1
    else if (draw() < probability) left = Math.ceil(usual * between(draw, 0.5, 1.5))
    return left > 0 ? 0 : 1
  })
}

const hugeHour: Shape = (draw, start, hours) => {
  const rate = varied(draw, anyRhythm(draw))
  const at = start + Math.floor(hours * draw())
  const size = hours * between(draw, 0.1, 0.6)
  return (hour) => (hour === at ? size : rate(hour))
}

/** The level wanders around the usual one. */
const wandering: Shape = (draw) => {
  const rhythm = anyRhythm(draw)
  const kept = Math.exp(-1 / ofAnyScale(draw, 12, 120))
  const spread = between(draw, 0.3, 0.8)
  let level = 0
  return (hour) => {
    level = kept * level + spread * Math.sqrt(1 - kept ** 2) * normal(draw)
    return rhythm(hour) * Math.exp(level)
  }
}

export const shapes: Readonly<Record<string, Shape>> = {
  steady: (draw) => varied(draw, always),
  daytime: (draw) => varied(draw, daytime(draw)),
  workdays: (draw) => varied(draw, workdays(draw)),
  bursts,
  slowStart,
  changes,
  pauses,
  hugeHour,
  wandering
}

const longest = 400 * 24

/** A count from an approximate Poisson distribution. */
const arrivals = (draw: Draw, expected: number): number =>
  Math.max(0, Math.round(expected + Math.sqrt(expected) * normal(draw)))

const simulate = (draw: Draw, shape: Shape): SimulatedMigration => {
  const start = Math.floor(between(draw, 0, 7 * 24))
  const hours = ofAnyScale(draw, 8, 24 * 60)
  const total = Math.floor(ofAnyScale(draw, 500, 200_000))
  const rate = shape(draw, start, hours)
  const counts: Array<number> = []
  let [left, lastShare, firstHour] = [total, 1, start]
  for (let hour = start; left > 0 && hour < start + longest; hour += 1) {
    const possible = arrivals(draw, (total / hours) * rate(hour))
    const count = Math.min(left, possible)
    if (counts.length === 0) firstHour = hour
    if (counts.length > 0 || count > 0) counts.push(count)
    left -= count
    lastShare = count / Math.max(1, possible)
  }
  return { firstHour, counts, lastShare }
}

/** The migration of a seed, and a generator for further draws. */
export const simulatedMigration = (shape: Shape, seed: number) =>
  Effect.runSync(
    Effect.map(Random.Random, (random) => {
      const draw = () => random.nextDoubleUnsafe()
      return { migration: simulate(draw, shape), draw }
    }).pipe(Random.withSeed(seed))
  )
