/** How the tools read their command line and end their process. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Console, Data, Effect, Exit, Layer, Logger, Option } from "effect"
import { CliConfig, CliError, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"

/** The tool ends with status 1 after printing the message, which may be empty. */
export class Failed extends Data.TaggedError("Failed")<{ readonly message: string }> {}

/** A flag that takes a whole number of at most nine digits. */
export const wholeNumber = (name: string): Flag.Flag<number> =>
  Flag.filterMap(
    Flag.String(name),
    (text) => (/^\d{1,9}$/.test(text) ? Option.some(Number(text)) : Option.none()),
    (text) => `a whole number, not ${text}`
  )

const settings = Layer.mergeAll(
  CliOutput.layer(CliOutput.defaultFormatter({ colors: false })),
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] })
)

const explain =
  (messageOf: (error: unknown) => string | undefined) =>
  (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
    if (Cause.hasInterruptsOnly(cause)) return Effect.void
    const error = Cause.squash(cause)
    // The command line has printed its own errors already.
    if (CliError.isCliError(error)) return Effect.void
    const message = error instanceof Failed ? error.message : messageOf(error)
    return message === "" ? Effect.void : Console.error(message ?? Cause.pretty(cause))
  }

export interface Process {
  /** A sentence for a failure that the user can do something about. */
  readonly messageOf?: (error: unknown) => string | undefined
  /** The status after Ctrl-C or SIGTERM; 130 unless given. */
  readonly interrupted?: number
}

/** Runs the command as this process. Its status is 1 when the command fails. */
export const runMain = <Name extends string, Input, Context, E>(
  command: Command.Command<Name, Input, Context, E, NodeServices.NodeServices>,
  { interrupted = 130, messageOf = () => undefined }: Process = {}
): void =>
  NodeRuntime.runMain(
    Command.runWith(command, { version: "0.1.0" })(process.argv.slice(2)).pipe(
      Effect.tapCause(explain(messageOf)),
      Effect.provide([
        settings,
        NodeServices.layer,
        Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)])
      ])
    ),
    {
      disableErrorReporting: true,
      teardown: (exit, onExit) => {
        if (Exit.isSuccess(exit)) return onExit(0)
        onExit(Cause.hasInterruptsOnly(exit.cause) ? interrupted : 1)
      }
    }
  )
