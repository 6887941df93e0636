/**
 * Why an account is not staged.
 * Source: docs/contract/import.md#stage.
 */
import { DateTime, Effect, Option } from "effect"
import { differencesOf } from "../accounts/AccountDifferences.ts"
import { AlreadyImported, unavailable } from "../requests/Failure.ts"
import { smallBytes } from "../requests/WorkBudget.ts"
import { type FieldError, maxErrors } from "../schema/FieldErrors.ts"
import type { Caller } from "../suppliers/Organisation.ts"
import type { Supplier } from "../suppliers/Supplier.ts"
import type { ImportKey, ImportState } from "./ImportProcess.ts"
import type { ImportProcesses } from "./ImportProcesses.ts"
import { refusalOf } from "./ImportRefusal.ts"
import { windowEnd } from "./Revert.ts"

/** What was to be staged. */
interface Staging {
  readonly key: ImportKey
  readonly payload: string
  readonly caller: Caller
  readonly at: DateTime.Utc
  /** Whether it is the payload of the account. Set for lines of batches only. */
  readonly isSame?: boolean
}

const differenceDetails = {
  MISSING: "The account does not have this.",
  UNEXPECTED: "Only the account has this.",
  CHANGED: "The account has another value."
}

/** Where the account and what is to be staged differ, unless they are large: it is one step. */
const differing = Effect.fnUntraced(function* (
  processes: ImportProcesses["Service"],
  key: ImportKey,
  payload: string
) {
  if (payload.length > smallBytes) return []
  const imported = yield* processes.payload(key)
  if (Option.isNone(imported) || imported.value.length > smallBytes) return []
  const found = differencesOf(JSON.parse(payload), JSON.parse(imported.value))
  return [...found.take(maxErrors)].map(({ kind, path }): FieldError => ({
    attr: path,
    code: "import_process_differs",
    detail: differenceDetails[kind]
  }))
})

/** Why an account is not staged: if it is imported, with how it can be corrected. */
export const refusedStaging = Effect.fnUntraced(function* (
  processes: ImportProcesses["Service"],
  { at, caller, isSame, key, payload }: Staging,
  supplier: Pick<Supplier, "revertWindow">,
  found: ImportState
) {
  if (found._tag !== "Imported") return yield* refusalOf(key, found) ?? unavailable
  const { accountNumber, createdAt } = found
  const until = windowEnd(createdAt, supplier.revertWindow)
  const differences = caller.scopes.includes("account:read")
    ? yield* differing(processes, key, payload)
    : []
  return yield* new AlreadyImported({
    key,
    accountNumber,
    ...(isSame !== undefined && { isSame }),
    revertibleUntil: DateTime.isGreaterThan(until, at) ? until : null,
    differences
  })
})
