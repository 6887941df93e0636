/** The headline of each page: its main statement, with numbers. */
import {
  openAccounts,
  openText,
  type Unstaged,
  wholeOf as wholeWith
} from "@data-import/domain/migrations/OpenWorkText"
import type {
  Account,
  Alerts,
  BatchBody,
  BatchLines,
  Condition,
  Forecasts,
  ImportRows,
  Migration,
  Problems,
  States
} from "../data/Answers.ts"
import { doneBy, waitsForData, whatWaits } from "./Forecast.ts"
import { count, counted, share, verbOf } from "./Numbers.ts"
import { type Happened, happenedWords } from "./Rehearsal.ts"
import { batchName, isRehearsal, lineWord, needsAttention, stateWord } from "./Words.ts"

export const sumOf = (states: States): number =>
  Object.values(states).reduce((sum, value) => sum + value, 0)

const unstagedOf = (migration: Migration): Unstaged => ({
  failed: migration.lines_failed,
  remaining: migration.lines_remaining,
  refused: migration.lines_refused,
  missing: migration.accounts_missing,
  unexpected: migration.accounts_unexpected
})

/** The open work of a migration, in words. */
export const openWork = (migration: Migration): string =>
  openText(migration.states, unstagedOf(migration)) ?? "nothing"

/** All accounts that were to be moved, whether they are imports or not. */
export const wholeOf = (migration: Migration): number =>
  wholeWith(migration.states, unstagedOf(migration))

/** The imported share of the whole. It is never everything while something is open. */
export const importedShare = (migration: Migration): string => {
  const imported = share(migration.states.IMPORTED, wholeOf(migration))
  const isWhole = migration.condition === "done" || openWork(migration) === "nothing"
  return imported === "100 %" && !isWhole ? ">99 %" : imported
}

const attentionOf = (conditions: ReadonlyArray<Condition>): string => {
  const all = conditions.length
  const needy = conditions.filter(needsAttention).length
  if (all === 0) return "There is no migration yet"
  if (needy === 0) {
    return all === 1
      ? "The one migration needs no attention"
      : `None of ${count(all)} migrations needs attention`
  }
  return `${count(needy)} of ${counted(all, "migration")} ${verbOf(needy, all, "needs", "need")} attention`
}

/** Of all migrations. */
export const ofMigrations = (
  migrations: ReadonlyArray<Pick<Migration, "condition" | "balances_match">>
): string => {
  const untied = migrations.filter(({ balances_match }) => !balances_match).length
  const attention = attentionOf(migrations.map(({ condition }) => condition))
  return untied === 0 ? attention : `${attention}; the money of ${count(untied)} does not add up`
}

const signedOff = (migration: Migration): string => {
  const open = openWork(migration)
  return open === "nothing" ? "signed off" : `signed off with ${open} left open`
}

const ending = (migration: Migration, now: number): string => {
  const { condition, forecast, imported_last_hour, states, time_zone: zone } = migration
  // A batch may have lines left although no account is open.
  if (condition === "stuck") return ", stuck"
  if (condition === "done") return ", nothing is open"
  if (condition === "paused") return ", paused"
  if (waitsForData(migration)) return `, only ${whatWaits(migration)}`
  if (openAccounts(states) === 0) return ", a batch goes on"
  if (forecast !== null) return `, done ${doneBy(forecast, now, zone)}`
  return imported_last_hour > 0 ? ", no forecast yet" : ", nothing moves"
}

