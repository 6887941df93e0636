/** The columns that tables of problems share: what it is, and what correcting the first clears. */
import { count, share } from "../text/Numbers.ts"
import { Bar } from "./Bar.tsx"
import { Problem, type ProblemProps } from "./Problem.tsx"
import type { Column } from "./Table.tsx"

export const problemColumn = (supplier: string): Column<ProblemProps["problem"]> => ({
  name: "Problem",
  isHead: true,
  class: "explained",
  cell: (problem) => <Problem problem={problem} supplier={supplier} />
})

export const clearedColumns = (
  failed: number
): ReadonlyArray<Column<{ readonly cleared: number }>> => [
  {
    name: "Cleared with those above",
    isNumber: true,
    cell: ({ cleared }) => (
      <>
        {count(cleared)} <small>{share(cleared, failed)}</small>
      </>
    )
  },
  {
    name: "Share",
    class: "bar-cell",
    cell: ({ cleared }) => <Bar value={cleared} most={failed} />
  }
]
