/**
 * How the commands of this workspace parse a line and report to the user: the same help, the same
 * errors, and only requested output on stdout.
 */
import { Console, Layer } from "effect"
import { CliConfig, CliOutput, GlobalFlag } from "effect/cli"

const formatter = CliOutput.defaultFormatter({ colors: false })

/** Help that was not requested goes to stderr, so that stdout holds output only. */
const presenter = CliOutput.layerPresenter({
  present: (event) => {
    switch (event._tag) {
      case "Version":
        return Console.log(event.version)
      case "Help":
        return event.reason === "Requested"
          ? Console.log(formatter.formatHelpDoc(event.helpDoc))
          : Console.error(formatter.formatHelpDoc(event.helpDoc))
      case "InvalidInvocation":
        return Console.error(
          `${formatter.formatErrors(event.errors)}\n\n  See ${event.commandPath.join(" ")} --help`
        )
    }
  }
})

const builtIns = [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]

/** For `Command.runWith`. */
export const commandLine = Layer.mergeAll(
  presenter,
  CliOutput.layer(formatter),
  CliConfig.layer({ builtIns })
)
