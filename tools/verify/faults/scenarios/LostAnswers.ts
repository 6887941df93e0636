/**
 * Answers are sent but never arrive, either from the gateway to the clients, or from PostgreSQL to
 * the services, which then do not know whether their transaction was committed. Every client sends
 * the same request again, and everything is stored once. Half of the accounts are written with
 * idempotency keys, and a repeated request gets the lost answer.
 */
import { Effect } from "effect"
import * as TcpProxy from "@data-import/postgres/testing/TcpProxy"
import { type Scenario, settle, type WorkloadOptions, startWorkload } from "../Scenario.ts"
import { System } from "@data-import/testbed/System"

/** Loses this share of the answers until the scope ends. */
const losing = (proxy: TcpProxy.TcpProxy, share: number) =>
  TcpProxy.inMode(proxy, { _tag: "Lossy", share })

const through = Effect.fnUntraced(function* (
  proxy: TcpProxy.TcpProxy,
  leastRepeats: number,
  options: WorkloadOptions
) {
  const working = yield* startWorkload({ onlyWrites: true, keyed: true, ...options })
  const before = proxy.lost
  yield* working.traffic.done
  const lost = { name: "answers lost", value: proxy.lost - before, unit: "", atLeast: 1 }
  const again = {
    name: "sent again under a key",
    value: working.traffic.keyedRepeats(),
    unit: "times",
    atLeast: leastRepeats
  }
  return { ...(yield* settle(working)), figures: [lost, again] }
})

/** Enough accounts for 10,000 repeated requests with a key. */
const longCount = 13_000

const ofGateway: Scenario = {
  name: "lost-answers",
  about: "a fifth of the gateway's answers to 16 writers, and of the vendor's answers, is lost",
  short: { kills: 0, count: 200 },
  long: { kills: 0, count: longCount },
  run: Effect.fnUntraced(function* ({ count }) {
    const { random, services, vendorProxy } = yield* System
    const proxy = yield* TcpProxy.make({
      target: services.gateway.port,
      random: random.next
    })
    yield* losing(proxy, 0.2)
    yield* losing(vendorProxy, 0.2)
    const leastRepeats = count < longCount ? 1 : 10_000
    return yield* through(proxy, leastRepeats, { port: proxy.port, accounts: count })
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
    return yield* through(databaseProxy, 1, { accounts: count })
  })
}

export const lostAnswers: ReadonlyArray<Scenario> = [ofGateway, ofDatabase]
