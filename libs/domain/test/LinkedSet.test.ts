import { spawnSync } from "node:child_process"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { LinkedSet } from "../src/support/LinkedSet.ts"

const members = Array.from({ length: 6 }, (_, id) => ({ id }))

it("a linked set has the members and the order of a Set", () => {
  const step = fc.record({ adds: fc.boolean(), member: fc.constantFrom(...members) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const [linked, expected] = [new LinkedSet<object>(), new Set<object>()]
      for (const { adds, member } of steps) {
        if (adds) void (linked.add(member), expected.add(member))
        else expect(linked.delete(member)).toBe(expected.delete(member))
        expect([...linked]).toEqual([...expected])
        expect([linked.size, linked.first]).toEqual([expected.size, [...expected][0]])
        expect(linked.has(member)).toBe(expected.has(member))
      }
    })
  )
})

/** The MB by which the old generation of a process grows while 24 members of a set change. */
const oldGrowth = (set: string): number => {
  const module = new URL("../src/support/LinkedSet.ts", import.meta.url).href
  const script = `
    import { getHeapSpaceStatistics } from "node:v8"
    import { LinkedSet } from ${JSON.stringify(module)}
    const old = () => getHeapSpaceStatistics()
      .find(({ space_name }) => space_name === "old_space").space_used_size
    const set = new ${set}()
    const present = []
    const change = (index) => {
      const member = { part: new Array(100).fill(index) }
      set.add(member)
      if (present.push(member) > 24) set.delete(present.shift())
    }
    for (let index = 0; index < 100; index++) change(index)
    gc()
    const [before, most] = [old(), []]
    for (let index = 0; index < 60_000; index++) {
      change(index)
      if (index % 1_000 === 0) most.push(old() - before)
    }
    console.log(String(Math.max(...most) / 1e6))`
  const args = ["--expose-gc", "--input-type=module", "--eval", script]
  const { stderr, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" })
  expect(stderr).toBe("")
  return Number(stdout)
}

it("members that were removed are young garbage, as those of a Set are not", () => {
  expect(oldGrowth("Set")).toBeGreaterThan(10)
  expect(oldGrowth("LinkedSet")).toBeLessThan(2)
})
