/**
 * The `data-import` command of suppliers: all its subcommands. It is separate from its process, so
 * that a test can run it. A subcommand is loaded only for a line that may mean it, because loading
 * all of them takes longer than running most of them.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Json } from "@data-import/terminal/Answer"
import { commandLine } from "@data-import/terminal/CommandLine"
import { ProfileName } from "./connection/ProfileName.ts"

/** A subcommand in its own module; `stub` stands for it in the list of subcommands. */
const lazily = <const Name extends string, Input, Context, E, R>(
  name: Name,
  description: string,
  load: () => Promise<Command.Command<Name, Input, Context, E, R>>
) => ({
  name,
  stub: Command.make(name).pipe(Command.withShortDescription(description)),
  load: async () => Command.withShortDescription(await load(), description)
})

const subcommands = [
  lazily("login", "Verify an API key, and keep it in a profile", async () => {
    return (await import("./connection/Login.ts")).login
  }),
  lazily("auth", "Show which API key is used, and whether it is valid", async () => {
    return (await import("./connection/Auth.ts")).auth
  }),
  lazily("profile", "List the profiles of login", async () => {
    return (await import("./connection/Auth.ts")).profile
  }),
  lazily("check", "Check a book offline, by the rules of the server", async () => {
    return (await import("./check/Check.ts")).check
  }),
  lazily("map", "Maps of CSV books: propose one, and show what it makes of rows", async () => {
    return (await import("./map/MapCommand.ts")).map
  }),
  lazily("configuration", "Fetch the configuration of a supplier for check", async () => {
    return (await import("./configuration/Configuration.ts")).configuration
  }),
  lazily("send", "Send a book, follow the work, and tell what became of every line", async () => {
    return (await import("./send/Send.ts")).send
  }),
  lazily("rehearse", "Try an import, and say what the real one would do", async () => {
    return (await import("./rehearse/Rehearse.ts")).rehearse
  }),
  lazily("rehearsal", "Compare a rehearsal with what happened afterwards", async () => {
    return (await import("./rehearse/RehearsalCommand.ts")).rehearsal
  }),
  lazily("reconcile", "Compare a book with what is stored of it, field by field", async () => {
    return (await import("./reconcile/Reconcile.ts")).reconcile
  }),
  lazily("certify", "Compute the certificate of a book offline, and compare it", async () => {
    return (await import("./certify/Certify.ts")).certify
  }),
  lazily("certificate", "Signed certificates of what was migrated", async () => {
    return (await import("./certificate/CertificateCommand.ts")).certificate
  }),
  lazily("totals", "Control totals: what is expected of a migration", async () => {
    return (await import("./totals/TotalsCommand.ts")).totals
  }),
  lazily("batch", "Batches: how they stand, and pause, resume, cancel and retry", async () => {
    return (await import("./batch/Batch.ts")).batch
  }),
  lazily("summary", "Show what the imports of a supplier come to", async () => {
    return (await import("./queries/Queries.ts")).summary
  }),
  lazily("import", "Imports of a supplier", async () => {
    return (await import("./queries/Queries.ts")).importCommand
  }),
  lazily("account", "Accounts on the platform", async () => {
    return (await import("./queries/Queries.ts")).account
  }),
  lazily("events", "What happens to imports and batches", async () => {
    return (await import("./events/Events.ts")).events
  }),
  lazily("documents", "Documents that accounts name", async () => {
    return (await import("./documents/Documents.ts")).documents
  }),
  lazily("sandbox", "Empty the test organisation of a test key", async () => {
    return (await import("./sandbox/Sandbox.ts")).sandbox
  }),
  lazily("api", "Print the answer to a GET of the interface", async () => {
    return (await import("./api/Api.ts")).api
  })
]

/** A line can only mean a subcommand whose name is one of its words. */
const mayMean = (args: ReadonlyArray<string>) => {
  const isAboutAll = args.some((word) => word.startsWith("--completions"))
  return (name: string): boolean => isAboutAll || args.includes(name)
}

/** The command with the subcommands that the line may mean. */
export const dataImport = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const isMeant = mayMean(args)
  const loaded = yield* Effect.promise(() =>
    Promise.all(subcommands.map(async ({ load, name, stub }) => (isMeant(name) ? load() : stub)))
  )
  return Command.make("data-import").pipe(
    Command.withDescription("Moves customer accounts onto a customer-accounts platform"),
    Command.withSubcommands(loaded),
    Command.withGlobalFlags([Json, ProfileName])
  )
})

/** Runs a command line. Fails if it was not carried out, after writing the reason to stderr. */
export const run = Effect.fnUntraced(function* (args: ReadonlyArray<string>, version: string) {
  yield* Command.runWith(yield* dataImport(args), { version })(args)
}, Effect.provide(commandLine))
