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
