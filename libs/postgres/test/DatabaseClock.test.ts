/** The clock that follows the database's, alone, with made-up measurements. */
import { expect, it } from "@effect/vitest"
import type { Clock } from "effect"
import { Effect } from "effect"
import fc from "fast-check"
import * as DatabaseClock from "../src/connection/DatabaseClock.ts"

const noon = Date.UTC(2026, 0, 1, 12)

/** A machine whose clock is wrong, and whose monotonic clock began at its start. */
const makeMachine = (wrongBy: number) => {
  let elapsed = 0
  const machine = {
    wrongBy,
    pass: (millis: number) => void (elapsed += millis),
    /** What the clock of the database shows. */
    truth: () => noon + elapsed,
    millis: () => Math.floor(noon + elapsed + machine.wrongBy),
    nanos: () => BigInt(Math.round(elapsed * 1e6))
  }
  const local: Clock.Clock = {
    currentTimeMillisUnsafe: machine.millis,
    currentTimeMillis: Effect.sync(machine.millis),
    currentTimeNanosUnsafe: () => BigInt(machine.millis()) * 1_000_000n,
    currentTimeNanos: Effect.sync(() => BigInt(machine.millis()) * 1_000_000n),
    monotonicTimeNanosUnsafe: machine.nanos,
    monotonicTimeNanos: Effect.sync(machine.nanos),
    sleep: () => Effect.void
  }
  return { machine, ...DatabaseClock.make(local) }
}

type Machine = ReturnType<typeof makeMachine>

/** A round trip: the database reads its clock after the first part. */
const measure = ({ machine, monotonic, set }: Machine, there: number, back: number, ahead = 0) => {
  const sent = monotonic()
  machine.pass(there)
  const shown = machine.truth() + ahead
  machine.pass(back)
  set({ sent, received: monotonic(), shown })
}

const hour = 3_600_000

it.each([-hour, 0, hour])(
  "the clock shows the database's time on a machine that is wrong by %i ms",
  (by) => {
    const made = makeMachine(by)
    const { clock, machine } = made
    expect(clock.currentTimeMillisUnsafe(), "until it is measured").toBe(machine.millis())
    measure(made, 3, 3)
    expect(clock.currentTimeMillisUnsafe()).toBe(machine.truth())
    machine.pass(86_400_000)
    expect(clock.currentTimeMillisUnsafe(), "a day later").toBe(machine.truth())
    expect(clock.currentTimeNanosUnsafe() / 1_000_000n).toBe(BigInt(machine.truth()))
  }
)

it("the clock is unaffected when the machine's clock is set", () => {
  const made = makeMachine(0)
  measure(made, 1, 1)
  made.machine.wrongBy = hour
  made.machine.pass(1_000)
  expect(made.clock.currentTimeMillisUnsafe()).toBe(made.machine.truth())
})

it("the clock follows a change of the database's clock", () => {
  const made = makeMachine(0)
  measure(made, 1, 1)
  for (const ahead of [hour, -hour]) {
    measure(made, 1, 1, ahead)
    const shown = made.clock.currentTimeMillisUnsafe() - (made.machine.truth() + ahead)
    expect(Math.abs(shown)).toBeLessThanOrEqual(1)
  }
})

const trips = fc.array(
  fc.record({
    idle: fc.nat({ max: 20_000 }),
    there: fc.nat({ max: 2_000 }),
    back: fc.nat({ max: 2_000 })
  }),
  { minLength: 1, maxLength: 30 }
)

it("the clock is wrong by at most half a round trip, and only corrections set it back", () => {
  fc.assert(
    fc.property(trips, ([first = { idle: 0, there: 0, back: 0 }, ...others]) => {
      const made = makeMachine(hour)
      const { clock, machine } = made
      measure(made, first.there, first.back)
      const wrong = () => clock.currentTimeMillisUnsafe() - machine.truth()
      const bound = (first.there + first.back) / 2 + 1
      expect(Math.abs(wrong())).toBeLessThanOrEqual(bound)
      for (const { back, idle, there } of others) {
        machine.pass(idle)
        const before = wrong()
        measure(made, there, back)
        expect(Math.abs(wrong())).toBeLessThanOrEqual(Math.abs(before) + 1)
        expect(wrong(), "past the truth").toBeGreaterThanOrEqual(Math.min(before, -1))
      }
    })
  )
})
