/** Processes of the tools as a user starts them, which end with the test. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as LocalRun from "@data-import/testbed/LocalRun"
import { type Environment, inherited, NodeProcess } from "@data-import/testbed/NodeProcess"
import { onTestFinished } from "vitest"
import { commandLine } from "@data-import/postgres/testing/processes"

const stoppedWithTest = (process: NodeProcess): NodeProcess => {
  onTestFinished(async () => {
    if (!process.hasEnded) process.child.kill("SIGTERM")
    await process.ended
  })
  return process
}

/** Runs `tools/<tool>/main.ts`, at the latest until the test ends. */
export const launch = (tool: string, args: ReadonlyArray<string>, extra: Environment) =>
  stoppedWithTest(new NodeProcess({ script: `tools/${tool}/main.ts`, args, env: inherited(extra) }))

/** Runs a tool to its end. */
export const runToEnd = (tool: string, args: ReadonlyArray<string>, extra: Environment) =>
  launch(tool, args, extra).ended

const makeDataDir = (atEnd: (remove: () => void) => void): string => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-local-"))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "data")
}

/** A data directory that does not exist yet. */
export const freshDataDir = (): string => makeDataDir(onTestFinished)

const prepare = async (): Promise<string> => {
  const dataDir = makeDataDir((remove) => process.once("exit", remove))
  const { process: running } = await LocalRun.announced(LocalRun.launch(dataDir), dataDir)
  await stop(running, "SIGTERM")
  return dataDir
}

let prepared: Promise<string> | undefined

/**
 * A data directory that an earlier run has left, as most users have: a copy of one that was made
 * once.
 */
export const usedDataDir = async (): Promise<string> => {
  const source = await (prepared ??= prepare())
  const dataDir = freshDataDir()
  // Preserves the owners of the files, because PostgreSQL may run as another user.
  execFileSync("cp", ["-a", source, dataDir])
  return dataDir
}

/** Starts the local run and waits until it announces its address. */
export const startLocal = (dataDir: string, extra: Environment = {}): Promise<LocalRun.LocalRun> =>
  LocalRun.announced(stoppedWithTest(LocalRun.launch(dataDir, extra)), dataDir)

/** Stops a process as Ctrl-C or a supervisor does, and waits for its end. */
export const stop = ({ child, ended }: NodeProcess, signal: "SIGTERM" | "SIGINT" | "SIGKILL") => {
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

interface Demo {
  readonly baseUrl: string
  readonly apiKey: string
  readonly rivalApiKey: string
  readonly importSupplier: string
  readonly operationsTeamName: string
  readonly documentsDir: string
}

export const demoIn = (dataDir: string): Demo =>
  JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as Demo

export const operator = (dataDir: string, ...args: ReadonlyArray<string>) =>
  runToEnd("operator", args, { DATA_DIR: dataDir })

export const succeeded = { status: 0, err: "" }

/** A port that is in use. */
export const takenPort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}
