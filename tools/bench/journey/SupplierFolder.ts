/**
 * A folder like a supplier's: empty except for the packed command and the packed client, outside
 * the workspace, with a separate home directory.
 */
import { spawn, spawnSync } from "node:child_process"
import { readdirSync, writeFileSync } from "node:fs"
import { delimiter, dirname, join } from "node:path"
import { Effect } from "effect"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"

const root = join(import.meta.dirname, "../../..")

/** The environment without vitest's variables, and without a deployment's settings. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_|DATA_IMPORT_|XDG_)/.test(name))
)

export interface Ended {
  readonly status: number | NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

export interface SupplierFolder {
  readonly path: (name: string) => string
  /** Runs a command line. `kill` is told how to end its processes at once. */
  readonly run: (
    line: string,
    environment?: Readonly<Record<string, string>>,
    kill?: (now: () => void) => void
  ) => Effect.Effect<Ended>
}

const runSync = (program: string, args: ReadonlyArray<string>, cwd: string): void => {
  const { status, stderr } = spawnSync(program, args, { cwd, env: inherited, encoding: "utf8" })
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}: ${stderr}`)
}

/** Builds and packs both, and installs them as the READMEs say. */
const install = (folder: string): void => {
  const [cli, client] = [join(folder, "cli"), join(root, "libs/client/dist")]
  runSync(process.execPath, [join(root, "tools/cli/build.ts"), cli], root)
  runSync(process.execPath, ["build.ts"], join(root, "libs/client"))
  for (const packed of [cli, client]) {
    runSync("npm", ["pack", packed, "--pack-destination", folder], folder)
  }
  writeFileSync(join(folder, "package.json"), '{"private": true, "type": "module"}')
  const tarballs = readdirSync(folder).filter((file) => file.endsWith(".tgz"))
  const options = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"]
  runSync("npm", ["install", ...options, ...tarballs.map((file) => `./${file}`)], folder)
}

export const supplierFolder = Effect.map(temporaryFolder(), (folder): SupplierFolder => {
  install(folder)
  const path = [join(folder, "node_modules/.bin"), dirname(process.execPath), inherited["PATH"]]
  const env = { ...inherited, HOME: folder, PATH: path.join(delimiter) }
  return {
    path: (name) => join(folder, name),
    run: (line, environment = {}, kill = () => undefined) =>
      Effect.callback<Ended>((resume) => {
        const child = spawn("bash", ["-c", line], {
          cwd: folder,
          env: { ...env, ...environment },
          detached: true,
          stdio: ["ignore", "pipe", "pipe"]
        })
        let [out, err] = ["", ""]
        child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text))
        child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
        // The shell and the command are a group of processes.
        const now = () => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"))
        kill(now)
        child.once("close", (code, signal) =>
          resume(Effect.succeed({ status: code ?? signal, out, err }))
        )
        return Effect.sync(() => child.exitCode === null && child.signalCode === null && now())
      })
  }
})
