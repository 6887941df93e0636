/**
 * Compares what is stored with what was acknowledged. An acknowledged write is stored once and
 * completely. A write that was only sent may be stored, but then once and completely as well.
 */
import { Effect } from "effect"
import type { Findings } from "./Findings.ts"
import type { Entry } from "./AcknowledgedWrites.ts"
import { type Addition, additions as ownAdditions, list, noteBodies } from "./Requests.ts"
import { statementIds, transactionIds, uncheckedIds } from "./Requests.ts"
import * as Client from "@data-import/testbed/Client"
import * as Session from "./Session.ts"
import { type Stored, storedOf } from "./Stored.ts"
import { verifySummaries } from "./Summaries.ts"
import { System } from "@data-import/testbed/System"
import type { Tenant } from "@data-import/testbed/Tenants"

/** The parts of the sample account; every list of transactions adds an item of each kind. */
const wholeAccount = (listsAdded: number): string => {
  const items = 1 + listsAdded
  return (
    "payload 1 ledgers 1 transactions 7 " +
    `line_items ${items} tax_items ${items} notes 2 documents 1 statements 2`
  )
}

const noAccount =
  "payload 0 ledgers 0 transactions 0 line_items 0 tax_items 0 notes 0 documents 0 statements 0"

const additions: ReadonlyArray<Addition> = [...ownAdditions, "unchecked"]

const idsOf: Readonly<Record<Addition, (number: string) => ReadonlyArray<string>>> = {
  notes: noteBodies,
  transactions: transactionIds,
  unchecked: uncheckedIds,
  statements: statementIds,
  instruction: (number) => [`pm_${number}`]
}

const isUnchecked = (id: string): boolean => id.includes("-U-")

const foundIn = (stored: Stored): Readonly<Record<Addition, ReadonlyArray<string>>> => ({
  notes: stored.notes,
  transactions: stored.transactions.filter((id) => !isUnchecked(id)),
  unchecked: stored.transactions.filter(isUnchecked),
  statements: stored.statements,
  instruction: stored.instructions
})

const same = (one: ReadonlyArray<string>, other: ReadonlyArray<string>): boolean =>
  one.length === other.length && one.every((text, index) => text === other[index])

const checkAddition = (findings: Findings, entry: Entry, stored: Stored, addition: Addition) => {
  const ids = idsOf[addition](entry.number)
  const found = foundIn(stored)[addition]
  const label = `${addition} of ${entry.number}`
  if (new Set(found).size < found.length) {
    return findings.add("doubled", `${label}: ${found.join(", ")}`)
  }
  if (found.length === 0) {
    if (entry.acknowledged.has(addition)) findings.add("lost", label)
    return
  }
  if (!same(found, ids)) return findings.add("halfMade", `${label}: ${found.join(", ")}`)
  if (!entry.sent.has(addition)) findings.add("wrong", `${label} were never sent`)
}

const checkStaging = (findings: Findings, entry: Entry, stored: Stored) => {
  const known = [entry.marker, ...entry.uncertain]
  if (!known.includes(stored.marker)) {
    findings.add("lost", `${entry.number} was staged as ${entry.marker}, holds ${stored.marker}`)
  }
  const { staged_audits: audits, staged_events: events, stagings } = stored
  if (events !== stagings || audits !== stagings) {
    const what = `${stagings} stagings, ${events} events, ${audits} audit entries`
    findings.add("halfMade", `${entry.number}: ${what}`)
  }
}

const checkAccount = (findings: Findings, entry: Entry, stored: Stored) => {
  const { account } = stored
  if (entry.account !== null && account !== entry.account) {
    const kind = account === null ? "lost" : "doubled"
    findings.add(kind, `${entry.number} was imported as ${entry.account}, and is ${account}`)
  }
  if (account !== null && !entry.processed) {
    findings.add("wrong", `${entry.number} was never processed, and is ${account}`)
  }
  const times = account === null ? 0 : 1
  const { complete_events: events, created_attempts: attempts, created_audits: audits } = stored
  if ([events, attempts, audits].some((count) => count !== times)) {
    const what = `${events} events, ${attempts} attempts, ${audits} audit entries`
    const kind = Math.max(events, attempts, audits) > 1 ? "doubled" : "halfMade"
    findings.add(kind, `the import of ${entry.number}, ${account}: ${what}`)
  }
  if (stored.open_attempts > 0) findings.add("halfMade", `an attempt at ${entry.number} is open`)
}

