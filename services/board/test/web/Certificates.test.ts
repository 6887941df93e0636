import { describe, expect, it } from "vitest"
import { differingFigures } from "@data-import/domain/certificates/CertificateFigures"
import { certificates, earlier, later } from "../../testing/sampleCertificates.ts"

const found = certificates(
  "DELTA_LEGACY",
  { cohort: null, isCertified: false, isManager: true },
  Date.parse("2026-12-01T12:00:00Z")
).certificates

const contentOf = (id: string) => {
  const content = found.find(({ certificate_id }) => certificate_id === id)?.certificate
  if (!content) throw new Error("There is no such certificate")
  return content
}

const [one, other] = [contentOf(later), contentOf(earlier)]

type Totals = typeof other.control_totals

/** The names of what differs in the control totals, if those of the other one are these. */
const differing = (control_totals: Totals) =>
  differingFigures(one, { ...other, control_totals })
    .filter(({ title }) => title === "Control totals")
    .flatMap(({ pairs }) => pairs.map(({ name }) => name))

describe("the figures of two certificates", () => {
  it("do not differ by the words beside them, which are about what is certified", () => {
    expect(one.tree_size).not.toBe(other.tree_size)
    expect(differing(other.control_totals)).toEqual([])
  })

  it("differ by words that stand for themselves", () => {
    const totals = other.control_totals && { ...other.control_totals, matches: true }
    expect(differing(totals)).toEqual(["What is certified"])
    expect(differing(null)).toEqual(["Expected accounts", "What is certified", "Expected"])
  })
})
