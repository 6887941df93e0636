/** The process of the `data-import` command. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Effect, Logger } from "effect"
import { exitStatusOf } from "@data-import/terminal/ExitStatus"
import { endWithoutStdout } from "@data-import/terminal/Stdout"
import { run } from "./DataImport.ts"
import { version } from "./Version.ts"

/** A refusal was explained where it was met. */
const explainDefect = (cause: Cause.Cause<unknown>) =>
  Cause.hasDies(cause) ? Console.error(Cause.pretty(cause)) : Effect.void

endWithoutStdout()

const main = run(process.argv.slice(2), version).pipe(
  Effect.tapCause(explainDefect),
  Effect.provide([NodeServices.layer, Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])])
)

NodeRuntime.runMain(main, {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(exitStatusOf(exit))
})
