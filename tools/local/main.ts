/** The process of the local run: `npm start`. Ctrl-C or SIGTERM stops it, PostgreSQL included. */
import "effect/schema/SchemaJITCompiler/enable"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Cause, Console, Effect, Exit, Logger, Predicate } from "effect"
import { run } from "./Local.ts"

const isPortTaken = (error: unknown): boolean =>
  Predicate.isTagged(error, "ServeError") &&
  Predicate.hasProperty(error, "cause") &&
  Predicate.hasProperty(error.cause, "code") &&
  error.cause.code === "EADDRINUSE"

/**
 * One sentence for a failure that somebody can do something about, and everything for any other.
 */
const explanation = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  if (isPortTaken(error)) {
    const port = process.env["PORT"] ?? "8080"
    return `Port ${port} is in use: stop what uses it, or choose another one with PORT.`
  }
  const isPlain =
    Predicate.isTagged(error, "AlreadyRunning") ||
    Predicate.isTagged(error, "PostgresDidNotStart") ||
    Predicate.isTagged(error, "DoesNotAnswer") ||
    Predicate.isTagged(error, "ConfigError")
  return isPlain && Predicate.hasProperty(error, "message")
    ? String(error.message)
    : Cause.pretty(cause)
}

const main = run.pipe(
  Effect.scoped,
  Effect.tapCause((cause) =>
    Cause.hasInterruptsOnly(cause) ? Effect.void : Console.error(explanation(cause))
  ),
  Effect.provide(NodeServices.layer),
  Effect.provide(Logger.layer([Logger.withConsoleError(Logger.formatLogFmt)]))
)

// The end of the terminal is the end of the run; Node would end at once and leave PostgreSQL
// behind.
process.once("SIGHUP", () => process.kill(process.pid, "SIGTERM"))

NodeRuntime.runMain(main, {
  disableErrorReporting: true,
  teardown: (exit, onExit) =>
    onExit(Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause) ? 0 : 1)
})
