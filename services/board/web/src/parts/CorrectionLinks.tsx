/** Links to what the supplier has to correct, for managers; of one cohort, or of all. */
import { useIsManager } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"

interface Props {
  readonly supplier: string
  readonly cohort?: string | null
}

export const CorrectionLinks = ({ cohort = null, supplier }: Props) => {
  if (!useIsManager()) return null
  return (
    <p>
      For the supplier, with personal data:{" "}
      <a href={answers.of(supplier, "corrections.xlsx", { cohort })} download>
        what to correct, as a sheet
      </a>
      ,{" "}
      <a href={answers.of(supplier, "corrections.csv", { cohort })} download>
        as CSV
      </a>
    </p>
  )
}
