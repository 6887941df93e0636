/**
 * Invariants of the stored imports, which hold at every moment. They read the stored state only;
 * the models decide what a step may change.
 */
import type { Wire } from "@data-import/domain/testing/wire"
import { type ModelAccount, openedAccount, fromDescription } from "./AccountModel.ts"
import type { Observation } from "./Observation.ts"
import { nameOf } from "./Request.ts"
import { emailing } from "./Traffic.ts"

/** Thrown if an invariant is violated. */
class Violation extends Error {
  constructor(what: string) {
    super(what)
    this.name = "Violation"
  }
}

/** Counts the checks, and ends the run at the first failed one. */
export interface Checks {
  readonly that: (holds: boolean, otherwise: () => string) => void
  readonly count: () => number
}

/** Checks that are `blind` count and never fail. */
export const makeChecks = (blind = false): Checks => {
  let count = 0
  return {
    count: () => count,
    that: (holds, otherwise) => {
      count += 1
      if (!holds && !blind) throw new Violation(otherwise())
    }
  }
}

const countOf = <A>(among: ReadonlyArray<A>, is: (each: A) => boolean): number =>
  among.filter(is).length

/** The word of an audit line or an event at the index. */
const word = (line: string, place: number): string => line.split(" ")[place] ?? ""
const actionOf = (line: string): string => word(line, 4)
const outcomeOf = (line: string): string => word(line, 5)
const eventOf = (line: string): string => word(line, 1)

const changesOfAccount = new Set([
  "create_notes",
  "create_transactions",
  "create_historical_statements",
  "create_payment_instruction"
])

/** Checks that the states exclude each other, and the attempts agree with them. */
const checkStates = (checks: Checks, { key, row }: Observation): void => {
  if (row === null) return
  const name = nameOf(key)
  const states = [row.skipped, row.lease !== null, row.account !== null]
  checks.that(
    countOf(states, (is) => is) <= 1,
    () => `${name} is two of skipped, leased and imported: ${states.join(", ")}`
  )
  const open = row.attempts.filter(({ outcome }) => outcome === null)
  checks.that(open.length <= 1, () => `${name} has ${open.length} open attempts`)
  checks.that(
    open[0]?.id === row.lease?.attempt,
    () => `${name}: the open attempt is not the one that has the lease`
  )
  checks.that(
    row.attempts.every(({ outcome, to }) => (outcome === null) === (to === null)),
    () => `${name} has an attempt that ended without an outcome, or the other way round`
  )
  const made = countOf(row.attempts, ({ outcome }) => outcome === "created")
  checks.that(
    made === (row.account === null ? 0 : 1),
    () => `${name}: ${made} attempts made an account`
  )
}

/** Checks that every change has its audit entry and its event, and no others. */
const checkAuditAndOutbox = (checks: Checks, { audit, events, key, row }: Observation): void => {
  const name = nameOf(key)
  const entries = (action: string, outcomes: ReadonlyArray<string>) =>
    countOf(audit, (line) => actionOf(line) === action && outcomes.includes(outcomeOf(line)))
  const pairs: ReadonlyArray<readonly [what: string, one: number, other: number]> = [
    [
      "stagings in the audit log and in the outbox",
      entries("stage", ["created", "replaced"]),
      countOf(events, (line) => eventOf(line) === "staged")
    ],
    ["first stagings and imports", entries("stage", ["created"]), row === null ? 0 : 1],
    [
      "created entries and accounts",
      entries("process", ["created"]),
      row === null || row.account === null ? 0 : 1
    ],
    [
      "complete events and accounts",
      countOf(events, (line) => eventOf(line) === "complete"),
      row === null || row.account === null ? 0 : 1
    ],
    [
      "due e-mails and accounts whose customers get one",
      countOf(events, (line) => eventOf(line) === "customer_email_due"),
      row === null || row.account === null || !emailing.has(key.import_supplier) ? 0 : 1
    ],
    [
      "attempts that were given back and their events",
      countOf(
        row?.attempts ?? [],
        ({ outcome }) => outcome !== null && outcome !== "created" && outcome !== "lease_expired"
      ),
      countOf(events, (line) => /^(dry_run_)?(error|complete)$/.test(eventOf(line))) -
        countOf(events, (line) => eventOf(line) === "complete")
    ],
    [
      "additions in the audit log and in the outbox",
      countOf(
        audit,
        (line) => changesOfAccount.has(actionOf(line)) && outcomeOf(line) === "created"
      ),
      countOf(events, (line) => eventOf(line) === "post_import.completed")
    ]
  ]
  for (const [what, one, other] of pairs) {
    checks.that(one === other, () => `${name}: ${what} do not agree: ${one} and ${other}`)
  }
}

/** Checks that the account exists exactly if the import is imported, and belongs to it. */
const checkAccount = (checks: Checks, { account, key, row }: Observation): void => {
  const name = nameOf(key)
  const number = row?.account?.number
  checks.that(
    account?.number === number,
    () => `${name} is account ${number ?? "none"}, but there is ${account?.number ?? "none"}`
  )
  if (account === null) return
  checks.that(
    nameOf(account.key) === name,
    () => `account ${account.number} of ${name} says it is of ${nameOf(account.key)}`
  )
  checks.that(
    account.instructions.length <= 1,
    () => `account ${account.number} has ${account.instructions.length} active instructions`
  )
}

/** Checks that the balance is the opening one plus all additions, to the hundredth. */
export const checkBalance = (checks: Checks, { account, key, row }: Observation): void => {
  if (account === null || row === null || row.account === null) return
  const before = openedAccount(JSON.parse(row.payload) as Wire, row.account.at)
  const now = fromDescription(account)
  const effectOf = ({ transactions }: ModelAccount): bigint =>
    transactions.reduce((sum, { effect }) => sum + effect, 0n)
  const expected = before.balance + effectOf(now) - effectOf(before)
  checks.that(
    now.balance === expected,
    () => `${nameOf(key)} has a balance of ${now.balance} hundredths, not ${expected}`
  )
}

/** Checks the invariants of one import. */
export const checkImport = (checks: Checks, observation: Observation): void => {
  checkStates(checks, observation)
  checkAuditAndOutbox(checks, observation)
  checkAccount(checks, observation)
}

/** Checks the invariants of all imports together. */
export const checkTogether = (checks: Checks, all: ReadonlyArray<Observation>): void => {
  const numbers = all.flatMap(({ row }) => row?.account?.number ?? [])
  checks.that(
    new Set(numbers).size === numbers.length,
    () => `two imports have one account number: ${numbers.join(", ")}`
  )
}
