/**
 * Builds the web part into a folder of its own: `web/dist` is served by other tests meanwhile, and
 * may be older than the sources.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../..")

/** Returns the folder. */
export const build = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-board-"))
  const { status, stderr } = spawnSync(
    "vite",
    ["build", "services/board/web", "--outDir", folder, "--emptyOutDir"],
    { cwd: root, encoding: "utf8" }
  )
  if (status !== 0) throw new Error(`The web part cannot be built: ${stderr}`)
  return folder
}
