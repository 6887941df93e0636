/**
 * A clock that the simulation sets, and a scheduler that runs what is ready when the simulation
 * asks it to. Effect's TestClock waits in real time for fibers that it wakes. This clock does not,
 * so a run on the memory adapters is one synchronous computation.
 */
import { type Clock, Duration, Effect, type Scheduler } from "effect"

export interface VirtualTime {
  readonly clock: Clock.Clock
  readonly scheduler: Scheduler.Scheduler
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Runs everything that is ready, until every fiber waits. */
  readonly run: () => void
  /** Whether nothing is ready. */
  readonly isIdle: () => boolean
  /**
   * Wakes the fiber whose sleep ends first, if it ends by `instant`. Otherwise sets the clock to
   * `instant` and returns false.
   */
  readonly wakeNext: (instant: number) => boolean
}

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

const clockOf = (now: () => number, sleepers: Array<Sleeper>): Clock.Clock => {
  const nanos = () => BigInt(now()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) =>
      Effect.callback<void>((resume) => {
        const until = now() + Duration.toMillis(duration)
        const sleeper = { until, wake: () => resume(Effect.void) }
        sleepers.push(sleeper)
        return Effect.sync(() => {
          const at = sleepers.indexOf(sleeper)
          if (at >= 0) sleepers.splice(at, 1)
        })
      })
  }
}

/** The clock at an instant, in milliseconds since 1970. */
export const virtualTime = (start: number): VirtualTime => {
  let present = start
  const sleepers: Array<Sleeper> = []
  const ready: Array<() => void> = []
  const run = () => {
    for (let task = ready.shift(); task !== undefined; task = ready.shift()) task()
  }
  const dispatcher: Scheduler.SchedulerDispatcher = {
    scheduleTask: (task) => {
      ready.push(task)
    },
    flush: run
  }
  return {
    clock: clockOf(() => present, sleepers),
    scheduler: {
      executionMode: "sync",
      shouldYield: () => false,
      makeDispatcher: () => dispatcher
    },
    now: () => present,
    run,
    isIdle: () => ready.length === 0,
    wakeNext: (instant) => {
      const earliest = sleepers.reduce<Sleeper | null>(
        (first, each) => (first === null || each.until < first.until ? each : first),
        null
      )
      if (earliest === null || earliest.until > instant) {
        present = instant
        return false
      }
      present = Math.max(present, earliest.until)
      sleepers.splice(sleepers.indexOf(earliest), 1)
      earliest.wake()
      return true
    }
  }
}

/** The clock of a machine that is this many milliseconds ahead, or behind. */
export const skewed = (clock: Clock.Clock, skew: number): Clock.Clock => {
  const now = () => clock.currentTimeMillisUnsafe() + skew
  const nanos = () => BigInt(now()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
    monotonicTimeNanos: clock.monotonicTimeNanos,
    sleep: (duration) => clock.sleep(duration)
  }
}