/** Of one migration. */
export const ofMigration = (migration: Migration, now: number): string => {
  const { accounts_missing, import_supplier, states, total } = migration
  const { accounts_unexpected, lines_failed, lines_refused, lines_remaining } = migration
  const isSignedOff = migration.status === "Complete"
  if (total === 0 && lines_failed + lines_refused + lines_remaining === 0)
    return `${import_supplier}: nothing ${isSignedOff ? "was staged, signed off" : "is staged yet"}`
  const { FAILED, IMPORTED } = states
  const imported = `${count(IMPORTED)} of ${count(wholeOf(migration))} imported`
  if (isSignedOff) return `${import_supplier}: ${imported}, ${signedOff(migration)}`
  // A line that is refused before it is staged leaves no account.
  const parts = [
    imported,
    FAILED === 0 && lines_failed + lines_refused > 0
      ? ""
      : `${FAILED === 0 ? "none" : count(FAILED)} failed`,
    lines_failed === 0 ? "" : `${counted(lines_failed, "line")} failed`,
    lines_refused === 0 ? "" : `${counted(lines_refused, "line")} refused`,
    accounts_missing === 0 ? "" : `${count(accounts_missing)} never received`,
    accounts_unexpected === 0 ? "" : `${count(accounts_unexpected)} more than expected`,
    lines_remaining === 0 ? "" : `${counted(lines_remaining, "line")} to do`
  ].filter((part) => part !== "")
  return `${import_supplier}: ${parts.join(", ")}${ending(migration, now)}`
}

/** Of one batch. */
export const ofBatch = (batch: BatchBody): string => {
  const { already, failed, received, remaining, succeeded } = batch.counts
  const done = isRehearsal(batch) ? "rehearsed" : "ended"
  const ended =
    batch.operation === "REVERT"
      ? `${count(succeeded + already)} of ${counted(received, "account")} ${lineWord("SUCCEEDED", batch)}`
      : `${count(received - remaining)} of ${counted(received, "line")} ${done}`
  const none = failed === 0 ? "none" : count(failed)
  return `${batchName(batch)}: ${ended}, ${none} ${lineWord("FAILED", batch)}`
}

interface LinesFilter {
  readonly outcome: string | null
  readonly code: string | null
  readonly attr: string | null
  readonly first_problems: string | null
}

/** Of a list of lines. */
export const ofLines = (found: BatchLines, filter: LinesFilter): string => {
  const { batch, lines, next_after, total } = found
  const { attr, code, first_problems: first, outcome } = filter
  const conditions = [
    outcome ? `: ${lineWord(outcome, batch)}` : "",
    code ? ` with ${code}` : "",
    attr ? ` at ${attr}` : "",
    first ? `, ${clearedBy(first)}` : ""
  ].join("")
  const atLeast = total === null && next_after !== null ? "More than " : ""
  const number = total ?? lines.length
  const count = number === 0 ? "No lines" : counted(number, "line")
  return `${atLeast}${count} of ${batchName(batch)}${conditions}`
}

export interface OutcomeFilter {
  readonly predicted: string | null
  readonly happened: string | null
}

const happenedWord = (happened: string): string =>
  Object.hasOwn(happenedWords, happened) ? happenedWords[happened as Happened] : happened

/** Of the lines of a rehearsal, which change while it is read, so that they are not counted. */
export const ofOutcomeLines = (
  batch: BatchBody,
  { happened, predicted }: OutcomeFilter
): string => {
  const conditions = [
    ...(predicted === null ? [] : [`predicted: ${lineWord(predicted, batch)}`]),
    ...(happened === null ? [] : [`happened: ${happenedWord(happened)}`])
  ]
  return [`Lines of ${batchName(batch)}`, ...conditions].join(", ")
}

/** Of the forecasts of a migration. */
export const ofForecasts = ({ forecasts, held, made }: Forecasts): string => {
  if (forecasts.length === 0) return "No forecast was kept yet"
  const kept = counted(forecasts.length, "forecast")
  return made === 0
    ? `None of ${kept} has ended yet`
    : `${count(held)} of ${count(made)} forecasts held`
}

/** How many of the first problems are worth naming. */
const first = 3

