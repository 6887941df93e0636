/**
 * The operator command as a whole: every noun with its verbs, and how a run of it ends. It stands
 * apart from the process that runs it, so that a test can run it on any storage.
 */
import { Console, Effect, Layer } from "effect"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { account } from "./Accounts.ts"
import { Json } from "./Answer.ts"
import { audit } from "./Audit.ts"
import { choice } from "./ChoiceLists.ts"
import { importCommand } from "./Imports.ts"
import { key } from "./Keys.ts"
import { organisation } from "./Organisations.ts"
import type { Explained } from "./Refused.ts"
import { type Ports, Storage } from "./Storage.ts"
import { supplier } from "./Suppliers.ts"
import { team } from "./Teams.ts"

const formatter = CliOutput.defaultFormatter({ colors: false })

/** Help that nobody asked for is an error like any other: stdout stays clean for machines. */
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

const settings = Layer.mergeAll(
  presenter,
  CliOutput.layer(formatter),
  CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] })
)

const operator = Command.make("operator").pipe(
  Command.withDescription("Sets up who may migrate what, on the database of the service"),
  Command.withSubcommands([
    organisation,
    key,
    supplier,
    team,
    choice,
    importCommand,
    account,
    audit
  ]),
  Command.withGlobalFlags([Json])
)

const runOperator = Command.runWith(operator, { version: "0.1.0" })

/** Runs a command line. Fails where it was not carried out, after saying why on stderr. */
export const run = (args: ReadonlyArray<string>, storage: Layer.Layer<Ports, Explained>) =>
  runOperator(args).pipe(Effect.provideService(Storage, storage), Effect.provide(settings))
