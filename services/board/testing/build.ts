/** Builds the web part, for tests that run without Nx, which does it before. */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../..")

export const build = (): void => {
  const { status, stderr } = spawnSync("vite", ["build", "services/board/web"], {
    cwd: root,
    encoding: "utf8"
  })
  if (status !== 0) throw new Error(`The web part cannot be built: ${stderr}`)
}
