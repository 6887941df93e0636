/**
 * The embedded PostgreSQL as something that can be killed, whole or one backend of it, and started
 * again on the same data and at the same address. It ends with the scope at the latest.
 */
import * as EmbeddedPostgres from "@data-import/postgres/testing/EmbeddedPostgres"
import { commandLine } from "@data-import/postgres/testing/processes"
import { Duration, Effect, Exit, type Redacted, Scope } from "effect"
import { freePort } from "./Ports.ts"

export interface PostgresProcess {
  readonly url: Redacted.Redacted
  readonly port: number
  readonly dataDir: string
  readonly isRunning: Effect.Effect<boolean>
  /** SIGKILL to the postmaster; done when it is gone. */
  readonly kill: Effect.Effect<void>
  /** Starts it unless it is running; done when it answers. */
  readonly start: Effect.Effect<void, EmbeddedPostgres.PostgresDidNotStart>
}

/** Done when the process has ended, and at the latest after 20 seconds. */
export const gone = (pid: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    while (commandLine(pid) !== null) yield* Effect.sleep(Duration.millis(5))
  }).pipe(Effect.timeoutOption(Duration.seconds(20)), Effect.asVoid)

/** Starts PostgreSQL on a data directory, which is made if it does not exist. */
export const make = Effect.fnUntraced(function* (
  dataDir: string,
  durable: EmbeddedPostgres.Options["durable"]
) {
  const port = yield* freePort
  let scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Effect.suspend(() => Scope.close(scope, Exit.void)))
  const run = Effect.suspend(() =>
    Scope.provide(EmbeddedPostgres.start({ dataDir, port, durable }), scope)
  )
  let server = yield* run

  const isRunning = Effect.sync(() => commandLine(server.pid) !== null)
  const kill = Effect.suspend(() => {
    if (commandLine(server.pid) !== null) process.kill(server.pid, "SIGKILL")
    return gone(server.pid)
  })
  const start = Effect.gen(function* () {
    if (commandLine(server.pid) !== null) return
    yield* Scope.close(scope, Exit.void)
    scope = yield* Scope.make()
    server = yield* run
  })
  return { url: server.url, port, dataDir, isRunning, kill, start } satisfies PostgresProcess
})
