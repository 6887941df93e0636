/**
 * Imports in every state, reached only through the ports, and the data that the ports return about
 * an import. The suites test every operation in every state.
 */
import { type DateTime, Duration, Effect, Option } from "effect"
import { type Account, accountTextInSteps } from "../src/accounts/Account.ts"
import { type AuditAction, AuditLog } from "../src/audit/AuditLog.ts"
import { ImportProcesses, type NewAccount } from "../src/imports/ImportProcesses.ts"
import {
  type AttemptId,
  type ImportKey,
  type ImportState,
  type Lease,
  PayloadHash
} from "../src/imports/ImportProcess.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { finish } from "../src/support/Steps.ts"
import { freshAttempt, freshSupplier, hex, newAccountFor, noon, noonPlus } from "./freshNames.ts"
import { domesticAccount } from "./samples.ts"

export const importStates = [
  "none",
  "pending",
  "skipped",
  "in progress",
  "lease expired",
  "imported"
] as const
export type ArrangedState = (typeof importStates)[number]

export const lease = Duration.seconds(60)
const expiresAt = noonPlus(60)
export const noLimits = { deployment: null, supplier: null }
/** The payload that is staged when a test begins. */
export const stagedPayload = `{"staged":"first"}`

/** The hash with which payloads are staged whose hash does not matter. */
export const stagedHash = PayloadHash.make("e".repeat(64))

export const stagedContent = { payload: stagedPayload, hash: stagedHash }

/** An import in a state, seen at `now`. */
export interface Arranged {
  readonly key: ImportKey
  readonly caller: Caller
  /** The attempt that holds or held the import, or made the account; otherwise an unused id. */
  readonly attempt: AttemptId
  readonly now: DateTime.Utc
  /** The state that a refused operation returns. */
  readonly found: ImportState | null
  readonly account: NewAccount
}

/** Claims without limits, for a minute. */
export const claim = Effect.fnUntraced(function* (
  key: ImportKey,
  caller: Caller,
  at: DateTime.Utc,
  options?: { readonly attempt?: AttemptId; readonly dryRun?: boolean }
) {
  const imports = yield* ImportProcesses
  const attempt = options?.attempt ?? freshAttempt()
  const dryRun = options?.dryRun ?? false
  const command = { key, attempt, dryRun, lease, limits: noLimits, caller, at }
  return { attempt, claim: yield* imports.claim(command) }
})

const foundIn = (
  state: ArrangedState,
  held: Lease,
  { createdAt, number }: NewAccount
): ImportState | null => {
  switch (state) {
    case "none":
      return null
    case "pending":
    case "lease expired":
      return { _tag: "Pending" }
    case "skipped":
      return { _tag: "Skipped" }
    case "in progress":
      return { _tag: "InProgress", lease: held }
    case "imported":
      return { _tag: "Imported", accountNumber: number, createdAt }
  }
}

/**
 * Brings a new import of a new supplier into the state. Leases run from noon for a minute. With
 * `make`, the staged payload is the text of its account.
 */
export const arrange = Effect.fnUntraced(function* (
  state: ArrangedState,
  make?: (key: ImportKey) => Account
) {
  const imports = yield* ImportProcesses
  const { caller, keyOf } = yield* freshSupplier
  const key = keyOf(`account ${hex(8)}`)
  const attempt = freshAttempt()
  const made = newAccountFor(key, noonPlus(20))
  const account = make === undefined ? made : { ...made, account: make(key) }
  const payload = make === undefined ? stagedPayload : finish(accountTextInSteps(account.account))
  const staged = { ...stagedContent, payload }
  if (state !== "none") yield* imports.stage({ key, ...staged, caller, at: noon })
  if (state === "skipped") yield* imports.setSkipped({ key, skipped: true, at: noon })
  if (state === "in progress" || state === "lease expired" || state === "imported") {
    yield* claim(key, caller, noon, { attempt })
  }
  if (state === "imported") yield* imports.complete({ key, attempt, newAccount: account, caller })
  const now = state === "lease expired" ? expiresAt : noonPlus(30)
  const found = foundIn(state, { attempt, expiresAt, isDryRun: false }, account)
  return { key, caller, attempt, now, found, account } satisfies Arranged
})

/** All data that the ports return about an import, to check that a step changes nothing. */
export const tracesOf = Effect.fnUntraced(function* (key: ImportKey) {
  const imports = yield* ImportProcesses
  const auditLog = yield* AuditLog
  return {
    process: Option.getOrNull(yield* imports.find(key)),
    attempts: yield* auditLog.attempts(key),
    audit: yield* auditLog.audit(key),
    events: yield* auditLog.events(key)
  }
})

/** The expected audit entry of this caller. */
export const auditEntry = (
  caller: Caller,
  at: DateTime.Utc,
  action: AuditAction,
  outcome: string
) => ({
  at,
  organisation: caller.organisation,
  apiKey: caller.apiKey,
  requestId: caller.requestId,
  action,
  outcome
})

export type Owner = Effect.Success<typeof freshSupplier>

/** Stages imports of a supplier one after the other. */
export const stage = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  numbers: ReadonlyArray<string>,
  cohort: string | null = null,
  options?: { readonly at?: DateTime.Utc; readonly payload?: string }
) {
  const imports = yield* ImportProcesses
  const sent = { ...stagedContent, at: noon, ...options }
  for (const number of numbers) {
    yield* imports.stage({ ...sent, key: keyOf(number), cohort, caller })
  }
})

/** Creates the account of a staged import. */
export const complete = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  at: DateTime.Utc
) {
  const imports = yield* ImportProcesses
  const key = keyOf(number)
  const { attempt } = yield* claim(key, caller, at)
  const newAccount = { ...newAccountFor(key, at), account: domesticAccount(key) }
  yield* imports.complete({ key, attempt, newAccount, caller })
  return newAccount
})

/** Fails the attempt of a staged import with these errors of its account. */
export const fail = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  at: DateTime.Utc,
  errors: Parameters<ImportProcesses["Service"]["release"]>[0]["errors"]
) {
  const imports = yield* ImportProcesses
  const key = keyOf(number)
  const { attempt } = yield* claim(key, caller, at)
  const outcome = "account_failed_validation"
  yield* imports.release({ key, attempt, outcome, errors, dryRun: false, caller, at })
})

/** Stages the imports concurrently. */
export const stageAll = Effect.fnUntraced(function* (
  keys: ReadonlyArray<ImportKey>,
  caller: Caller
) {
  const imports = yield* ImportProcesses
  yield* Effect.forEach(keys, (key) => imports.stage({ key, ...stagedContent, caller, at: noon }), {
    concurrency: 16,
    discard: true
  })
})
