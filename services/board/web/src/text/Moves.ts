/** Moves of accounts between cohorts, and the cohorts that a move can go to. */
import type { Cohorts, Move } from "../data/Answers.ts"
import { counted } from "./Numbers.ts"

export const cohortName = (cohort: string | null): string => cohort ?? "no cohort"

/** Cohorts that are named one by one. */
const named = 3

const listed = (cohorts: ReadonlyArray<string | null>): string =>
  cohorts.length > named
    ? `${cohorts.length} cohorts`
    : cohorts.map(cohortName).join(cohorts.length === 2 ? " and " : ", ")

/** Such as `from wave-1 to wave-2, 412 accounts`. */
export const movedText = ({ accounts, from, to, undoes }: Move): string => {
  const cohorts = from.map(({ cohort }) => cohort)
  const back = undoes === null ? "" : "back "
  return `${back}from ${listed(cohorts)} to ${listed(to)}, ${counted(accounts, "account")}`
}

const flat = (name: string): string => name.replaceAll(/[\s\p{Pd}_]+/gu, "").toLowerCase()

/** The cohort that differs from this name only by case, spaces, dashes or underscores. */
export const similarCohort = (name: string, { cohorts }: Pick<Cohorts, "cohorts">): string | null =>
  cohorts.flatMap(({ cohort }) =>
    cohort !== null && cohort !== name && flat(cohort) === flat(name) ? [cohort] : []
  )[0] ?? null
