/**
 * The operator command: all its subcommands. It is separate from its process, so that a test can
 * run it on any storage.
 */
import { Effect, type Layer } from "effect"
import { Command } from "effect/cli"
import { commandLine } from "@data-import/terminal/CommandLine"
import { account } from "./Accounts.ts"
import { Json } from "@data-import/terminal/Answer"
import { audit } from "./Audit.ts"
import { batch } from "./Batches.ts"
import { board } from "./Board.ts"
import { check } from "./Checks.ts"
import { As, Login } from "./Caller.ts"
import { codeLists } from "./CodeLists.ts"
import { erase } from "./Erasure.ts"
import { importCommand } from "./Imports.ts"
import { key } from "./Keys.ts"
import { organisation } from "./Organisations.ts"
import { request } from "./Requests.ts"
import { Test } from "./Mode.ts"
import type { Explained } from "./Refused.ts"
import { type Ports, Storage } from "./Storage.ts"
import { supplier } from "./Suppliers.ts"
import { team } from "./Teams.ts"
import { webhook } from "./Webhooks.ts"
import manifest from "./package.json" with { type: "json" }

export const operator = Command.make("operator").pipe(
  Command.withDescription("Sets up who may migrate what, on the database of the service"),
  Command.withSubcommands([
    organisation,
    key,
    supplier,
    team,
    codeLists,
    importCommand,
    erase,
    account,
    batch,
    request,
    webhook,
    board,
    audit,
    check
  ]),
  Command.withGlobalFlags([Json, As, Test])
)

const runOperator = Command.runWith(operator, { version: manifest.version })

/**
 * Runs a command line. Fails if it was not carried out, after writing the reason to stderr. `login`
 * is the operator's name where the line has none.
 */
export const run = (
  args: ReadonlyArray<string>,
  storage: Layer.Layer<Ports, Explained>,
  login: string
) =>
  runOperator(args).pipe(
    Effect.provideService(Storage, storage),
    Effect.provideService(Login, login),
    Effect.provide(commandLine)
  )
