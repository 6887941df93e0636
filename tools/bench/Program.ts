/** A program in a process of its own, which listens on a port that was given to it. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { Data, Duration, Effect, type Scope } from "effect"
import { freePort, listens } from "@data-import/testbed/Ports"

/** The process ended, or did not listen in time; `output` is what it wrote to its error output. */
export class DidNotStart extends Data.TaggedError("DidNotStart")<{
  readonly script: string
  readonly output: string
}> {
  override get message(): string {
    return `${this.script} did not start: ${this.output}`
  }
}

export interface Program {
  readonly pid: number
  readonly url: string
}

export interface Options {
  /** From the root of the project. */
  readonly script: string
  readonly settings: Readonly<Record<string, string>>
  /** For Node, before the script. */
  readonly nodeArgs?: ReadonlyArray<string>
}

const root = join(import.meta.dirname, "..", "..")
const startLimit = Duration.seconds(60)
const stopLimit = Duration.seconds(20)

const hasEnded = (child: ChildProcess): boolean =>
  child.exitCode !== null || child.signalCode !== null

/** Done when the process is gone; at once where it is already. */
const ended = (child: ChildProcess): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    if (hasEnded(child)) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
  })

const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.suspend(() => {
    child.kill("SIGTERM")
    return Effect.timeoutOrElse(ended(child), {
      duration: stopLimit,
      orElse: () => {
        child.kill("SIGKILL")
        return ended(child)
      }
    })
  })

/**
 * Starts a program, and waits until it listens; it ends with the scope. Its log goes nowhere, but
 * is written, as it would be elsewhere.
 */
export const start = Effect.fnUntraced(function* ({
  nodeArgs = [],
  script,
  settings
}: Options): Effect.fn.Return<Program, DidNotStart, Scope.Scope> {
  const port = yield* freePort
  let output = ""
  const child = yield* Effect.acquireRelease(
    Effect.sync(() => {
      const started = spawn(process.execPath, [...nodeArgs, join(root, script)], {
        cwd: root,
        env: {
          PATH: process.env["PATH"],
          HOST: "127.0.0.1",
          PORT: String(port),
          DRAIN_DELAY_SECONDS: "0",
          ...settings
        },
        stdio: ["ignore", "ignore", "pipe"]
      })
      started.stderr.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-2_000)
      })
      return started
    }),
    stop
  )
  const failed = Effect.suspend(() => Effect.fail(new DidNotStart({ script, output })))
  const waiting = Effect.gen(function* () {
    while (!(yield* listens(port))) {
      if (hasEnded(child)) return yield* failed
      yield* Effect.sleep(Duration.millis(20))
    }
  })
  yield* Effect.timeoutOrElse(waiting, { duration: startLimit, orElse: () => failed })
  return { pid: child.pid ?? 0, url: `http://127.0.0.1:${port}` }
})
