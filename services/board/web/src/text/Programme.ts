/** The programme in words: how far all migrations have come, and when they are done. */
import type { Programme } from "../data/Answers.ts"
import { doneBy } from "./Forecast.ts"
import { count, counted } from "./Numbers.ts"
import { ownZone } from "./Times.ts"

/** All accounts that were to be moved, whether they were received or not. */
export const wholeOf = ({ accounts_missing, lines_refused, total }: Programme): number =>
  total + lines_refused + accounts_missing

/** The answer of the page. */
export const ofProgramme = (programme: Programme, now: number): string => {
  const { forecast, migrations, states } = programme
  if (migrations === 0) return "There is no migration yet: 0 accounts"
  const end =
    forecast.whole === null ? "no forecast" : `done ${doneBy(forecast.whole, now, ownZone())}`
  return `${count(states.IMPORTED)} of ${counted(wholeOf(programme), "account")} imported, ${end}`
}

/** How the migrations with a plan stand against it. */
export const againstPlan = ({ plan: { imported, now } }: Programme): string => {
  const difference = imported - now
  const word = difference < 0 ? "behind" : "ahead of"
  const stand = difference === 0 ? "as planned" : `${count(Math.abs(difference))} ${word} the plan`
  return `${count(imported)} imported, ${count(now)} planned by now: ${stand}`
}

const firstFixes = 5

/** What the first five corrections clear. */
export const ofFixes = ({ problems: { failed, groups, of } }: Programme): string => {
  if (failed === 0) return "No account has failed."
  const fixes = Math.min(firstFixes, groups.length)
  const cleared = groups[fixes - 1]?.cleared ?? 0
  const sample = of < failed ? `, counted in ${count(of)} of ${count(failed)}` : ""
  return (
    `Correcting the first ${count(fixes)} clears ${count(cleared)} of ` +
    `${counted(of, "failed account")}${sample}.`
  )
}
