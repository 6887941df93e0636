/** A report passes when every figure meets its target and nothing was found. */
import { describe, expect, it } from "vitest"
import { Findings, type Kind } from "../Findings.ts"
import { empty, type Figure, isPassed, isRight, line, type Report } from "../Report.ts"

const found = (...kinds: ReadonlyArray<Kind>): Findings => {
  const findings = new Findings()
  for (const kind of kinds) findings.add(kind, `something ${kind}`)
  return findings
}

const figure = (value: number, bounds: Partial<Figure>): Partial<Report> => ({
  figures: [{ name: "answers", value, unit: "times", ...bounds }]
})

const late = figure(7, { unit: "s", atMost: 6 })

describe("a report", () => {
  it.each<readonly [passes: boolean, isRight: boolean, Partial<Report>]>([
    [true, true, { acknowledged: 7 }],
    [true, true, { recoveries: [0.5, 4.25], recoveryLimit: 5 }],
    [true, true, figure(3, { atLeast: 1, atMost: 3 })],
    [false, true, { recoveries: [0.5, 5.5] }],
    [false, true, late],
    [false, false, figure(0, { atLeast: 1 })],
    [false, false, figure(4, { atMost: 3 })],
    ...(["lost", "doubled", "halfMade", "wrong"] as const).map(
      (kind) => [false, false, { findings: found(kind) }] as const
    )
  ])("passes: %s, is right apart from times: %s, %#", (passes, right, report) => {
    const whole = { ...empty("kill"), ...report }
    expect([isPassed(whole), isRight(whole)]).toEqual([passes, right])
  })

  it("is one line, with every figure and its target", () => {
    const findings = found("lost", "doubled", "doubled", "wrong")
    const whole = { ...empty("kill"), acknowledged: 7, findings, recoveries: [0.5, 4.25] }
    expect(line({ ...whole, ...figure(1.005, { unit: "ms", atMost: 100 }) })).toBe(
      "FAILED  kill: acknowledged 7, lost 1, doubled 2, half made 0, wrong answers 1, " +
        "seconds to recover 4.25 (≤ 5), answers 1.00 ms (≤ 100)"
    )
    const described = ["lost: something lost", "doubled: something doubled"]
    expect(findings.described(1)).toEqual([
      ...described,
      "doubled: and 1 more",
      "wrong: something wrong"
    ])
  })
})
