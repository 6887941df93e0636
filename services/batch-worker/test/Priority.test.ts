/** The priority that the worker gives its own process. */
import { spawnSync } from "node:child_process"
import { getPriority } from "node:os"
import { expect, it } from "vitest"

const priority = new URL("../src/Priority.ts", import.meta.url).href

/** The priority of a process that was started with this niceness, after it lowered its own. */
const loweredFrom = (increment: number): number => {
  const script = `
    import { lowerPriority } from ${JSON.stringify(priority)}
    import { getPriority } from "node:os"
    lowerPriority()
    console.log(String(getPriority()))`
  const node = [process.execPath, "--input-type=module", "--eval", script]
  const { stderr, stdout } = spawnSync("nice", ["-n", String(increment), ...node], {
    encoding: "utf8"
  })
  expect(stderr).toBe("")
  return Number(stdout)
}

it("is lowered, and never raised", () => {
  const own = getPriority()
  expect(loweredFrom(0)).toBe(Math.max(own, 10))
  expect(loweredFrom(15)).toBe(Math.min(own + 15, 19))
})
