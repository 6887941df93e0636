/**
 * Checks the types of one project, as its Nx target `types` does:
 * `node tools/checkTypes.ts libs/domain`, or `.` for the whole workspace. The compiler is the
 * native one with the diagnostics of Effect's language service, which see an effect that is never
 * run. There is only one tsconfig.json, because the linter reads the workspace as one program; a
 * program for each project takes five times as long.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

const root = join(import.meta.dirname, "..")
const [project = "."] = process.argv.slice(2)

/** The settings of the workspace for the files of one project. */
const projectConfig = (): string => {
  const file = join(root, "node_modules", ".cache", "types", project, "tsconfig.json")
  mkdirSync(dirname(file), { recursive: true })
  const config = { extends: join(root, "tsconfig.json"), include: [join(root, project)] }
  writeFileSync(file, JSON.stringify(config))
  return file
}

const compiler = execFileSync("effect-tsgo", ["get-exe-path"], { encoding: "utf8" }).trim()
const config = project === "." ? join(root, "tsconfig.json") : projectConfig()
const { status } = spawnSync(compiler, ["--noEmit", "-p", config], { cwd: root, stdio: "inherit" })
process.exitCode = status ?? 1
