/**
 * The simulator as a process of its own, on `PORT` (unset: a free one). Ctrl-C or SIGTERM stops it.
 */
import { NodeRuntime } from "@effect/platform-node"
import { Config, Console, Effect } from "effect"
import { layerOn, VendorSimulator } from "./VendorSimulator.ts"

const port = Config.withDefault(Config.Port("PORT"), 0)

const simulate = Effect.gen(function* () {
  const { url } = yield* VendorSimulator
  yield* Console.log(`The simulated vendors answer at ${url}`)
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.flatMap(port, (wanted) => Effect.provide(simulate, layerOn(wanted))))
