/** Waves in words: how far they have come, how they compare, and what is odd about a plan. */
import type { Condition, Wave, Waves } from "../data/Answers.ts"
import { decisionWords } from "./GoNoGo.ts"
import { count, counted, share, verb, verbOf } from "./Numbers.ts"
import { byText, greatestFirst, type Orders } from "./Sorting.ts"
import { clock, date, duration, isoDate } from "./Times.ts"

interface StateWord {
  readonly word: string
  readonly meaning: string
  /** The condition with the same shape and colour. */
  readonly like: Condition
}

export const waveStates: Readonly<Record<Wave["state"], StateWord>> = {
  unplanned: { word: "Not planned", meaning: "Nobody has planned it.", like: "waiting" },
  planned: { word: "Planned", meaning: "It was not rehearsed.", like: "waiting" },
  rehearsed: { word: "Rehearsed", meaning: "Nobody has decided since.", like: "waiting" },
  go: { word: "Go", meaning: "It is decided, and was not started.", like: "waiting" },
  no_go: { word: "No-go", meaning: "It is decided that it is not imported.", like: "paused" },
  running: { word: "Running", meaning: "It is being imported.", like: "running" },
  unfinished: {
    word: "Unfinished",
    meaning: "It was imported, and some of it is left.",
    like: "unfinished"
  },
  done: { word: "Done", meaning: "All of its accounts have ended.", like: "done" },
  taken_back: { word: "Taken back", meaning: "It was undone.", like: "paused" }
}

const reasons: Readonly<Record<string, string>> = {
  no_go: "the decision was a no-go",
  not_decided: "no decision stood",
  too_late: "it was more than an hour too late",
  import_supplier_migration_not_ongoing: "the migration was not ongoing",
  operations_team_name_does_not_exist: "the operations team does not exist"
}

/** When a wave starts by itself, or what came of that. */
export const startText = ({ at, outcome }: NonNullable<Wave["start"]>, zone: string): string => {
  const time = clock(Date.parse(at), zone)
  if (outcome === null) return `starts by itself at ${time}`
  if (outcome === "started") return `started by itself at ${time}`
  const code = outcome.replace(/^not_started /, "")
  return `did not start at ${time}: ${reasons[code] ?? code}`
}

/** Whether it is to be started yet. */
const isAhead = ({ run, run_with_others, state }: Wave): boolean =>
  state !== "done" && run === null && run_with_others === null

/** What is left of an unfinished wave, such as `80 failed`; empty of any other. */
export const leftOf = (wave: Wave): string => {
  const { accounts, lines_refused, state, states, total } = wave
  if (state !== "unfinished") return ""
  const open = states.PENDING + states.IN_PROGRESS
  const fewer = (accounts ?? 0) - total - lines_refused
  return [
    ...(states.FAILED === 0 ? [] : [`${count(states.FAILED)} failed`]),
    ...(open === 0 ? [] : [`${count(open)} pending`]),
    ...(lines_refused === 0 ? [] : [`${counted(lines_refused, "line")} refused`]),
    ...(fewer <= 0 ? [] : [`${count(fewer)} fewer than the target`])
  ].join(", ")
}

const isPlanned = ({ accounts, decision, owner, starts_on }: Wave): boolean =>
  [accounts, decision, owner, starts_on].some((each) => each !== null)

/** Which planned waves an import of everything that is pending has, and no go stands for. */
export const withoutGo = ({ waves }: Waves): ReadonlyArray<Wave> =>
  waves.filter((wave) => wave.states.PENDING > 0 && wave.verdict !== "GO" && isPlanned(wave))

/** Whether its control totals hold; null while accounts that wait may still make them up. */
export const totalsMatch = ({ expected, states, total }: Wave): boolean | null => {
  if (expected === null) return null
  const mayArrive = total === 0 || states.PENDING + states.IN_PROGRESS > 0
  return !expected.matches && mayArrive && states.IMPORTED < expected.accounts
    ? null
    : expected.matches
}

/** Such as `go by Maria Keller`. */
export const decidedText = ({ decision, verdict }: Wave): string => {
  if (decision === null) return "nobody has decided"
  const over = verdict === "OVER" ? " (over)" : verdict === "HALF" ? " (of one manager)" : ""
  return `${decisionWords[decision.decision]} by ${decision.by.replace(/^board:/, "")}${over}`
}

/** The answer of the page. */
export const ofWaves = ({ at, time_zone, waves }: Waves): string => {
  const done = waves.filter(({ state }) => state === "done").length
  const running = waves.filter(({ state }) => state === "running").length
  const unfinished = waves.filter(({ state }) => state === "unfinished").length
  const today = isoDate(Date.parse(at), time_zone)
  const ahead = waves.filter(isAhead).flatMap(({ starts_on: on }) => (on === null ? [] : [on]))
  const overdue = ahead.filter((on) => on < today).length
  const next = ahead.filter((on) => on >= today).toSorted()[0]
  return [
    `${count(done)} of ${counted(waves.length, "wave")} ${verbOf(done, waves.length, "is", "are")} done`,
    ...(running === 0 ? [] : [`${count(running)} ${verb(running, "is", "are")} running`]),
    ...(unfinished === 0
      ? []
      : [`${count(unfinished)} ${verb(unfinished, "is", "are")} unfinished`]),
    ...(overdue === 0 ? [] : [`${count(overdue)} ${verb(overdue, "is", "are")} overdue`]),
    ...(next === undefined ? [] : [`the next is planned for ${dayText(next)}`])
  ].join(", ")
}

