/** Links to the summary of a migration. */
import { answers } from "../routing/Paths.ts"

export const SummaryLinks = ({ supplier }: { readonly supplier: string }) => (
  <>
    Summary:{" "}
    <a href={answers.of(supplier, "summary.pdf")} download>
      PDF
    </a>
    ,{" "}
    <a href={answers.of(supplier, "summary.csv")} download>
      CSV
    </a>
  </>
)
