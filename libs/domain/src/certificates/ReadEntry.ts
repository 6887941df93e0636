/** The entry of an account as it is stored, with all that was added to it. */
import { Effect } from "effect"
import { accountTextInSteps } from "../accounts/Account.ts"
import type { StoredAccount } from "../accounts/StoredAccount.ts"
import { allOf, storedPayload } from "../checks/StoredPayload.ts"
import type { Hashing } from "../requests/Hashing.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { type AddedItems, entryMembers } from "./AccountEntry.ts"
import type { StoredEntry } from "./Certificates.ts"
import { sumsOf } from "./CertifiedSums.ts"

export interface ReadEntry {
  /** The payload hash of what was read, which is another one if the account was altered. */
  readonly hash: string
  readonly entry: StoredEntry
}

/** The entry of an account that was read back. */
export const readEntry = Effect.fnUntraced(function* (
  hashing: Hashing["Service"],
  stored: StoredAccount
): Effect.fn.Return<ReadEntry, StorageUnavailable> {
  const account = yield* storedPayload(stored)
  const added: AddedItems = {
    transactions: yield* allOf(stored.added.transactions),
    notes: yield* allOf(stored.added.notes),
    statements: yield* allOf(stored.added.statements),
    instructions: stored.added.payment_instructions.map(({ instruction }) => instruction)
  }
  const members = yield* inTimeSlices(() => entryMembers(hashing, account, added))
  const hash = hashing.sha256(yield* inTimeSlices(() => accountTextInSteps(account)))
  return { hash, entry: { members, sums: sumsOf(account, added) } }
})
