/** The process of the local run: `npm start`. Ctrl-C or SIGTERM stops it, PostgreSQL included. */
import { runMain } from "@data-import/testbed/CommandLine"
import { Effect, Predicate } from "effect"
import { Command } from "effect/cli"
import { run } from "./Local.ts"

const isPortTaken = (error: unknown): boolean =>
  Predicate.isTagged(error, "ServeError") &&
  Predicate.hasProperty(error, "cause") &&
  Predicate.hasProperty(error.cause, "code") &&
  error.cause.code === "EADDRINUSE"

const plainFailures = [
  "AlreadyRunning",
  "PostgresDidNotStart",
  "DoesNotAnswer",
  "WorkerDidNotStart",
  "MigrationDiffers",
  "ConfigError"
]

const messageOf = (error: unknown): string | undefined => {
  if (isPortTaken(error)) {
    const port = process.env["PORT"] ?? "8080"
    return `Port ${port} is in use: stop what uses it, or choose another one with PORT.`
  }
  const isPlain = plainFailures.some((tag) => Predicate.isTagged(error, tag))
  return isPlain && Predicate.hasProperty(error, "message") ? String(error.message) : undefined
}

const command = Command.make("local", {}, () => Effect.scoped(run)).pipe(
  Command.withDescription("Runs the whole system, on this machine only")
)

// Node would end at once when the terminal closes, and leave PostgreSQL behind.
process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"))

runMain(command, { messageOf, interrupted: 0 })
