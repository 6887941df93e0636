/** The programme in words: how far all migrations have come, and when they are done. */
import type { Programme } from "../data/Answers.ts"
import { doneBy } from "./Forecast.ts"
import { count, counted, verb } from "./Numbers.ts"
import { ownZone } from "./Times.ts"

/** All accounts that were to be moved, whether they were received or not. */
export const wholeOf = ({ accounts_missing, lines_refused, total }: Programme): number =>
  total + lines_refused + accounts_missing

/** The answer of the page. */
export const ofProgramme = (programme: Programme, now: number): string => {
  const { conditions, forecast, migrations, states } = programme
  if (migrations === 0) return "There is no migration yet: 0 accounts"
  const done = conditions.done
  const end =
    forecast.whole === null
      ? forecast.without === 0
        ? ""
        : ", no forecast"
      : `, the last one with a forecast is done ${doneBy(forecast.whole, now, ownZone())}`
  return (
    `${count(states.IMPORTED)} of ${counted(wholeOf(programme), "account")} are imported, ` +
    `${count(done)} of ${counted(migrations, "migration")} ${verb(done, "is", "are")} done${end}`
  )
}

/** What the interval is made of. */
export const madeOf = ({ forecast: { of, without } }: Programme): string => {
  const made =
    of === 0
      ? "No migration has a forecast."
      : `Made of the ${counted(of, "forecast")} of single migrations: when the last of them is ` +
        "done, if they do not hold each other up."
  return without === 0
    ? made
    : `${made} ${counted(without, "migration")} with open work ${verb(without, "has", "have")} none, ` +
        "and may be later: paused, with failed accounts alone, or nothing moves."
}

/** How the migrations with a plan stand against it. */
export const againstPlan = ({ plan: { imported, migrations, now } }: Programme): string => {
  if (migrations === 0) return "No migration has a plan."
  const difference = imported - now
  const word = difference < 0 ? "behind" : "ahead of"
  const stand =
    difference === 0 ? "as planned" : `${count(Math.abs(difference))} ${word} their plans`
  return (
    `${counted(migrations, "migration")} with a plan: ${count(imported)} imported, ` +
    `${count(now)} planned by now: ${stand}.`
  )
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
