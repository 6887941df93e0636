/** Links to what the supplier has to correct, for managers. */
import type { ComponentChildren } from "preact"
import { useIsManager } from "../data/User.ts"
import { answers } from "../routing/Paths.ts"

interface Props {
  readonly supplier: string
  /** Only errors with this code. */
  readonly code?: string
  /** What the files have. */
  readonly children: ComponentChildren
}

export const CorrectionLinks = ({ children, code, supplier }: Props) => {
  if (!useIsManager()) return null
  return (
    <span>
      {children}:{" "}
      <a href={answers.of(supplier, "corrections.xlsx", { code })} download>
        sheet
      </a>
      ,{" "}
      <a href={answers.of(supplier, "corrections.csv", { code })} download>
        CSV
      </a>
      .
    </span>
  )
}
