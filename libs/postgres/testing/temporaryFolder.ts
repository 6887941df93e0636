/** Folders for a test's PostgreSQL, removed with the scope. */
import { Effect, type Scope } from "effect"
import { chmodSync, existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const remove = (path: string): void => rmSync(path, { recursive: true, force: true })

/** A new folder, open to the user who runs PostgreSQL in place of root unless `mode` closes it. */
export const temporaryFolder = (mode = 0o755): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "data-import-test-"))
      chmodSync(folder, mode)
      return folder
    }),
    (folder) => Effect.sync(() => remove(folder))
  )

/**
 * The path of a data directory in a new folder, not made yet. If it becomes a link, its target is
 * removed as well.
 */
export const temporaryDataDir = (mode?: number): Effect.Effect<string, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.map(temporaryFolder(mode), (folder) => join(folder, "postgres")),
    (dataDir) => Effect.sync(() => existsSync(dataDir) && remove(realpathSync(dataDir)))
  )
