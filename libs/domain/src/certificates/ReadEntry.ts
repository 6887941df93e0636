/** The entry of an account as it is stored, with all that was added to it. */
import { Effect } from "effect"
import type { AccountDescription } from "../accounts/AccountDescription.ts"
import { storedIn } from "../accounts/PayloadRows.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { entryMembers } from "./AccountEntry.ts"
import { sumsOf } from "./CertifiedSums.ts"

/**
 * The entry of an account that is stored, the payload hash of what is stored, and the lists that
 * are not those of the payload. Null if the account was erased.
 */
export const readEntry = Effect.fnUntraced(function* (
  hashing: Hashing["Service"],
  described: AccountDescription
) {
  const stored = yield* inTimeSlices(() => storedIn(described))
  if (stored === null) return null
  const { account, added, differing, text } = stored
  const members = yield* inTimeSlices(() => entryMembers(hashing, account, added))
  return {
    hash: hashing.sha256(text),
    differing,
    entry: { members, sums: sumsOf(account, added) }
  }
})
