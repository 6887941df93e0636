/** The columns that tables of problems share: the problem, and what correcting the first clears. */
import type { MigrationDetail } from "../data/Answers.ts"
import { Link } from "../routing/Location.tsx"
import { count, share } from "../text/Numbers.ts"
import { RetryButton } from "../actions/ProcessButton.tsx"
import { Bar } from "./Bar.tsx"
import { Problem, type ProblemProps } from "./Problem.tsx"
import type { Column } from "./Table.tsx"

export const problemColumn = (
  supplier: string,
  lineTo?: ProblemProps["lineTo"]
): Column<ProblemProps["problem"]> => ({
  name: "Problem",
  isHead: true,
  class: "explained",
  cell: (problem) => <Problem problem={problem} supplier={supplier} lineTo={lineTo} />
})

/** Failed accounts by code: a retry selects by code, not by path. */
export type FailedByCode = ReadonlyMap<string, number>

export const failedByCode = (detail: MigrationDetail | undefined): FailedByCode =>
  new Map((detail?.codes ?? []).map(({ code, imports }) => [code, imports]))

export const retryColumn = (
  supplier: string,
  failed: FailedByCode
): Column<{ readonly code: string }> => ({
  name: "Action",
  isNameHidden: true,
  class: "act",
  cell: ({ code }) => (
    <RetryButton
      supplier={supplier}
      selection={{ code }}
      accounts={failed.get(code) ?? 0}
      isBrief
    />
  )
})

interface Cleared {
  readonly cleared: number
  /** Its place among all problems, from 1. */
  readonly rank: number
  /** What correcting it clears in addition, once those above are corrected. */
  readonly more: number
}

/** The rows of a table of problems, each with its place. */
export const ranked = <Group extends { readonly cleared: number }>(
  groups: ReadonlyArray<Group>
): ReadonlyArray<Group & Cleared> =>
  groups.map((group, index) => ({
    ...group,
    rank: index + 1,
    more: group.cleared - (groups[index - 1]?.cleared ?? 0)
  }))

/** `listTo` links to the accounts or lines that the first n problems hold back. */
export const clearedColumns = (
  failed: number,
  listTo: (first: string) => string
): ReadonlyArray<Column<Cleared>> => [
  {
    name: "Cleared with those above",
    isNumber: true,
    cell: ({ cleared, rank }) => (
      <>
        {cleared === 0 ? (
          <span class="quiet">0</span>
        ) : (
          <Link to={listTo(String(rank))}>{count(cleared)}</Link>
        )}{" "}
        <small class="share">{share(cleared, failed)}</small>
      </>
    )
  },
  {
    name: "It adds",
    class: "bar-cell",
    cell: ({ more }) => <Bar value={more} most={failed} />
  }
]
