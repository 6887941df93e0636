/** The sum of the list of cohorts, as a sentence. */
import type { Cohorts } from "../data/Answers.ts"
import { count, counted, verb } from "./Numbers.ts"
import { stateOrder, states as words } from "./Words.ts"

/** The cohorts that are not listed, as a sentence; empty if there are none. */
const left = ({ cohorts, others }: Cohorts): string => {
  if (others.cohorts === 0) return ""
  const listed = cohorts.filter(({ cohort }) => cohort !== null).length
  const parts = stateOrder
    .filter((state) => others.states[state] > 0)
    .map((state) => `${count(others.states[state])} ${words[state].word.toLowerCase()}`)
  return (
    `The first ${count(listed)} cohorts by name are listed. ` +
    `${counted(others.cohorts, "other cohort")} ${verb(others.cohorts, "has", "have")} ` +
    `${counted(others.total, "account")}: ${parts.join(", ")}. ` +
    "Find them by name in the list of accounts. "
  )
}

/** Says whether the cohorts sum up to all accounts of the migration. */
export const closing = (answer: Cohorts, total: number): string => {
  const sum = answer.cohorts.reduce((all, cohort) => all + cohort.total, answer.others.total)
  const which = answer.others.cohorts === 0 ? "They" : "All cohorts"
  const come = `${left(answer)}${which} come to ${counted(sum, "account")}`
  return sum === total
    ? `${come}: all of them.`
    : `${come} of ${count(total)}, which were read at another time.`
}
