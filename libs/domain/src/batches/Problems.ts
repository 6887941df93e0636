/**
 * The failures of a batch, grouped so that few fixes clear many lines.
 * Source: docs/contract/batches.md#problems.
 */
import type { LineProblem } from "./BatchLine.ts"

/** Failed lines with the same problem. */
export interface ProblemGroup extends Omit<LineProblem, "businessDay" | "detail"> {
  readonly lines: number
  readonly examples: ReadonlyArray<{
    readonly line: number
    readonly externalAccountNumber: string | null
    readonly detail: string | null
    readonly businessDay?: string
  }>
}

/** All problems of a batch. */
export interface Problems {
  /** The most frequent first, then by code and path; at most the query's limit. */
  readonly groups: ReadonlyArray<ProblemGroup>
  /** How many failed lines have exactly these problems. */
  readonly sets: ReadonlyArray<{
    readonly problems: ReadonlyArray<Pick<LineProblem, "attr" | "code">>
    readonly lines: number
  }>
}

/** A problem, identified by its code and path. */
interface Named {
  readonly code: string
  readonly attr: string | null
}

const keyOf = ({ attr, code }: Named): string => JSON.stringify([code, attr])

/**
 * For each group, how many lines have only this problem and those before it. Lines with a problem
 * that is not among the groups are never cleared.
 */
export const clearedLines = ({
  groups,
  sets
}: {
  readonly groups: ReadonlyArray<Named>
  readonly sets: ReadonlyArray<{ readonly problems: ReadonlyArray<Named>; readonly lines: number }>
}): ReadonlyArray<number> => {
  const ranks = new Map(groups.map((group, index) => [keyOf(group), index]))
  const cleared = groups.map(() => 0)
  for (const { lines, problems } of sets) {
    const last = Math.max(-1, ...problems.map((each) => ranks.get(keyOf(each)) ?? groups.length))
    if (last >= 0 && last < groups.length) cleared[last] = (cleared[last] ?? 0) + lines
  }
  let sum = 0
  return cleared.map((lines) => (sum += lines))
}
