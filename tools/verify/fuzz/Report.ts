/** The report of a run as text. */
import type { Failure, Options, Outcome } from "./Run.ts"
import { commandsOf } from "./Reproduction.ts"

const preparation = `To do a case again by hand: npm start, and
  npm run -s operator -- supplier create FUZZ --organisation demo --document-check off
with the tokens of the demo tenant in $DEMO and $RIVAL, and of keys that may only read or write in
$READER and $WRITER.`

const failure = (
  { at, complaints, index, others, shrinks, smallest }: Failure,
  { seed }: Options
): string => {
  const commands = commandsOf(smallest, `${seed}-${index}`).slice(-6)
  return [
    `FAILED  case ${index}: ${smallest.operation}, ${smallest.kind}, ${smallest.name}`,
    `  ${at}`,
    ...complaints.slice(0, 5).map((complaint) => `  ${complaint}`),
    ...(others > 0 ? [`  ${others} more cases fail like it`] : []),
    `  again: npm run fuzz -- --seed ${seed} --case ${index}${
      shrinks > 0 ? `   (made smaller ${shrinks} times)` : ""
    }`,
    ...commands.map((command) => `\n${command}`)
  ].join("\n")
}

const list = (title: string, entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.length === 0 ? [] : ["", `${title}:`, ...entries.map((entry) => `  ${entry}`)]

/** How many cases of these failures there are. */
const failedCases = (failures: ReadonlyArray<Failure>): number =>
  failures.reduce((sum, { others }) => sum + 1 + others, 0)

/** The whole report of a run. */
export const report = (outcome: Outcome, options: Options): string => {
  const { cases, failures, hangs, seconds, tally, turnedAway } = outcome
  const unseen = tally.unseen()
  const { milliseconds, what } = tally.slowest
  return [
    ...tally.table(),
    ...list("Documented and not seen", unseen.reachable),
    ...list("Codes of errors not seen", tally.unseenFieldCodes()),
    ...list("Documented for a service in trouble, and not seen", unseen.ofTrouble),
    ...(failures.length === 0 ? [] : ["", preparation]),
    ...failures.flatMap((it) => ["", failure(it, options)]),
    "",
    `half of the answers within ${tally.within(0.5).toFixed(0)} ms, 99 % within ` +
      `${tally.within(0.99).toFixed(0)} ms, the slowest in ${milliseconds.toFixed(0)} ms: ${what}`,
    `seed ${options.seed}: ${cases} cases, ${tally.requests} requests in ${seconds.toFixed(1)} s ` +
      `(${(cases / seconds).toFixed(0)} cases/s), ${failedCases(failures)} failed, ` +
      `${tally.serverErrors} answers of 500 and more, ${hangs} without an answer in time, ` +
      `${turnedAway} put off and tried again`
  ].join("\n")
}
