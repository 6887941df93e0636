/**
 * The simulator as a process of its own, on `PORT` (unset: a free one). Ctrl-C or SIGTERM stops it.
 */
import { NodeRuntime } from "@effect/platform-node"
import * as Settings from "@data-import/domain/support/Settings"
import { Cause, Console, Effect } from "effect"
import { layerOn, VendorSimulator } from "./VendorSimulator.ts"

const port = Settings.port("PORT").or(0)

const simulate = Effect.gen(function* () {
  const { url } = yield* VendorSimulator
  yield* Console.log(`The simulated vendors answer at ${url}`)
  return yield* Effect.never
})

const main = Effect.flatMap(port, (wanted) => Effect.provide(simulate, layerOn(wanted))).pipe(
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(Settings.explained(cause))
  )
)

NodeRuntime.runMain(main, { disableErrorReporting: true })
