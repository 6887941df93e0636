import { describe, expect, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { OrganisationName } from "../src/suppliers/Organisation.ts"
import * as RequestFacts from "../src/requests/RequestFacts.ts"
import { inTimeSlices, type Steps } from "../src/support/Steps.ts"

/** A clock that advances by a millisecond each time it is read. */
const busyClock = Effect.map(Clock.Clock, (clock): Clock.Clock => {
  let millis = 0
  return Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe: () => millis++
  })
})

/** The steps of all computations by name, in the order in which they ran. */
class Course {
  readonly events: Array<string> = [];

  *steps(name: string, count: number): Steps<string> {
    for (let step = 0; step < count; step++) {
      this.events.push(name)
      yield
    }
    return name
  }
}

const turnOfTheLoop = (course: Course) =>
  new Promise<void>((resolve) =>
    setImmediate(() => {
      course.events.push("others")
      resolve()
    })
  )

/** Records every turn of the event loop. */
const ticking = (course: Course) => {
  let goesOn = true
  const tick = () => {
    course.events.push("|")
    if (goesOn) setImmediate(tick)
  }
  setImmediate(tick)
  return { stop: () => void (goesOn = false) }
}

const run = <A>(effect: Effect.Effect<A>) =>
  Effect.flatMap(busyClock, (clock) => Effect.provideService(effect, Clock.Clock, clock))

describe("a computation in time slices", () => {
  it.effect("yields to the event loop if it is long, with the same result", () =>
    Effect.gen(function* () {
      const course = new Course()
      const others = turnOfTheLoop(course)
      expect(yield* run(inTimeSlices(() => course.steps("a", 50)))).toBe("a")
      yield* Effect.promise(() => others)
      expect(course.events.filter((event) => event === "a")).toHaveLength(50)
      expect(course.events.at(-1)).toBe("a")
    })
  )

  it.effect("shares the event loop with other long ones, one slice of each per turn", () =>
    Effect.gen(function* () {
      const course = new Course()
      const names = ["a", "b", "c"]
      const ticks = ticking(course)
      const long = names.map((name) => inTimeSlices(() => course.steps(name, 50), true))
      yield* run(Effect.all(long, { concurrency: "unbounded" }))
      ticks.stop()
      const turns = course.events
        .join("")
        .split("|")
        .filter((turn) => turn !== "")
      expect(turns.filter((turn) => new Set(turn).size > 1)).toEqual([])
      expect(turns.slice(0, 6).map((turn) => turn[0])).toEqual([...names, ...names])
    })
  )

  it.effect("waits its turn after one slice of each organisation, however many those have", () =>
    Effect.gen(function* () {
      const course = new Course()
      const of = (organisation: string, name: string) =>
        RequestFacts.onBehalfOf(OrganisationName.make(organisation))(
          inTimeSlices(() => course.steps(name, 30), true)
        )
      const hostile = Array.from({ length: 8 }, () => of("acme", "a"))
      yield* run(Effect.all([...hostile, of("rival", "b")], { concurrency: "unbounded" }))
      const before = course.events.slice(0, course.events.lastIndexOf("b"))
      expect(before.filter((name) => name === "a").length).toBeLessThan(40)
    })
  )
})