const checkWholeness = (findings: Findings, entry: Entry, stored: Stored) => {
  const isThere = stored.account !== null
  const { transactions, unchecked } = foundIn(stored)
  const lists = [transactions, unchecked].filter((ids) => ids.length > 0)
  const whole = isThere ? wholeAccount(lists.length) : noAccount
  if (stored.platform_account !== stored.account || stored.parts !== whole) {
    findings.add("halfMade", `${entry.number}, ${stored.platform_account}: ${stored.parts}`)
  }
  if (isThere && stored.platform_marker !== stored.marker) {
    findings.add("halfMade", `${entry.number} was made of ${stored.platform_marker}`)
  }
  if (isThere && Number(stored.drift) !== 0) {
    findings.add("halfMade", `the balance of ${entry.number} is off by ${stored.drift}`)
  }
  const present = additions.filter((addition) => foundIn(stored)[addition].length > 0).length
  const { added_audits: audits, added_events: events } = stored
  if (events !== present || audits !== present) {
    const what = `${present} additions, ${events} events, ${audits} audit entries`
    const kind = Math.max(events, audits) > present ? "doubled" : "halfMade"
    findings.add(kind, `${entry.number}: ${what}`)
  }
}

/** Compares what is stored of one import with what was acknowledged. */
const checkEntry = (findings: Findings, entry: Entry, stored: Stored | undefined): void => {
  if (stored === undefined) {
    if (entry.marker !== null) findings.add("lost", `${entry.number} was staged, and is not there`)
    return
  }
  checkStaging(findings, entry, stored)
  checkAccount(findings, entry, stored)
  checkWholeness(findings, entry, stored)
  for (const addition of additions) checkAddition(findings, entry, stored, addition)
}

/** The account numbers that the list of all imports answers. */
const listed = Effect.fnUntraced(function* (tenant: Tenant) {
  const session = yield* Session.open(tenant, 1)
  const { answer } = yield* session.settle(list(tenant))
  const entries: ReadonlyArray<unknown> = Array.isArray(answer.json) ? answer.json : []
  return new Map(
    entries.map((entry) => [
      Client.textAt(entry, "external_account_number"),
      Client.textAt(entry, "kraken_account_number")
    ])
  )
}, Effect.scoped)

/** Verifies everything of a supplier, in the tables, and in the lists and summaries of the service. */
export const verify = Effect.fnUntraced(function* (
  tenant: Tenant,
  entries: ReadonlyArray<Entry>,
  findings: Findings
) {
  const { database, verifyAudit } = yield* System
  const { fault } = yield* verifyAudit
  if (fault !== null) {
    findings.add("wrong", `entry ${fault.position} of the audit log: ${fault.why}`)
  }
  const all = new Map(
    (yield* storedOf(database, tenant.supplier)).map((stored) => [stored.number, stored])
  )
  for (const entry of entries) checkEntry(findings, entry, all.get(entry.number))
  const known = new Set(entries.map(({ number }) => number))
  for (const number of all.keys()) {
    if (!known.has(number)) findings.add("wrong", `${number} was never sent`)
  }
  const answered = yield* listed(tenant)
  for (const { account, marker, number } of entries) {
    const found = answered.get(number)
    const isListed = marker === null || found !== undefined
    if (!isListed || (account !== null && found !== account)) {
      findings.add("lost", `${number}, ${account ?? "pending"}, is listed as ${found}`)
    }
  }
  yield* verifySummaries(tenant, findings)
})
