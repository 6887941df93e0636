/** The header of each migration says whether it can be undone. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"
import { migrations } from "../src/setup/migrate.ts"

const headerOf = (name: string): string => {
  const file = join(import.meta.dirname, "..", "migrations", `${name}.ts`)
  return readFileSync(file, "utf8").split("*/", 1)[0] ?? ""
}

it("a migration says whether it can be undone, and how or why not", () => {
  const silent = Object.keys(migrations).filter(
    (name) => !/^ \* Can be undone: (yes|no), \S.*\.$/m.test(headerOf(name))
  )
  expect(silent).toEqual([])
})
