/**
 * The case of each number. The first cases are the same in every run. Each other case is drawn with
 * its own seed, so that it can be repeated without the cases before it.
 */
import fc from "fast-check"
import { randomSource } from "@data-import/testbed/RandomSource"
import { batchCases, batchPlans } from "./BatchPlans.ts"
import { bytesPlans } from "./BytesPlans.ts"
import type { Plan } from "./Case.ts"
import { certificatePlans } from "./CertificatePlans.ts"
import { controlTotalsPlans } from "./ControlTotalsPlans.ts"
import { connectionCases, connectionPlans } from "./ConnectionPlans.ts"
import type { Day } from "./Day.ts"
import { documentPlans } from "./DocumentPlans.ts"
import { eventCases } from "./EventPlans.ts"
import { fixedPlans } from "./FixedPlans.ts"
import { framingCases, framingPlans } from "./FramingPlans.ts"
import { httpPlans } from "./HttpPlans.ts"
import { pathPlans } from "./PathPlans.ts"
import { postImportCases, postImportPlans } from "./PostImportPlans.ts"
import { uploadPlans } from "./UploadPlans.ts"
import { valuePlans } from "./ValuePlans.ts"
import { worstBodyCases, worstBodyPlans } from "./WorstBodyPlans.ts"

/** The plans from which the cases of a day are drawn. */
export interface CasePool {
  readonly fixed: ReadonlyArray<Plan>
  readonly others: fc.Arbitrary<Plan>
}

const group = (weight: number, plans: ReadonlyArray<fc.WeightedArbitrary<Plan>>) => ({
  weight,
  arbitrary: fc.oneof(...plans)
})

export const casePoolOf = (day: Day): CasePool => ({
  fixed: [
    ...fixedPlans(day),
    ...framingCases,
    ...connectionCases,
    ...worstBodyCases,
    ...postImportCases,
    ...uploadPlans,
    ...batchCases,
    ...eventCases,
    ...certificatePlans,
    ...controlTotalsPlans
  ],
  others: fc.oneof(
    group(16, postImportPlans(day)),
    group(8, documentPlans),
    group(14, valuePlans),
    group(12, bytesPlans),
    group(10, httpPlans),
    group(8, framingPlans),
    group(8, connectionPlans),
    group(4, worstBodyPlans),
    group(8, pathPlans),
    group(4, batchPlans)
  )
})

/** The plan of the case of this number. Later ones are drawn, each with a seed of its own. */
export const planAt = ({ fixed, others }: CasePool, seed: number, index: number): Plan => {
  const plan = fixed[index]
  if (plan !== undefined) return plan
  const own = randomSource(seed, index).below(2 ** 32) | 0
  const [drawn] = fc.sample(others, { seed: own, numRuns: 1 })
  return drawn as Plan
}
