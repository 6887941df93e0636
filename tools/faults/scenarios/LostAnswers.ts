/**
 * Answers that were produced and never arrive: between clients and the gateway, and between the
 * services and PostgreSQL, where it is the word that a transaction was committed that gets lost.
 * Every client sends the same again, and everything must be there once.
 */
import { Effect } from "effect"
import * as Proxy from "../Proxy.ts"
import { type Scenario, settle, type Traffics, work } from "../Scenario.ts"
import { System } from "../System.ts"

/** Loses this share of the answers until the scope ends. */
const losing = (proxy: Proxy.Proxy, share: number) =>
  Effect.acquireRelease(
    Effect.promise(() => proxy.set({ _tag: "Lossy", share })),
    () => Effect.promise(() => proxy.set({ _tag: "Pass" }))
  )

const through = Effect.fnUntraced(function* (proxy: Proxy.Proxy, options: Traffics) {
  const working = yield* work({ onlyWrites: true, ...options })
  const before = proxy.lost
  yield* working.traffic.done
  const lost = { name: "answers lost", value: proxy.lost - before, unit: "", atLeast: 1 }
  return { ...(yield* settle(working)), figures: [lost] }
})

const ofGateway: Scenario = {
  name: "lost-answers",
  about: "a fifth of the gateway's answers to 16 writers, and of the vendor's answers, is lost",
  short: { kills: 0, count: 500 },
  long: { kills: 0, count: 10_000 },
  run: Effect.fnUntraced(function* ({ count }) {
    const { chance, services, vendorProxy } = yield* System
    const proxy = yield* Proxy.make(services.gateway.port, chance)
    yield* losing(proxy, 0.2)
    yield* losing(vendorProxy, 0.2)
    return yield* through(proxy, { port: proxy.port, accounts: count })
  })
}

const ofDatabase: Scenario = {
  name: "lost-commits",
  about: "one in fifty answers of PostgreSQL to the services is lost",
  short: { kills: 0, count: 100 },
  long: { kills: 0, count: 2_000 },
  proxied: true,
  run: Effect.fnUntraced(function* ({ count }) {
    const { databaseProxy } = yield* System
    yield* losing(databaseProxy, 0.02)
    return yield* through(databaseProxy, { accounts: count })
  })
}

export const lostAnswers: ReadonlyArray<Scenario> = [ofGateway, ofDatabase]
