/** Everything that a storage returns about one import, read without the scheduler. */
import { type DateTime, Effect, Option, Stream } from "effect"
import type { AccountDescription } from "@data-import/domain/accounts/AccountDescription"
import { encodeDescription } from "@data-import/domain/testing/describedAccounts"
import type { AccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Storage } from "./Storage.ts"

/** An account of an import, and when it was created. */
interface Life {
  readonly number: AccountNumber
  readonly at: number
}

/** What is stored of one import. Instants are milliseconds. */
interface Row {
  /** Null if it was deleted. */
  readonly payload: string | null
  readonly skipped: boolean
  readonly lease: { readonly attempt: string; readonly until: number } | null
  readonly account: Life | null
  /** The oldest first. */
  readonly reverted: ReadonlyArray<Life & { readonly to: number }>
  readonly attempts: ReadonlyArray<{
    readonly id: string
    readonly dryRun: boolean
    readonly from: number
    readonly to: number | null
    readonly outcome: string | null
  }>
}

export interface AuditLine {
  readonly at: number
  readonly by: string
  readonly request: string
  readonly action: string
  readonly outcome: string
}

export interface Observation {
  readonly key: ImportKey
  readonly row: Row | null
  /** In the order of writing, like the events. */
  readonly audit: ReadonlyArray<AuditLine>
  /** Each as its time, its name without the common prefix and suffix, and its codes. */
  readonly events: ReadonlyArray<{ readonly name: string; readonly text: string }>
  /** The accounts of the import, the oldest first. */
  readonly accounts: ReadonlyArray<AccountDescription>
}

const millis = (at: DateTime.Utc): number => at.epochMilliseconds

const shortName = (event: string): string =>
  event.replace(/^data_import\.import_process\./, "").replace(/-v1$/, "")

export const observe = Effect.fnUntraced(function* (
  { accounts, auditLog, imports, payload }: Storage,
  key: ImportKey
) {
  const process = Option.getOrNull(yield* imports.find(key))
  const { reverted = [] } = Option.getOrNull(yield* imports.details(key, 0)) ?? {}
  const attempts = yield* auditLog.attempts(key)
  const audit = yield* auditLog.audit(key)
  const events = yield* auditLog.events(key)
  const text = yield* payload(key)
  const numbers = [...reverted, ...(process?.account ? [process.account] : [])]
  const described = yield* Effect.forEach(numbers, ({ number }) =>
    Stream.runCollect(accounts.describe([number]))
  )
  const row: Row | null = process && {
    payload: text,
    skipped: process.skipped,
    lease: process.lease && {
      attempt: process.lease.attempt,
      until: millis(process.lease.expiresAt)
    },
    account: process.account && {
      number: process.account.number,
      at: millis(process.account.createdAt)
    },
    reverted: reverted.map(({ createdAt, number, revertedAt }) => ({
      number,
      at: millis(createdAt),
      to: millis(revertedAt)
    })),
    attempts: attempts.map(({ dryRun, endedAt, id, outcome, startedAt }) => ({
      id,
      dryRun,
      from: millis(startedAt),
      to: endedAt && millis(endedAt),
      outcome
    }))
  }
  const observation: Observation = {
    key,
    row,
    audit: audit.map(({ action, apiKey, at, organisation, outcome, requestId }) => ({
      at: millis(at),
      by: `${organisation} ${apiKey}`,
      request: requestId,
      action,
      outcome
    })),
    events: events.map(({ at, codes, name }) => ({
      name: shortName(name),
      text: [millis(at), shortName(name), ...codes].join(" ")
    })),
    accounts: described.flat()
  }
  return observation
})

/** The observation as text, in which any difference shows. */
export const textOf = ({ accounts, audit, events, row }: Observation): string =>
  JSON.stringify({ row, audit, events, accounts: accounts.map(encodeDescription) })
