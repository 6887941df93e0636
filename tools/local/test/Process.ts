/** Processes of the tools as a user starts them, each on a data directory that ends with the test. */
import { type ChildProcess, spawn } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { onTestFinished } from "vitest"
import { commandLine } from "@data-import/postgres/testing/processes"

const tools = join(import.meta.dirname, "..", "..")

export interface Ended {
  /** The exit status, or the signal that ended the process. */
  readonly status: number | string
  readonly out: string
  readonly err: string
}

export interface Process {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
}

type Environment = Readonly<Record<string, string>>

const environment = (extra: Environment): NodeJS.ProcessEnv => {
  const { DATABASE_URL: _, LOG_LEVEL: __, PORT: ___, ...inherited } = process.env
  return { ...inherited, ...extra }
}

/** Runs `tools/<tool>/main.ts`; whatever is left of it ends with the test. */
export const launch = (tool: string, args: ReadonlyArray<string>, extra: Environment): Process => {
  const child = spawn(process.execPath, [join(tools, tool, "main.ts"), ...args], {
    env: environment(extra),
    stdio: ["ignore", "pipe", "pipe"]
  })
  let out = ""
  let err = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => resolve({ status: code ?? signal ?? "", out, err }))
  })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGTERM")
    await ended
  })
  return { child, ended }
}

/** Runs a tool to its end. */
export const runToEnd = (tool: string, args: ReadonlyArray<string>, extra: Environment) =>
  launch(tool, args, extra).ended

/** A data directory that does not exist yet. */
export const freshDataDir = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-local-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "data")
}

/** Starts the local run and waits for its line; gives the address in it. */
export const startLocal = async (dataDir: string, extra: Environment = {}) => {
  const local = launch("local", [], { DATA_DIR: dataDir, PORT: "0", ...extra })
  const line = await new Promise<string>((resolve, reject) => {
    if (local.child.stdout !== null) {
      createInterface(local.child.stdout).once("line", resolve)
    }
    local.ended.then(({ err, status }) => reject(new Error(`ended with ${status}: ${err}`)), reject)
  })
  const [baseUrl = ""] = /http:\/\/\S+$/.exec(line) ?? []
  return { ...local, line, baseUrl }
}

/** Stops a process as Ctrl-C or a supervisor does, and waits for its end. */
export const stop = ({ child, ended }: Process, signal: "SIGTERM" | "SIGINT" | "SIGKILL") => {
  child.kill(signal)
  return ended
}

/** The process that runs PostgreSQL on the data directory, if any does. */
export const postgresOf = (dataDir: string): number | null => {
  const file = join(dataDir, "postgres", "postmaster.pid")
  if (!existsSync(file)) return null
  const pid = Number(readFileSync(file, "utf8").split("\n")[0])
  return commandLine(pid)?.includes("postgres") ? pid : null
}
