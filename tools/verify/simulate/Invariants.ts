/** Invariants of the stored imports, which hold at every moment, whatever the order of the calls. */
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

/** Counts that agree: every change has its audit entry and its event, and there are no others. */
const pairsOf = ({ account, audit, events, key, row }: Observation) => {
  const attempts = row?.attempts ?? []
  const made = row === null || row.account === null ? 0 : 1
  const entries = (is: (action: string) => boolean, ...outcomes: ReadonlyArray<string>) =>
    countOf(audit, ({ action, outcome }) => is(action) && outcomes.includes(outcome))
  const eventsOf = (pattern: RegExp) => countOf(events, ({ name }) => pattern.test(name))
  const isStage = (action: string) => action === "stage"
  const isGivenBack = (outcome: string | null) =>
    outcome !== null && outcome !== "created" && outcome !== "lease_expired"
  const pairs: ReadonlyArray<readonly [what: string, one: number, other: number]> = [
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
    ["accounts", account === null ? 0 : 1, made],
    ["the states skipped, leased and imported", Math.max(1, statesOf(row)), 1],
    ["open attempts and leases", countOf(attempts, ({ to }) => to === null), row?.lease ? 1 : 0],
    ["instructions", Math.max(1, account?.instructions.length ?? 0), 1]
  ]
  return pairs
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
}

/** Checks the invariants of all imports together. */
export const checkTogether = (checks: Checks, all: ReadonlyArray<Observation>): void => {
  const numbers = all.flatMap(({ row }) => row?.account?.number ?? [])
  checks.that(
    new Set(numbers).size === numbers.length,
    () => `two imports have one account number: ${numbers.join(", ")}`
  )
}
