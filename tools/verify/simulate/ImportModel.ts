/**
 * The reference for every step on an import: what it changes, what it returns, and what it leaves
 * in the audit log and the outbox. It uses no function of the domain, so that errors of the domain
 * are found.
 * Source: docs/contract/import.md#import-states.
 */
import { type DateTime, Duration } from "effect"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import type { Caller } from "@data-import/domain/organisation/Organisation"
import type { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"

type Port = ImportProcesses["Service"]
export type Operation = Exclude<
  keyof Port,
  | "deletePayloads"
  | "details"
  | "find"
  | "findOwn"
  | "isStaged"
  | "leases"
  | "list"
  | "setCohort"
  | "stagedPayload"
>
export type Command<Of extends Operation> = Parameters<Port[Of]>[0]

interface Try {
  readonly id: string
  readonly dryRun: boolean
  readonly from: number
  readonly to: number | null
  readonly outcome: string | null
}

/** Everything that is stored of one import. Instants are milliseconds. */
export interface Row {
  readonly payload: string
  readonly skipped: boolean
  readonly lease: { readonly attempt: string; readonly until: number } | null
  readonly account: { readonly number: string; readonly at: number } | null
  readonly attempts: ReadonlyArray<Try>
}

/** The step taken: its answer, the row after it, and the entries it adds, as text. */
export interface Step {
  readonly answer: string
  readonly row: Row | null
  readonly audit: ReadonlyArray<string>
  readonly events: ReadonlyArray<string>
}

/** What a step may know besides its own row. */
export interface Others {
  readonly isTaken: (accountNumber: string) => boolean
  readonly liveLeases: (at: number, supplier?: ImportKey["import_supplier"]) => number
}

const millis = (at: DateTime.Utc): number => at.epochMilliseconds

/** An entry of the audit log as text. */
export const auditLine = (
  at: DateTime.Utc,
  { apiKey, organisation, requestId }: Pick<Caller, "apiKey" | "organisation" | "requestId">,
  action: string,
  outcome: string
): string => `${millis(at)} ${organisation} ${apiKey} ${requestId} ${action} ${outcome}`

/** An event of the outbox as text; `name` is without the common prefix and suffix. */
export const eventLine = (at: DateTime.Utc, name: string, codes: ReadonlyArray<string>): string =>
  [millis(at), name, ...codes].join(" ")

/** The state of an import at the instant: Pending, InProgress, Skipped or Imported. */
export const stateOf = (row: Pick<Row, "account" | "skipped" | "lease">, at: number): string => {
  if (row.account !== null) return "Imported"
  if (row.skipped) return "Skipped"
  return row.lease !== null && row.lease.until > at ? "InProgress" : "Pending"
}

const nothing = (answer: string, row: Row | null): Step => ({ answer, row, audit: [], events: [] })

const ended = (row: Row, at: DateTime.Utc, outcome: string): Row =>
  row.lease === null
    ? row
    : {
        ...row,
        lease: null,
        attempts: row.attempts.map((each) =>
          each.id === row.lease?.attempt ? { ...each, to: millis(at), outcome } : each
        )
      }

const stage = (row: Row | null, { at, caller, payload }: Command<"stage">): Step => {
  const state = row === null ? "Pending" : stateOf(row, millis(at))
  if (state !== "Pending") return nothing(`Refused ${state}`, row)
  const fresh: Row = { payload, skipped: false, lease: null, account: null, attempts: [] }
  const outcome = row === null ? "created" : "replaced"
  return {
    answer: row === null ? "Created" : "Replaced",
    row: row === null ? fresh : { ...ended(row, at, "lease_expired"), payload },
    audit: [auditLine(at, caller, "stage", outcome)],
    events: [eventLine(at, "staged", [])]
  }
}

const claim = (row: Row | null, command: Command<"claim">, others: Others): Step => {
  const { at, attempt, dryRun, key, lease, limits } = command
  if (row === null) return nothing("Refused none", row)
  const state = stateOf(row, millis(at))
  if (state !== "Pending") return nothing(`Refused ${state}`, row)
  const isReached = (limit: number | null, supplier?: ImportKey["import_supplier"]) =>
    limit !== null && others.liveLeases(millis(at), supplier) >= limit
  if (isReached(limits.deployment) || isReached(limits.supplier, key.import_supplier)) {
    return nothing("LimitExceeded", row)
  }
  const free = ended(row, at, "lease_expired")
  const begun = { id: attempt, dryRun, from: millis(at), to: null, outcome: null }
  const until = millis(at) + Duration.toMillis(lease)
  const claimed = { ...free, lease: { attempt, until }, attempts: [...free.attempts, begun] }
  return nothing("Claimed", claimed)
}

const isHeldBy = (row: Row | null, attempt: string): row is Row =>
  row !== null && row.account === null && !row.skipped && row.lease?.attempt === attempt

const renew = (row: Row | null, { at, attempt, until }: Command<"renew">): Step =>
  isHeldBy(row, attempt) && stateOf(row, millis(at)) === "InProgress"
    ? nothing("true", { ...row, lease: { attempt, until: millis(until) } })
    : nothing("false", row)

const dryRun = (row: Row | null, command: Command<"dryRun">, others: Others): Step => {
  if (!isHeldBy(row, command.attempt)) return nothing("LeaseLost", row)
  return nothing(others.isTaken(command.newAccount.number) ? "NumberTaken" : "Completed", row)
}

const complete = (row: Row | null, command: Command<"complete">, others: Others): Step => {
  const step = dryRun(row, command, others)
  if (step.answer !== "Completed" || row === null) return step
  const { createdAt, customerEmails, number } = command.newAccount
  const names = customerEmails ? ["complete", "customer_email_due"] : ["complete"]
  return {
    answer: "Completed",
    row: { ...ended(row, createdAt, "created"), account: { number, at: millis(createdAt) } },
    audit: [auditLine(createdAt, command.caller, "process", "created")],
    events: names.map((name) => eventLine(createdAt, name, []))
  }
}

const release = (row: Row | null, command: Command<"release">): Step => {
  const { at, attempt, caller, dryRun, errors, outcome } = command
  if (!isHeldBy(row, attempt)) return nothing("void", row)
  const name = outcome === "dry_run_successful" ? "dry_run_complete" : "dry_run_error"
  const codes = [...new Set([outcome, ...errors.map(({ code }) => code)])]
  return {
    answer: "void",
    row: ended(row, at, outcome),
    audit: [auditLine(at, caller, "process", outcome)],
    events: [eventLine(at, dryRun ? name : "error", codes)]
  }
}

const setSkipped = (row: Row | null, { at, skipped }: Command<"setSkipped">): Step => {
  if (row === null) return nothing("Refused none", row)
  const state = stateOf(row, millis(at))
  if (state === "Imported" || state === "InProgress") return nothing(`Refused ${state}`, row)
  const free = skipped ? ended(row, at, "lease_expired") : row
  return nothing("Set", { ...free, skipped })
}

/** The operations of the port by their names: the step that each takes from a row. */
export const steps: {
  readonly [Of in Operation]: (row: Row | null, command: Command<Of>, others: Others) => Step
} = { stage, claim, renew, complete, dryRun, release, setSkipped }
