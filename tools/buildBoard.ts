/**
 * Builds the web part of the board for `npm start`, or takes it from the cache. It prints nothing
 * unless that fails, because the local run prints one line when it answers.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const args = ["run", "board:build-web", "--output-style=static"]
const { error, status, stderr, stdout } = spawnSync("nx", args, { cwd: root, encoding: "utf8" })
if (error !== undefined || status !== 0) {
  console.error(`The web part of the board cannot be built.\n${error?.message ?? stdout + stderr}`)
  process.exitCode = 1
}
