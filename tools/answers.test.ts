/**
 * The registry of codes names what can be emitted, and nothing else: a code that no source speaks
 * of is either a forgotten rule or a dead entry.
 */
import { registry } from "@data-import/domain/codes/Code"
import { expect, it } from "vitest"
import { isTest, modules, read } from "./lint/workspaceFiles.ts"

/**
 * Kept for the post-import endpoints, which are not there yet. A code leaves the list with its
 * first use.
 */
const reserved: ReadonlyArray<string> = []

const spoken = modules
  .filter((file) => /^(libs|services)\//.test(file) && !isTest(file) && !file.includes("/testing/"))
  .filter((file) => file !== "libs/domain/src/codes/Code.ts")
  .map(read)
  .join("\n")

const isUsed = (code: string) => spoken.includes(`"${code}"`)

it("has no code that nothing emits", () => {
  const unused = Object.keys(registry).filter((code) => !isUsed(code))
  expect(unused.toSorted()).toEqual(reserved.toSorted())
})