/** Of the problems of a migration. */
export const ofProblems = ({ failed, groups, of }: Problems): string => {
  if (failed === 0) return "No account has failed"
  // Naming all problems would say nothing: together they hold back all accounts.
  const named = Math.min(first, groups.length - 1)
  const cleared = groups[named - 1]?.cleared ?? 0
  const whole = `${count(cleared)} of ${counted(of, "failed account")}`
  if (groups.length === 1)
    return `One problem keeps ${counted(failed, "account")} from being imported`
  const which = named === 1 ? "first" : `first ${count(named)}`
  return `Correcting the ${which} of ${count(groups.length)} problems clears ${whole}`
}

interface Filter {
  readonly state?: string | null
  readonly code?: string | null
  readonly attr?: string | null
  readonly cohort?: string | null
  readonly without_cohort?: string | null
  readonly corrected?: string | null
  readonly search?: string | null
  readonly ledger?: string | null
  readonly money?: string | null
  readonly first_problems?: string | null
}

const sums: Readonly<Record<string, string>> = {
  balance: "that are imported",
  without_ledger: "that have no ledger",
  added: "with transactions that were added after the import"
}

/** Says that lines or accounts are those that correcting the first problems clears. */
const clearedBy = (firstProblems: string): string =>
  firstProblems === "1"
    ? "that correcting the first problem clears"
    : `that correcting the first ${firstProblems} problems clears`

/** Of a list of imports. */
export const ofImports = ({ imports, next_after, total }: ImportRows, filter: Filter): string => {
  const { attr, code, cohort, corrected, search, state, without_cohort } = filter
  const { first_problems: first, ledger, money } = filter
  const number = total ?? imports.length
  const conditions = [
    state ? `in the state ${stateWord(state)}` : "",
    code ? `that failed with ${code}` : "",
    attr ? `because of ${attr}` : "",
    corrected ? "corrected since they failed" : "",
    without_cohort ? "without a cohort" : cohort ? `of the cohort ${cohort}` : "",
    ledger ? `with a ledger ${ledger}` : "",
    money ? (sums[money] ?? money) : "",
    first ? clearedBy(first) : "",
    search ? `that ${number === 1 ? "begins" : "begin"} with ${search}` : ""
  ].filter((condition) => condition !== "")
  const atLeast = total === null && next_after !== null ? "More than " : ""
  const found = number === 0 ? "No accounts" : counted(number, "account")
  return `${atLeast}${found} ${conditions.join(", ")}`.trim()
}

/** The errors of an attempt say more than its own code, so that is named only without errors. */
const causeOf = ({ attempts: [latest] }: Account): string => {
  if (latest === undefined) return ""
  const codes = [...new Set(latest.errors.map(({ code }) => code))]
  const errors = counted(latest.errors.length, "error")
  if (codes.length > 0) return ` with ${errors}: ${codes.slice(0, first).join(", ")}`
  return latest.code === null ? "" : ` with ${latest.code}`
}

/** Of one account. */
export const ofAccount = (account: Account): string => {
  const { external_account_number: number, kraken_account_number, reverted, state } = account
  if (state === "IMPORTED")
    return `${number} is imported as ${kraken_account_number ?? "an account"}`
  if (state === "FAILED") return `${number} failed${causeOf(account)}`
  if (state === "PENDING" && reverted.length > 0)
    return `${number} was reverted and waits to be imported again`
  if (state === "PENDING") return `${number} is staged and waits to be imported`
  if (state === "IN_PROGRESS") return `${number} is being imported`
  return `${number} is ${stateWord(state).toLowerCase()}`
}

/** Of the user's alerts, as they are stored. */
export const ofAlerts = ({ email, kinds, sends_email, webhook }: Alerts): string => {
  const ways = [
    ...(email !== null && sends_email ? ["by e-mail"] : []),
    ...(webhook === null ? [] : ["by a webhook"])
  ]
  const things = `${count(kinds.length)} of 5 kinds of alerts`
  if (kinds.length === 0) return "All 5 kinds of alerts are off"
  return ways.length === 0
    ? `You chose ${things}, and nowhere to send them`
    : `You are told of ${things}, ${ways.join(" and ")}`
}
