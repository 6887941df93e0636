/**
 * The `data-import` command of suppliers: all its subcommands, and how a run ends. It is apart from
 * its process, so that a test can run it.
 */
import { Cause, Effect, Exit, Option } from "effect"
import { Command, GlobalFlag } from "effect/cli"
import { Json } from "@data-import/terminal/Answer"
import { commandLine } from "@data-import/terminal/CommandLine"
import { check, LinesFailed } from "./check/Check.ts"
import { configuration } from "./configuration/Configuration.ts"
import { ProfileName } from "./connection/Connection.ts"
import { login } from "./connection/Login.ts"
import { batch } from "./batch/Batch.ts"
import { documents } from "./documents/Documents.ts"
import { events } from "./events/Events.ts"
import { reconcile } from "./reconcile/Reconcile.ts"
import { send } from "./send/Send.ts"
import { account, importCommand, summary } from "./queries/Queries.ts"

const dataImport = Command.make("data-import").pipe(
  Command.withDescription("Moves customer accounts onto a customer-accounts platform"),
  Command.withSubcommands([
    login,
    check,
    configuration,
    send,
    reconcile,
    batch,
    summary,
    importCommand,
    account,
    events,
    documents
  ]),
  Command.withGlobalFlags([Json, ProfileName])
)

/** Runs a command line. Fails if it was not carried out, after writing the reason to stderr. */
export const run = (args: ReadonlyArray<string>, version: string) =>
  Command.runWith(dataImport, { version })(args).pipe(
    Effect.provide(commandLine([GlobalFlag.Completions]))
  )

/**
 * 0: all is well. 1: it was carried out, and lines have failed. 2: it was not carried out. 130: it
 * was interrupted.
 */
export const exitStatusOf = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit)) return 0
  if (Cause.hasInterruptsOnly(exit.cause)) return 130
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  return error instanceof LinesFailed ? 1 : 2
}
