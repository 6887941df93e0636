/**
 * The whole local run as a process of its own on a data directory of its own, up for as long as the
 * scope, and everything that it says meanwhile.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { Data, Effect } from "effect"

const main = fileURLToPath(import.meta.resolve("@data-import/local/main"))

/** The local run ended before it answered. */
export class DidNotStart extends Data.TaggedError("DidNotStart")<{ readonly said: string }> {
  override get message(): string {
    return `The local run did not start: ${this.said}`
  }
}

export interface LocalRun {
  readonly dataDir: string
  readonly port: number
  /** Null as long as it runs. */
  readonly ended: () => number | string | null
  /** What it wrote to its standard error. */
  readonly said: () => string
}

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "data-import-fuzz-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** Whatever the environment says: never another database than its own, and any free port. */
const environment = (dataDir: string): NodeJS.ProcessEnv => {
  const { DATABASE_URL: _, ...inherited } = process.env
  return { ...inherited, DATA_DIR: dataDir, PORT: "0", LOG_LEVEL: "warn" }
}

const stopped = (child: ChildProcess) =>
  Effect.callback<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("close", () => resume(Effect.void))
    child.kill("SIGTERM")
  })

const announced = (child: ChildProcess, said: () => string) =>
  Effect.callback<number, DidNotStart>((resume) => {
    const fail = () => resume(Effect.fail(new DidNotStart({ said: said() })))
    child.once("close", fail)
    child.once("error", fail)
    if (child.stdout !== null) {
      createInterface(child.stdout).once("line", (line) => {
        const port = /:(\d+)$/.exec(line)?.[1]
        if (port === undefined) return fail()
        resume(Effect.succeed(Number(port)))
      })
    }
  })

/** Starts it and waits until it answers. */
export const start = Effect.gen(function* () {
  const dataDir = join(yield* folder, "data")
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, [main], {
        env: environment(dataDir),
        stdio: ["ignore", "pipe", "pipe"]
      })
    ),
    stopped
  )
  let said = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said += text))
  const port = yield* announced(child, () => said)
  const run: LocalRun = {
    dataDir,
    port,
    ended: () => child.exitCode ?? child.signalCode,
    said: () => said
  }
  return run
})
