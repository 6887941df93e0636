/**
 * Writes `libs/api/openapi.json` from the definitions in `libs/api`. With `--check` it writes
 * nothing, and exits with 1 when the file is stale.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { document } from "@data-import/api/OpenApiDocument"

const file = new URL("../libs/api/openapi.json", import.meta.url)
const current = `${JSON.stringify(document(), null, 2)}\n`

if (!process.argv.includes("--check")) writeFileSync(file, current)
else if (!existsSync(file) || readFileSync(file, "utf8") !== current) {
  console.error("libs/api/openapi.json is stale: run `npm run openapi`, and see `git diff`.")
  process.exitCode = 1
}
