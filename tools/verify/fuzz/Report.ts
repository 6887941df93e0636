/** The report of a run as text. */
import type { Case } from "./Case.ts"
import type { Failure, Options, Outcome } from "./Run.ts"

const longest = 2_000

/** The last requests of a case, so far as they are text. */
const sentIn = ({ steps }: Case): ReadonlyArray<string> =>
  steps.slice(-6).map(({ request: { body = "", headers, method, path, raw, who }, times = 1 }) => {
    const head = [`${method} ${path}`, ...headers.map(([name, value]) => `${name}: ${value}`)]
    const text = raw ?? `${head.join("\n")}\n\n${Buffer.from(body as string).toString()}`
    return `As ${who}${times > 1 ? `, ${times} times at once` : ""}:\n${text.slice(0, longest)}`
  })

const failure = ({ at, complaints, index, others, tried }: Failure, { seed }: Options): string =>
  [
    `FAILED  case ${index}: ${tried.operation}, ${tried.kind}, ${tried.name}`,
    `  ${at}`,
    ...complaints.slice(0, 5).map((complaint) => `  ${complaint}`),
    ...(others > 0 ? [`  ${others} more cases fail like it`] : []),
    `  again: npm run fuzz -- --seed ${seed} --case ${index}`,
    ...sentIn(tried).map((text) => `\n${text}`)
  ].join("\n")

const list = (title: string, entries: ReadonlyArray<string>): ReadonlyArray<string> =>
  entries.length === 0 ? [] : ["", `${title}:`, ...entries.map((entry) => `  ${entry}`)]

/** How many cases of these failures there are. */
const failedCases = (failures: ReadonlyArray<Failure>): number =>
  failures.reduce((sum, { others }) => sum + 1 + others, 0)

/** The whole report of a run. */
export const report = (outcome: Outcome, options: Options): string => {
  const { cases, failures, hangs, seconds, tally, turnedAway } = outcome
  const unseen = tally.unseen()
  return [
    ...list("Documented and not seen", unseen.reachable),
    ...list("Codes of errors not seen", tally.unseenFieldCodes()),
    ...list("Documented for a service in trouble, and not seen", unseen.ofTrouble),
    ...failures.flatMap((it) => ["", failure(it, options)]),
    "",
    `seed ${options.seed}: ${cases} cases, ${tally.requests} requests in ${seconds.toFixed(1)} s ` +
      `(${(cases / seconds).toFixed(0)} cases/s), ${failedCases(failures)} failed, ` +
      `${tally.serverErrors} answers of 500 and more, ${hangs} without an answer in time, ` +
      `${turnedAway} put off and tried again`
  ].join("\n")
}
