/**
 * Everything that a storage returns about one import, read without the scheduler, in the terms of
 * the models.
 */
import { Effect, Option } from "effect"
import type { AccountDescription } from "@data-import/domain/account/AccountDescription"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { auditLine, eventLine, type Row } from "./ImportModel.ts"
import type { Storage } from "./Storage.ts"

export interface Observation {
  readonly key: ImportKey
  readonly row: Row | null
  /** In the order of writing, like the events. */
  readonly audit: ReadonlyArray<string>
  readonly events: ReadonlyArray<string>
  /** The account of the number that the import has. */
  readonly account: AccountDescription | null
}

const shortName = (event: string): string =>
  event.replace(/^data_import\.import_process\./, "").replace(/-v1$/, "")

/** Reads the import; `withAccount` false leaves the account out, which may be large. */
export const observe = Effect.fnUntraced(function* (
  { accounts, auditLog, imports, payload }: Storage,
  key: ImportKey
) {
  const process = Option.getOrNull(yield* imports.find(key))
  const attempts = yield* auditLog.attempts(key)
  const audit = yield* auditLog.audit(key)
  const events = yield* auditLog.events(key)
  const text = yield* payload(key)
  const number = process?.account?.number
  const account = number === undefined ? null : Option.getOrNull(yield* accounts.describe(number))
  const row: Row | null =
    process === null
      ? null
      : {
          payload: text ?? "",
          skipped: process.skipped,
          lease: process.lease && {
            attempt: process.lease.attempt,
            until: process.lease.expiresAt.epochMilliseconds
          },
          account: process.account && {
            number: process.account.number,
            at: process.account.createdAt.epochMilliseconds
          },
          attempts: attempts.map(({ dryRun, endedAt, id, outcome, startedAt }) => ({
            id,
            dryRun,
            from: startedAt.epochMilliseconds,
            to: endedAt?.epochMilliseconds ?? null,
            outcome
          }))
        }
  const observation: Observation = {
    key,
    row,
    audit: audit.map((entry) => auditLine(entry.at, entry, entry.action, entry.outcome)),
    events: events.map(({ at, codes, name }) => eventLine(at, shortName(name), codes)),
    account
  }
  return observation
})
