/**
 * A rollout: two instances of each service and of the gateway, each restarted with SIGTERM while
 * the other works: one after the other, or one of every service at the same moment, as Kubernetes
 * does in a release. No request fails. A service keeps answering for the drain delay, and the
 * gateway sends nothing to an instance that is not ready.
 */
import { Duration, Effect } from "effect"
import * as Health from "@data-import/testbed/Health"
import { allAnswer, type Scenario, settle, startWorkload, writers } from "../Scenario.ts"
import type { ServiceProcess } from "@data-import/testbed/ServiceProcess"
import { System } from "@data-import/testbed/System"

/** The gateway asks each instance once a second whether it is ready. */
const untilNoticed = Duration.seconds(2)

/** So few that no request is refused for overload while processes start beside the others. */
const fewWriters = 4

/** The first instance of each service, and then the second of each. */
const waves = Effect.gen(function* () {
  const { instances } = yield* System
  const byName = Map.groupBy(instances, ({ name }) => name)
  return [0, 1].map((index) => [...byName.values()].flatMap((all) => all.slice(index, index + 1)))
})

/** Restarts all of these at the same moment. */
const restart = Effect.fnUntraced(function* (instances: ReadonlyArray<ServiceProcess>) {
  yield* Effect.forEach(
    instances,
    Effect.fnUntraced(function* (instance) {
      yield* instance.stop()
      yield* instance.start()
      yield* Health.instanceReady(instance.port)
    }),
    { concurrency: "unbounded", discard: true }
  )
  yield* Effect.sleep(untilNoticed)
})

/** The failures while they were restarted, one group after the other. */
const restarted = Effect.fnUntraced(function* (
  groups: ReadonlyArray<ReadonlyArray<ServiceProcess>>,
  writers: number
) {
  const working = yield* startWorkload({ writers })
  const { traffic } = working
  yield* traffic.probe.more("gateway", 100)
  for (const group of groups) {
    yield* restart(group)
    yield* traffic.probe.more("gateway", 10)
    yield* allAnswer(traffic.probe)
  }
  yield* traffic.finish
  const figures = [
    { name: "restarts", value: groups.flat().length, unit: "" },
    { name: "failed requests", value: traffic.repeats(), unit: "", atMost: 0 }
  ]
  return { ...(yield* settle(working)), figures }
})

export const rollingRestart: Scenario = {
  name: "rolling-restart",
  about: "two instances of each service are restarted in turn with SIGTERM, under 16 writers",
  short: { kills: 1, count: 0 },
  long: { kills: 5, count: 0 },
  instances: 2,
  run: Effect.fnUntraced(function* ({ kills: rounds }) {
    const { instances } = yield* System
    const inTurn = Array.from({ length: rounds }, () => instances).flat()
    return yield* restarted(
      inTurn.map((instance) => [instance]),
      writers
    )
  })
}

export const rolloutAtOnce: Scenario = {
  name: "rollout-at-once",
  about: "of two instances, one of every service is restarted at the same moment, then the other",
  short: { kills: 1, count: 0 },
  long: { kills: 5, count: 0 },
  instances: 2,
  run: Effect.fnUntraced(function* ({ kills: rounds }) {
    const each = yield* waves
    return yield* restarted(Array.from({ length: rounds }, () => each).flat(), fewWriters)
  })
}
