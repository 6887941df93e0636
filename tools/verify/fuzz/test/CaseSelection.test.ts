/**
 * A seed and a number always draw the same case, and each kind of case is as frequent as its
 * weight.
 */
import { DateTime } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Case, caseOf } from "../Case.ts"
import { dayOf } from "../Day.ts"
import { operations } from "../Document.ts"
import { casePoolOf, plansAt, seedOf } from "../CaseSelection.ts"
import { bytesOf, type Target } from "../Wire.ts"

const day = dayOf(DateTime.makeUnsafe("2026-03-04T12:00:00Z"))
const target: Target = { port: 8080, tokenOf: (who) => (who === "nobody" ? null : who) }

const ours = casePoolOf(day)
const first = ours.fixed.length

const drawn = (seed: number, index: number, deck = ours): Case => {
  const [plan] = fc.sample(plansAt(deck, index), { seed: seedOf(seed, index), numRuns: 1 })
  if (plan === undefined) throw new Error("fast-check draws nothing")
  return caseOf(plan, `${index}.1`, { apiKey: "the-api-key" })
}

/** Everything that is sent, except steps that depend on answers. */
const bytesIn = ({ kind, name, operation, steps }: Case): string =>
  [
    `${operation} ${kind} ${name}`,
    ...steps.map(({ request, times = 1 }) => `${times} ${bytesOf(request, target).toString("hex")}`)
  ].join("\n")

const several = (seed: number, from: number): string =>
  Array.from({ length: 8 }, (_, n) => bytesIn(drawn(seed, from + n))).join("\n\n")

const seeds = fc.nat(999_999_999)
const indices = fc.integer({ min: first, max: 999_999 })

describe("a seed and a number", () => {
  it("stand for the same case, byte for byte, in another run of the day", () => {
    const again = casePoolOf(dayOf(DateTime.makeUnsafe("2026-03-04T23:59:58Z")))
    fc.assert(
      fc.property(seeds, fc.nat(999_999), (seed, index) => {
        expect(bytesIn(drawn(seed, index, again))).toBe(bytesIn(drawn(seed, index)))
      }),
      { numRuns: 40 }
    )
  })

  it("stand for the same case regardless of earlier draws", () => {
    const alone = bytesIn(drawn(7, first + 40))
    expect(several(7, first + 36).split("\n\n")[4]).toBe(alone)
  })

  it("stand for other cases under another seed", () => {
    fc.assert(
      fc.property(seeds, seeds, indices, (seed, other, index) => {
        fc.pre(seed !== other)
        expect(several(other, index)).not.toBe(several(seed, index))
      }),
      { numRuns: 8 }
    )
  })

  it("make a seed that no other number has, and no other seed", () => {
    fc.assert(
      fc.property(seeds, seeds, indices, indices, (seed, other, index, later) => {
        if (index !== later) expect(seedOf(seed, index)).not.toBe(seedOf(seed, later))
        if (seed !== other) expect(seedOf(seed, index)).not.toBe(seedOf(other, index))
      })
    )
  })
})

describe("the first cases", () => {
  it("are the same under every seed", () => {
    const some = [0, 1, Math.trunc(first / 2), first - 1]
    for (const index of some) expect(bytesIn(drawn(2, index))).toBe(bytesIn(drawn(1, index)))
  })

  it("ask every operation", () => {
    const asked = new Set(ours.fixed.map(({ operation }) => operation))
    expect(operations.map(({ id }) => id).filter((id) => !asked.has(id))).toEqual([])
  })
})

/** The share of each kind; those from the rules together. */
const weights = {
  "valid, mutant": 16,
  document: 8,
  value: 14,
  bytes: 12,
  http: 10,
  framing: 8,
  connection: 8,
  worst: 4,
  path: 8,
  batch: 4
}

const total = Object.values(weights).reduce((sum, weight) => sum + weight, 0)

describe("the kinds of case", () => {
  it("are as frequent as their weights, within five standard deviations", () => {
    const draws = 300
    const found = Array.from({ length: draws }, (_, n) => drawn(11, first + n).kind)
    const far = Object.entries(weights).filter(([kinds, weight]) => {
      const count = found.filter((kind) => kinds.split(", ").includes(kind)).length
      const share = weight / total
      const deviation = Math.sqrt(draws * share * (1 - share))
      return Math.abs(count - draws * share) > 5 * deviation
    })
    expect(far).toEqual([])
    for (const kind of ["valid", "mutant"]) expect(found).toContain(kind)
  })
})
