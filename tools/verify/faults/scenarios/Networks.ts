/**
 * The network to PostgreSQL, the document store or the payment vendors is slow, silent, resets
 * connections or refuses them, repeatedly and under writers. Requests that do not need it are not
 * affected. Afterwards the system recovers without help.
 */
import { Duration, Effect } from "effect"
import type { RandomSource } from "@data-import/testbed/RandomSource"
import { codeOf } from "@data-import/testbed/Client"
import type { Mode, TcpProxy } from "@data-import/postgres/testing/TcpProxy"
import type { Stalled } from "../Probe.ts"
import type { Figure } from "../Report.ts"
import {
  allAnswer,
  type Scenario,
  seconds,
  settle,
  type Sizes,
  startWorkload,
  type Workload,
  writers
} from "../Scenario.ts"
import type { ServiceName } from "@data-import/testbed/Wiring"
import { reconfigured, System } from "@data-import/testbed/System"

/** The network that is disturbed, and the workloads on both sides. */
interface Network {
  readonly proxy: TcpProxy
  /** The service that uses the network. */
  readonly service: ServiceName
  /** The workload that needs it. */
  readonly working: Workload
  /** The workload that does not. */
  readonly others?: Workload
  /** Succeeds when everything that needs it works again. */
  readonly recovered: Effect.Effect<void, Stalled>
}

interface Phase {
  readonly mode: Mode
  /** How long the mode lasts: until it has affected enough requests, or for some time. */
  readonly lasts: (network: Network, random: RandomSource) => Effect.Effect<void, Stalled>
}

const refusals = ({ working }: Network) => working.traffic.probe.more("refusal", 2 * writers)

const phases: ReadonlyArray<Phase> = [
  {
    mode: { _tag: "Slow", millis: 20 },
    lasts: ({ service, working }) => working.traffic.probe.more(service, 2 * writers)
  },
  { mode: { _tag: "Reset" }, lasts: refusals },
  {
    mode: { _tag: "Silent" },
    lasts: (_, random) => Effect.sleep(Duration.millis(random.between(500, 4_000)))
  },
  { mode: { _tag: "Refuse" }, lasts: refusals }
]

/** Stops both workloads and verifies them. */
const ended = Effect.fnUntraced(function* ({ others, working }: Network) {
  yield* working.traffic.finish
  const settled = yield* settle(working)
  const again: Figure = { name: "sent again", value: working.traffic.repeats(), unit: "times" }
  if (others === undefined) return { ...settled, figures: [again] }
  yield* others.traffic.finish
  const { acknowledged } = yield* settle(others)
  const refused = others.traffic.refusals()
  const kinds = new Set(refused.map((answer) => `${answer.status} ${codeOf(answer)}`))
  const unit = ["times", ...kinds].join(" ")
  const byOthers = { name: "refused to others", value: refused.length, unit, atMost: 0 }
  return {
    findings: settled.findings,
    acknowledged: settled.acknowledged + acknowledged,
    figures: [again, byOthers]
  }
})

const strike = Effect.fnUntraced(function* (network: Network, { kills }: Sizes) {
  const { random } = yield* System
  const { proxy, service, working } = network
  const pass = Effect.promise(() => proxy.set({ _tag: "Pass" }))
  yield* Effect.addFinalizer(() => pass)
  const recoveries: Array<number> = []
  for (const { lasts, mode } of Array.from({ length: kills }, () => phases).flat()) {
    yield* working.traffic.probe.more(service, random.between(10, 60))
    yield* Effect.promise(() => proxy.set(mode))
    yield* lasts(network, random)
    yield* pass
    recoveries.push(yield* seconds(network.recovered))
  }
  return { ...(yield* ended(network)), recoveries }
})

const kinds = "slow, silent, reset and refused"

const toDatabase: Scenario = {
  name: "database-network",
  about: `the network to PostgreSQL is ${kinds}, under 16 writers`,
  short: { kills: 1, count: 0 },
  long: { kills: 20, count: 0 },
  proxied: true,
  run: Effect.fnUntraced(function* (sizes) {
    const { databaseProxy: proxy } = yield* System
    const working = yield* startWorkload({})
    const recovered = allAnswer(working.traffic.probe)
    return yield* strike({ proxy, service: "account-import", working, recovered }, sizes)
  })
}

/** Fewer than the writers that need the network, so that most of the work is theirs. */
const otherWriters = 4

const toStore: Scenario = {
  name: "store-network",
  about: `the network to the document store is ${kinds}, under 16 writers with documents`,
  short: { kills: 1, count: 0 },
  long: { kills: 20, count: 0 },
  run: Effect.fnUntraced(function* (sizes) {
    const { checkedTenant, storeProxy: proxy } = yield* System
    const working = yield* startWorkload({ tenant: yield* checkedTenant })
    const { findings, traffic } = working
    const others = yield* startWorkload({ findings, writers: otherWriters })
    const recovered = traffic.probe.more("account-import", 1)
    return yield* strike({ proxy, service: "account-import", working, others, recovered }, sizes)
  })
}

/** Shorter than the silent phase, so that the timeout is reached. */
const vendorTimeout = { PAYMENT_STRIPE_TIMEOUT: "1 second" }

/** The circuit breaker is open for ten seconds, and then lets one probe through. */
const vendorLimit = 12

const toVendor: Scenario = {
  name: "vendor-network",
  about: `the network to the payment vendors is ${kinds}, under 16 writers with instructions`,
  short: { kills: 1, count: 0 },
  long: { kills: 10, count: 0 },
  run: Effect.fnUntraced(function* (sizes) {
    const { vendorProxy: proxy } = yield* System
    yield* reconfigured("post-import", vendorTimeout)
    const working = yield* startWorkload({ additions: ["instruction"] })
    const { findings, traffic } = working
    const additions = ["notes", "transactions", "statements"] as const
    const others = yield* startWorkload({ findings, additions, writers: otherWriters })
    const recovered = traffic.probe.more("post-import", 1)
    const network = { proxy, service: "post-import", working, others, recovered } as const
    return { ...(yield* strike(network, sizes)), recoveryLimit: vendorLimit }
  })
}

export const networks: ReadonlyArray<Scenario> = [toDatabase, toStore, toVendor]
