/** A report passes when every figure meets its target, and its line has every figure. */
import { describe, expect, it } from "vitest"
import { Findings, type Kind } from "../Findings.ts"
import { empty, isPassed, isRight, line, type Report } from "../Report.ts"

const found = (...kinds: ReadonlyArray<Kind>): Findings => {
  const findings = new Findings()
  for (const kind of kinds) findings.add(kind, `something ${kind}`)
  return findings
}

const reports: ReadonlyArray<readonly [Partial<Report>, boolean, string]> = [
  [
    { acknowledged: 7 },
    true,
    "passed  kill: acknowledged 7, lost 0, doubled 0, half made 0, wrong answers 0, " +
      "seconds to recover none to measure"
  ],
  [
    { acknowledged: 7, recoveries: [0.5, 4.25, 1], recoveryLimit: 5 },
    true,
    "passed  kill: acknowledged 7, lost 0, doubled 0, half made 0, wrong answers 0, " +
      "seconds to recover 4.25 (≤ 5)"
  ],
  [
    { recoveries: [0.5, 5.5], recoveryLimit: 5 },
    false,
    "FAILED  kill: acknowledged 0, lost 0, doubled 0, half made 0, wrong answers 0, " +
      "seconds to recover 5.50 (≤ 5)"
  ],
  [
    { findings: found("lost", "doubled", "doubled", "halfMade", "wrong") },
    false,
    "FAILED  kill: acknowledged 0, lost 1, doubled 2, half made 1, wrong answers 1, " +
      "seconds to recover none to measure"
  ],
  [
    {
      figures: [
        { name: "refused", value: 3, unit: "times", atLeast: 1 },
        { name: "p99", value: 1.005, unit: "ms", atMost: 100 },
        { name: "pairs", value: 20, unit: "" }
      ]
    },
    true,
    "passed  kill: acknowledged 0, lost 0, doubled 0, half made 0, wrong answers 0, " +
      "seconds to recover none to measure, refused 3 times (≥ 1), p99 1.00 ms (≤ 100), pairs 20"
  ],
  [{ skipped: "there is no disk" }, true, "kill: skipped, there is no disk"]
]

describe("a report", () => {
  it.each(reports)("of %j passes: %s", (report, passes, text) => {
    const whole = { ...empty("kill"), ...report }
    expect(isPassed(whole)).toBe(passes)
    expect(line(whole)).toBe(text)
  })

  it.each(["lost", "doubled", "halfMade", "wrong"] as const)("fails for anything %s", (kind) => {
    expect(isPassed({ ...empty("kill"), findings: found(kind) })).toBe(false)
  })

  it.each([
    { name: "refused", value: 0, unit: "times", atLeast: 1 },
    { name: "p99", value: 101, unit: "ms", atMost: 100 }
  ])("fails for a figure beyond its bound: $name", (figure) => {
    expect(isPassed({ ...empty("kill"), figures: [figure] })).toBe(false)
  })

  it("is right despite a time beyond its bound, but not despite anything else", () => {
    const late = { name: "archived after", value: 7, unit: "s", atMost: 6 }
    const rightButLate = { ...empty("kill"), recoveries: [9], figures: [late] }
    expect([isRight(rightButLate), isPassed(rightButLate)]).toEqual([true, false])
    expect(isRight({ ...rightButLate, figures: [{ ...late, unit: "" }] })).toBe(false)
    expect(isRight({ ...rightButLate, findings: found("lost") })).toBe(false)
  })

  it("counts the findings that it does not list", () => {
    const findings = found("lost", "lost", "lost", "wrong")
    const described = ["lost: something lost", "lost: and 2 more", "wrong: something wrong"]
    expect(findings.described(1)).toEqual(described)
  })
})