/** Such as `2 Dec 2026`. */
export const dayText = (on: string): string => date(Date.parse(`${on}T00:00:00Z`), "UTC")

/** Of its first attempts; null before any. */
const failedShare = ({ run }: Wave): number | null =>
  run === null || run.tried === 0 ? null : run.failed / run.tried

export const failureText = ({ run }: Wave): string =>
  run === null ? "–" : share(run.failed, run.tried)

/** How long its run took, or has taken so far, in milliseconds. */
const took = ({ run }: Wave, now: number): number | null =>
  run === null || run.started_at === null
    ? null
    : (run.finished_at === null ? now : Date.parse(run.finished_at)) - Date.parse(run.started_at)

export const tookText = (wave: Wave, now: number): string => {
  const time = took(wave, now)
  if (time === null) return "–"
  return wave.run?.finished_at === null ? `${duration(time)} so far` : duration(time)
}

const least = -1

export const waveOrders = (now: number): Orders<Wave> => ({
  Wave: byText(({ cohort }) => cohort),
  State: byText(({ state }) => waveStates[state].word),
  Owner: byText(({ owner }) => owner),
  Accounts: greatestFirst(({ total }) => total),
  Failed: greatestFirst((wave) => failedShare(wave) ?? least),
  Took: greatestFirst((wave) => took(wave, now) ?? least)
})

/** By day, those without one last. */
export const byDay = (waves: ReadonlyArray<Wave>): ReadonlyArray<Wave> =>
  waves.toSorted(byText<Wave>(({ starts_on }) => starts_on).compare)

export const csvHead = [
  ...["wave", "state", "starts_on", "starts_at", "owner", "target", "accounts", "imported"],
  ...["failed_now", "refused_lines", "tried_in_first_run", "failed_in_first_run"],
  ...["first_run_seconds", "first_problem", "verdict", "balances_match", "control_totals_match"]
]

export const csvRow = (wave: Wave, now: number): ReadonlyArray<string | number | null> => {
  const { expected, first_problem, run, start, states, verdict } = wave
  const time = took(wave, now)
  return [
    ...[wave.cohort, wave.state, wave.starts_on, start?.at ?? null, wave.owner, wave.accounts],
    ...[wave.total, states.IMPORTED, states.FAILED, wave.lines_refused],
    ...[run?.tried ?? null, run?.failed ?? null, time === null ? null : Math.round(time / 1000)],
    ...[first_problem?.code ?? null, verdict],
    ...[String(wave.balances_match), expected === null ? null : String(expected.matches)]
  ]
}

/** Refused lines are not staged, and may come again. */
const ofStaged = (wanted: number, { lines_refused: refused, total }: Wave): string =>
  `${counted(total, "account")} of the cohort ${verb(total, "is", "are")} staged, ` +
  `${count(Math.abs(wanted - total))} ${wanted > total ? "fewer" : "more"} than this target` +
  `${refused === 0 ? "" : `; ${counted(refused, "line")} ${verb(refused, "was", "were")} refused`}.`

const ofCohort = (wanted: number, wave: Wave | undefined): ReadonlyArray<string> => {
  const present = wave === undefined ? 0 : wave.total + wave.lines_refused
  const expected = wave?.expected?.accounts ?? wanted
  return [
    ...(wave === undefined || present === 0 || wave.total === wanted
      ? []
      : [ofStaged(wanted, wave)]),
    ...(expected === wanted ? [] : [`Its control totals expect ${counted(expected, "account")}.`])
  ]
}

/** What a target of a wave does not agree with. Nothing of it is refused. */
export const warnAccounts = (
  { expected, planned, waves }: Waves,
  cohort: string,
  wanted: number | null
): ReadonlyArray<string> => {
  if (wanted === null) return []
  const others = waves.filter((wave) => wave.cohort !== cohort)
  const all = others.reduce((sum, { accounts }) => sum + (accounts ?? 0), wanted)
  const beyond = (limit: number | null, what: string) =>
    limit === null || all <= limit
      ? []
      : [`All waves come to ${counted(all, "account")}, and ${what} ${count(limit)}.`]
  return [
    ...ofCohort(
      wanted,
      waves.find((wave) => wave.cohort === cohort)
    ),
    ...beyond(planned, "the plan of the migration ends with"),
    ...beyond(expected, "the control totals of the migration expect")
  ]
}

export const warnDay = ({ plan_ends_on: end }: Waves, on: string | null): ReadonlyArray<string> =>
  on === null || end === null || on <= end
    ? []
    : [`The plan of the migration ends on ${dayText(end)}.`]

/** A typed number of accounts; null for none, undefined if it is no number. */
export const parseTarget = (text: string): number | null | undefined => {
  const digits = text.replace(/[,.' ]/g, "")
  if (digits === "") return null
  return /^\d{1,9}$/.test(digits) && Number(digits) > 0 ? Number(digits) : undefined
}
