/** A program of this repository in a separate process, whose output is kept. */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Duration, Effect } from "effect"

export type Environment = Readonly<Record<string, string | undefined>>

export interface Program {
  /** From the root of the repository. */
  readonly script: string
  readonly args?: ReadonlyArray<string>
  /** For Node, before the script. */
  readonly nodeArgs?: ReadonlyArray<string>
  /** Leaves the standard output unread; it is kept unless given. */
  readonly discardsOutput?: boolean
  /** The whole environment of the process, except for Node's cache of compiled modules. */
  readonly env: Environment
}

export interface Ended {
  /** The exit status, or the signal that ended the process. */
  readonly status: number | string
  readonly out: string
  readonly err: string
}

const root = join(import.meta.dirname, "..", "..")

/** Half of a start is compiling. With the cache a process is ready in two thirds of the time. */
export const compileCache = join(root, "node_modules", ".cache", "node")

const stopLimit = Duration.seconds(20)

/** This process's environment without settings that would change which system is started. */
export const inherited = (extra: Environment = {}): Environment => {
  const { DATABASE_URL: _, LOG_LEVEL: __, PORT: ___, ...rest } = process.env
  return { ...rest, ...extra }
}

export class NodeProcess {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  #out = ""
  #err = ""

  constructor(program: Program) {
    const { args = [], discardsOutput = false, env, nodeArgs = [], script } = program
    const child: ChildProcess = spawn(
      process.execPath,
      [...nodeArgs, join(root, script), ...args],
      {
        cwd: root,
        env: { NODE_COMPILE_CACHE: compileCache, ...env },
        stdio: ["ignore", discardsOutput ? "ignore" : "pipe", "pipe"]
      }
    )
    this.child = child
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.#out += text))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#err += text))
    this.ended = new Promise((resolve, reject) => {
      child.once("error", reject)
      child.once("close", (code, signal) => {
        resolve({ status: code ?? signal ?? "", out: this.#out, err: this.#err })
      })
    })
    // A test may end before anything waits for the process.
    this.ended.catch(() => {})
  }

  get pid(): number {
    return this.child.pid ?? 0
  }

  /** What it has written to its standard output so far. */
  get out(): string {
    return this.#out
  }

  /** What it has written to its standard error so far. */
  get err(): string {
    return this.#err
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null
  }

  /** The first line of its standard output; rejects when the process ends without one. */
  firstLine(): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.child.stdout !== null) createInterface(this.child.stdout).once("line", resolve)
      this.ended.then(
        ({ err, status }) => reject(new Error(`the process ended with ${status}: ${err}`)),
        reject
      )
    })
  }

  /** Sends the signal, and SIGKILL when the process does not end within 20 seconds. */
  stop(signal: NodeJS.Signals = "SIGTERM"): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.hasEnded) return Effect.void
      this.child.kill(signal)
      return Effect.asVoid(Effect.promise(() => this.ended))
    }).pipe(Effect.timeoutOrElse({ duration: stopLimit, orElse: () => this.stop("SIGKILL") }))
  }
}
