/** Which tests get a PostgreSQL. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import { databaseTests, testFiles } from "./lint/databaseTests.ts"
import { modules, root } from "./lint/workspaceFiles.ts"

/** The database tests of a workspace that holds these files. */
const databaseTestsOf = (files: Readonly<Record<string, string>>) => {
  const folder = mkdtempSync(join(tmpdir(), "data-import-workspace-"))
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true })
      writeFileSync(join(folder, name), text)
    }
    return databaseTests(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

// Written so that this file does not count as injecting or importing.
const injecting = `${"inject"}("databaseUrl")`
const importing = `${"import"}("../testing/Database.ts")`
const library = {
  "libs/store/package.json": JSON.stringify({
    name: "@data-import/store",
    exports: { "./testing/*": "./testing/*.ts", "./*": "./src/*.ts" }
  }),
  "libs/store/testing/Database.ts": injecting,
  "libs/store/src/Rows.ts": "export const rows = []"
}

it.each([
  ["injects the URL itself", injecting, true],
  ["imports a module that does", 'import { url } from "../testing/Database.ts"', true],
  [
    "imports one of a package that does",
    'import * as a from "@data-import/store/testing/Database"',
    true
  ],
  ["imports it over several lines", 'import {\n  url\n} from "../testing/Database.ts"', true],
  ["imports it when called", `await ${importing}`, true],
  ["imports only its types", 'import type { Url } from "../testing/Database.ts"', false],
  ["imports another module", 'import { rows } from "@data-import/store/Rows"', false]
])("a test that %s: %s, database: %s", (_, text, isIncluded) => {
  const file = "libs/store/test/a.test.ts"
  expect(databaseTestsOf({ ...library, [file]: text })).toEqual(isIncluded ? [file] : [])
})

it("finds a database through a module between", () => {
  const file = "libs/store/test/a.test.ts"
  const between = { "libs/store/test/world.ts": 'export * from "../testing/Database.ts"' }
  const text = 'import { url } from "./world.ts"'
  expect(databaseTestsOf({ ...library, ...between, [file]: text })).toEqual([file])
})

it("splits the tests of this workspace", () => {
  const found = databaseTests(root)
  expect(found).toContain("libs/postgres/test/migrations.test.ts")
  expect(found).not.toContain("libs/domain/test/money.test.ts")
  expect(testFiles(root)).toEqual(
    modules.filter((file) => /^(libs|services|tools)\/.*\.test\.ts$/.test(file)).toSorted()
  )
})
