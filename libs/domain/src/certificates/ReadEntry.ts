/** The entry of an account as it is stored, with all that was added to it. */
import { BigDecimal, Effect } from "effect"
import type { AccountDescription } from "../accounts/AccountDescription.ts"
import { storedIn } from "../accounts/PayloadRows.ts"
import { signedAmount } from "../accounts/Transaction.ts"
import { PayloadHash } from "../imports/ImportProcess.ts"
import type { Hashing } from "../requests/Hashing.ts"
import { sum } from "../schema/Decimal.ts"
import { inTimeSlices } from "../support/Steps.ts"
import { type AddedItems, entryMembers } from "./AccountEntry.ts"
import { sumsOf } from "./CertifiedSums.ts"

/** What the account holds apart from what was added. */
const balanceAsImported = ({ balance }: AccountDescription, { transactions }: AddedItems) =>
  BigDecimal.subtract(
    balance,
    sum(transactions.map(({ transaction }) => signedAmount(transaction)))
  )

/**
 * The entry of an account that is stored, with the hash and the balance of what is stored, and the
 * lists that are not those of the payload. Null if the account was erased.
 */
export const readEntry = Effect.fnUntraced(function* (
  hashing: Hashing["Service"],
  described: AccountDescription
) {
  const stored = yield* inTimeSlices(() => storedIn(described))
  if (stored === null) return null
  const { account, added, differing, text } = stored
  const balance = balanceAsImported(described, added)
  const members = yield* inTimeSlices(() => entryMembers(hashing, account, added, balance))
  const hash = PayloadHash.make(hashing.sha256(text))
  return { hash, differing, entry: { members, sums: sumsOf(account, added, balance) } }
})
