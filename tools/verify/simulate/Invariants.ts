/** Invariants of the stored imports, which hold at every moment, whatever the order of the calls. */
import { BigDecimal } from "effect"
import { openingBalance } from "@data-import/domain/accounts/Account"
import type { AccountDescription } from "@data-import/domain/accounts/AccountDescription"
import { signedAmount } from "@data-import/domain/accounts/Transaction"
import { sum, twoDecimals } from "@data-import/domain/schema/Decimal"
import { encodeDescription } from "@data-import/domain/testing/describedAccounts"
import { objectsAt, type Wire } from "@data-import/domain/testing/wire"
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

const additions = new Set([
  "create_notes",
  "create_transactions",
  "create_historical_statements",
  "create_payment_instruction"
])

/** The additions to each account of an import, as its audit entries tell them. */
const additionsOf = (audit: Observation["audit"]): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<Array<string>> = []
  for (const { action, outcome } of audit) {
    if (outcome !== "created") continue
    if (action === "process") found.push([])
    else if (additions.has(action)) found.at(-1)?.push(action)
  }
  return found
}

/** Each account has what was added in its life, and nothing of the lives before. */
const lifePairs = ({ accounts, audit, row }: Observation): ReadonlyArray<Pair> => {
  const added = additionsOf(audit)
  return accounts.flatMap((account, index): ReadonlyArray<Pair> => {
    const { instructions, notes, number, statements, transactions } = account
    const { length: sent } = objectsAt(JSON.parse(account.payload ?? "{}") as Wire, "notes")
    const entries = (action: string) => countOf(added[index] ?? [], (each) => each === action)
    const isThere = (count: number) => Math.min(count, 1)
    const active = countOf(instructions, ({ endedAt }) => endedAt === null)
    const later = countOf(transactions, ({ origin }) => origin === "post_import")
    const historical = countOf(statements, ({ origin }) => origin === "historical_statements")
    const noted = isThere(notes.length - sent)
    // A transaction of an earlier period comes with a note.
    const moved = Math.min(noted, entries("create_transactions"))
    const isPresent = row?.account?.number === number
    return [
      ["added notes", noted, isThere(entries("create_notes") + moved)],
      ["added transactions", isThere(later), isThere(entries("create_transactions"))],
      ["added statements", isThere(historical), isThere(entries("create_historical_statements"))],
      ["added instructions", instructions.length, entries("create_payment_instruction")],
      ["active instructions", active, isPresent ? instructions.length : 0],
      ["instructions of an account", Math.max(1, instructions.length), 1]
    ]
  })
}

type Pair = readonly [what: string, one: number, other: number]

/** Counts that agree: every change has its audit entry and its event, and there are no others. */
const pairsOf = (observation: Observation): ReadonlyArray<Pair> => {
  const { accounts, audit, events, key, row } = observation
  const attempts = row?.attempts ?? []
  const reverted = row?.reverted.length ?? 0
  const made = reverted + (row === null || row.account === null ? 0 : 1)
  const entries = (is: (action: string) => boolean, ...outcomes: ReadonlyArray<string>) =>
    countOf(audit, ({ action, outcome }) => is(action) && outcomes.includes(outcome))
  const eventsOf = (pattern: RegExp) => countOf(events, ({ name }) => pattern.test(name))
  const isStage = (action: string) => action === "stage"
  const isGivenBack = (outcome: string | null) =>
    outcome !== null && outcome !== "created" && outcome !== "lease_expired"
  const isWithoutPayload = row !== null && row.account === null && row.payload === null
  return [
    ["stagings and their events", entries(isStage, "created", "replaced"), eventsOf(/^staged$/)],
    ["first stagings and imports", entries(isStage, "created"), row === null ? 0 : 1],
    ["created entries and accounts", entries((it) => it === "process", "created"), made],
    [
      "attempts that made an account",
      countOf(attempts, ({ outcome }) => outcome === "created"),
      made
    ],
    ["complete events and accounts", eventsOf(/^complete$/), made],
    ["due e-mails", eventsOf(/^customer_email_due$/), emailing.has(key.import_supplier) ? made : 0],
    [
      "attempts that were given back and their events",
      countOf(attempts, ({ outcome }) => isGivenBack(outcome)),
      eventsOf(/^(?:dry_run_complete|dry_run_error|error)$/)
    ],
    [
      "additions and their events",
      entries((it) => additions.has(it), "created"),
      eventsOf(/^post_import\.completed$/)
    ],
    ["accounts", accounts.length, made],
    ["reverted entries", entries((it) => it === "revert_import", "reverted"), reverted],
    ["reverted events", eventsOf(/^reverted$/), reverted],
    ["pending imports without a payload", isWithoutPayload ? 1 : 0, 0],
    ["the states skipped, leased and imported", Math.max(1, statesOf(row)), 1],
    ["open attempts and leases", countOf(attempts, ({ to }) => to === null), row?.lease ? 1 : 0],
    ...lifePairs(observation)
  ]
}

/** The balance that an account has to have: that of its payload, and what was added since. */
const balanceOf = ({ ledgers, payload, transactions }: AccountDescription) => {
  const of = (origin: string, ledgerCode: string | null) =>
    transactions
      .filter((each) => each.origin === origin && each.ledgerCode === ledgerCode)
      .map(({ transaction }) => transaction)
  const { transfer_balance } = JSON.parse(payload ?? "{}") as Wire
  const opening = openingBalance({
    ledgers: ledgers.map((ledger) => ({
      ...ledger,
      current_statement_transactions: of("current_statement", ledger.ledger_code)
    })),
    ...(transfer_balance !== undefined && {
      transfer_balance: BigDecimal.fromStringUnsafe(JSON.stringify(transfer_balance))
    })
  })
  return sum([opening, ...of("post_import", null).map(signedAmount)])
}

const statesOf = (row: Observation["row"]): number =>
  row === null ? 0 : countOf([row.skipped, row.lease !== null, row.account !== null], (is) => is)

export const checkImport = (checks: Checks, observation: Observation): void => {
  for (const [what, one, other] of pairsOf(observation)) {
    checks.that(
      one === other,
      () => `${nameOf(observation.key)}: ${what} do not agree: ${one} and ${other}`
    )
  }
  for (const account of observation.accounts) {
    const [has, adds] = [account.balance, balanceOf(account)].map(twoDecimals)
    checks.that(has === adds, () => `${account.number} has ${has}, and its items are ${adds}`)
  }
}

/** An account that was reverted stays so, and stays as it was. */
export const checkKept = (checks: Checks, before: Observation, after: Observation): void => {
  for (const [index, past] of (before.row?.reverted ?? []).entries()) {
    const [one, other] = [before, after].map(({ accounts, row }) => {
      const account = accounts[index]
      return JSON.stringify([row?.reverted[index], account && encodeDescription(account)])
    })
    checks.that(one === other, () => `${past.number} was reverted as ${one}, and is ${other}`)
  }
}

/** Checks the invariants of all imports together. */
export const checkTogether = (checks: Checks, all: ReadonlyArray<Observation>): void => {
  const numbers = all.flatMap(({ accounts }) => accounts.map(({ number }) => number))
  checks.that(
    new Set(numbers).size === numbers.length,
    () => `two accounts have one number: ${numbers.join(", ")}`
  )
}
