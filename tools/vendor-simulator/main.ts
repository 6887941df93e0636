/**
 * The simulator as a separate process, on `PORT`, or on a free port if that is not set. Ctrl-C or
 * SIGTERM stops it.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Settings from "@data-import/domain/support/Settings"
import { Cause, Console, Effect } from "effect"
import { CliError, Command } from "effect/cli"
import { layerOn, VendorSimulator } from "./VendorSimulator.ts"

const port = Settings.port("PORT").or(0)

const simulate = Effect.gen(function* () {
  const { url } = yield* VendorSimulator
  yield* Console.log(`The simulated vendors answer at ${url}`)
  return yield* Effect.never
})

const command = Command.make("vendor-simulator", {}, () =>
  Effect.flatMap(port, (wanted) => Effect.provide(simulate, layerOn(wanted)))
).pipe(Command.withDescription("Answers as the payment vendors do, on PORT of this machine"))

const main = Command.runWith(command, { version: "0.1.0" })(process.argv.slice(2)).pipe(
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause) || CliError.isCliError(Cause.squash(cause))
      ? Effect.void
      : Console.error(Settings.explained(cause))
  ),
  Effect.provide(NodeServices.layer)
)

NodeRuntime.runMain(main, { disableErrorReporting: true })
