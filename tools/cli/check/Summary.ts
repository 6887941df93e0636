/**
 * The findings of a check in the form of a batch's problems: grouped by code and path, so that few
 * fixes clear many lines. Its memory is bounded, however many lines and kinds of errors there are.
 * Source: docs/contract/batches.md#problems.
 */
import { clearedLines, type ProblemGroup } from "@data-import/domain/batches/Problems"
import type { ReportCode } from "../reports/ReportCode.ts"
import { type FailedLineProblems, type PlacedProblem, problemKey } from "./CheckedBlock.ts"

/** An example has the value, and of a CSV book its row and column. */
export type Example = ProblemGroup["examples"][number] & {
  readonly row: number | null
  readonly column: string | null
  readonly value: string | null
  /** The file and the row, if it is of a further file. */
  readonly place?: string | null
}

interface Group extends Omit<ProblemGroup, "code" | "examples"> {
  readonly code: ReportCode
  readonly examples: ReadonlyArray<Example>
  /** How many lines would be right with the other sign. */
  readonly reversed: number
}

/** A group of failed lines; `cleared` lines have no other problem than it and those before it. */
export interface SummarisedProblem extends Group {
  readonly cleared: number
}

/** Whether it is of a CSV book, whose examples have rows. */
export const isOfRows = ({ examples: [first] }: Pick<SummarisedProblem, "examples">): boolean =>
  (first?.row ?? null) !== null

export interface Summary {
  readonly lines: number
  readonly failed: number
  /** The most frequent first, at most as many as are listed. */
  readonly problems: ReadonlyArray<SummarisedProblem>
  /** How many different problems there are; a lower bound if there are very many. */
  readonly different: number
}

const listed = 1_000
const mostGroups = 20_000
const mostSets = 20_000
const examples = 5

type Growing = { -readonly [Key in keyof Group]: Group[Key] } & {
  readonly examples: Array<Example>
}

interface ProblemSet {
  readonly problems: ReadonlyArray<PlacedProblem>
  lines: number
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const byFrequency = (one: Group, other: Group): number =>
  other.lines - one.lines || compare(one.code, other.code) || compare(one.attr, other.attr)

export class SummaryBuilder {
  readonly #groups = new Map<string, Growing>()
  readonly #sets = new Map<string, ProblemSet>()
  #lines = 0
  #failed = 0

  get lines(): number {
    return this.#lines
  }

  get failed(): number {
    return this.#failed
  }

  add(lines: number, failed: ReadonlyArray<FailedLineProblems>): void {
    this.#lines += lines
    this.#failed += failed.length
    for (const line of failed) this.#addLine(line)
  }

  #addLine(failed: FailedLineProblems): void {
    const keys = failed.problems.map(problemKey)
    for (const [index, problem] of failed.problems.entries()) {
      this.#addProblem(keys[index] as string, problem, failed)
    }
    const set = keys.toSorted().join("\n")
    const present = this.#sets.get(set)
    if (present !== undefined) present.lines++
    else if (this.#sets.size < mostSets) {
      this.#sets.set(set, { problems: failed.problems, lines: 1 })
    }
  }

  #addProblem(key: string, problem: PlacedProblem, failed: FailedLineProblems): void {
    const { attr, code, column, detail, place = null, value } = problem
    const present = this.#groups.get(key)
    if (present === undefined && this.#groups.size >= mostGroups) return
    const group = present ?? { attr, code, lines: 0, reversed: 0, examples: [] }
    if (present === undefined) this.#groups.set(key, group)
    group.lines++
    if (problem.isReversed === true) group.reversed++
    if (group.examples.length >= examples) return
    const { externalAccountNumber, line, row } = failed
    group.examples.push({ line, row, column, value, place, externalAccountNumber, detail })
  }

  summary(): Summary {
    const groups = [...this.#groups.values()].sort(byFrequency).slice(0, listed)
    const cleared = clearedLines({ groups, sets: [...this.#sets.values()] })
    return {
      lines: this.#lines,
      failed: this.#failed,
      problems: groups.map((group, index) => ({ ...group, cleared: cleared[index] ?? 0 })),
      different: this.#groups.size
    }
  }
}
