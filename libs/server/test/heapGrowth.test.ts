/** The growth of the heap that a service allows its own process. */
import { spawnSync } from "node:child_process"
import { expect, it } from "vitest"

const module = new URL("../src/lifecycle/HeapGrowth.ts", import.meta.url).href

/** The largest heap, in MB, of a process whose garbage is all in the old generation. */
const largestHeap = (first: string): number => {
  const script = `
    import { limitHeapGrowth } from ${JSON.stringify(module)}
    ${first}
    const made = () => Array.from({ length: 50 }, (_, index) => ({ index, text: String(index) }))
    const alive = Array.from({ length: 10_000 }, made)
    const shortLived = Array.from({ length: 1_000 })
    let most = 0
    for (let count = 0; count < 130_000; count++) {
      shortLived[count % shortLived.length] = made()
      if (count % 1_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed)
    }
    if (alive.length > 0) console.log(String(most / 2 ** 20))`
  const args = ["--max-semi-space-size=2", "--input-type=module", "--eval", script]
  const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  expect(stderr).toBe("")
  return Number(stdout)
}

it("is bounded by the live objects", { timeout: 60_000 }, () => {
  const own = largestHeap("")
  const limited = largestHeap("limitHeapGrowth()")
  expect(limited).toBeGreaterThan(0)
  expect(limited).toBeLessThan(own * 0.75)
})
