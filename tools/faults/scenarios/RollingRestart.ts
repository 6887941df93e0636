/**
 * A rollout: two instances of each service and of the gateway, each restarted with SIGTERM while
 * the other works. No request fails. A service keeps answering for the drain delay, and the gateway
 * sends nothing to an instance that is not ready.
 */
import { Duration, Effect } from "effect"
import * as Health from "@data-import/testbed/Health"
import { type Scenario, settle, startWorkload } from "../Scenario.ts"
import type { ServiceProcess } from "@data-import/testbed/ServiceProcess"
import { System } from "@data-import/testbed/System"

/** The gateway asks each instance once a second whether it is ready. */
const untilNoticed = Duration.seconds(2)

const restart = Effect.fnUntraced(function* (instance: ServiceProcess) {
  yield* instance.stop()
  yield* instance.start()
  yield* Health.instanceReady(instance.port)
  yield* Effect.sleep(untilNoticed)
})

export const rollingRestart: Scenario = {
  name: "rolling-restart",
  about: "two instances of each service are restarted in turn with SIGTERM, under 16 writers",
  short: { kills: 1, count: 0 },
  long: { kills: 5, count: 0 },
  instances: 2,
  run: Effect.fnUntraced(function* ({ kills: rounds }) {
    const { instances } = yield* System
    const working = yield* startWorkload({})
    yield* working.traffic.probe.more("gateway", 100)
    const inTurn = Array.from({ length: rounds }, () => instances).flat()
    for (const instance of inTurn) {
      yield* restart(instance)
      yield* working.traffic.probe.more(instance.name, 10)
    }
    yield* working.traffic.finish
    const figures = [
      { name: "restarts", value: inTurn.length, unit: "" },
      { name: "failed requests", value: working.traffic.repeats(), unit: "", atMost: 0 }
    ]
    return { ...(yield* settle(working)), figures }
  })
}
