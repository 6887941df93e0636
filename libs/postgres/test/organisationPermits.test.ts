/** How the permits of the database are shared out over organisations. */
import { describe, expect, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Queue } from "effect"
import { TestClock } from "effect/testing"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import * as RequestFacts from "@data-import/domain/requests/RequestFacts"
import * as Admission from "../src/connection/Admission.ts"
import type { Outage } from "../src/connection/CircuitBreaker.ts"

const wait = Duration.seconds(2)
const tooLong = Duration.millis(500)

const admission = (running: number) => {
  const opened: Array<Outage> = []
  const breaker: Admission.Breaking = {
    isOpen: () => opened.length > 0,
    open: (trouble) => Effect.sync(() => void opened.push(trouble))
  }
  return { opened, ...Admission.make({ running, waiting: 100, wait }, breaker, () => null) }
}

describe("organisations", () => {
  const acme = OrganisationName.make("acme")
  const rival = OrganisationName.make("rival")

  const many = (
    organisation: OrganisationName,
    count: number,
    task: Effect.Effect<unknown, unknown>
  ) =>
    Effect.forEach(Array.from({ length: count }), () =>
      Effect.forkChild(RequestFacts.onBehalfOf(organisation)(task), { startImmediately: true })
    )

  it.effect("leave a permit to others, and have at most half while others want some", () =>
    Effect.gen(function* () {
      const { run } = admission(4)
      const running = { acme: 0, rival: 0 }
      const gate = yield* Queue.unbounded<void>()
      const task = (name: "acme" | "rival") =>
        run(
          Effect.acquireUseRelease(
            Effect.sync(() => void (running[name] += 1)),
            () => Queue.take(gate),
            () => Effect.sync(() => void (running[name] -= 1))
          )
        )
      yield* many(acme, 10, task("acme"))
      expect(running).toEqual({ acme: 3, rival: 0 })
      yield* many(rival, 10, task("rival"))
      expect(running).toEqual({ acme: 3, rival: 1 })
      yield* Queue.offerAll(
        gate,
        Array.from({ length: 2 }, () => undefined)
      )
      yield* TestClock.adjust("1 millis")
      expect(running).toEqual({ acme: 2, rival: 2 })
    })
  )

  it.effect("leave places in the queue to others that have not asked before", () =>
    Effect.gen(function* () {
      const { admit, connections, run } = admission(4)
      yield* many(acme, 200, admit(run(Effect.never)))
      expect(connections()).toMatchObject({ pending: 50 })
      const asked = RequestFacts.onBehalfOf(rival)(admit(run(Effect.void)))
      expect((yield* Effect.result(admit(asked)))._tag).toBe("Success")
    })
  )

  it.effect("wait for themselves: others are admitted, and the breaker stays closed", () =>
    Effect.gen(function* () {
      const { admit, opened, run } = admission(2)
      const [first] = yield* many(acme, 3, admit(run(Effect.never)))
      yield* TestClock.adjust(tooLong)
      const asking = (organisation: OrganisationName) =>
        RequestFacts.onBehalfOf(organisation)(Effect.result(admit(run(Effect.void))))
      expect((yield* asking(acme))._tag).toBe("Failure")
      expect((yield* asking(rival))._tag).toBe("Success")
      yield* TestClock.adjust(wait)
      expect(opened).toEqual([])
      expect((yield* asking(rival))._tag).toBe("Success")
      yield* Fiber.interrupt(first as Fiber.Fiber<unknown, unknown>)
    })
  )
})
