/** The payload of an account that was read back, to compute its hash again. */
import { Effect, Stream } from "effect"
import type { Account } from "../accounts/Account.ts"
import type { Ledger } from "../accounts/Ledger.ts"
import {
  isWhole,
  type Items,
  type StoredAccount,
  type StoredLedger
} from "../accounts/StoredAccount.ts"

/** The whole list in memory. */
export const allOf = <A>(items: Items<A>) =>
  isWhole(items) ? Effect.succeed(items) : Stream.runCollect(items.elements)

const all = <A>(items: Items<A> | null) =>
  items === null ? Effect.succeed(undefined) : allOf(items)

/** Leaves out members that are undefined: lists that were not sent. */
const sent = <A extends object>(members: A) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    readonly [Name in keyof A]?: Exclude<A[Name], undefined>
  }

const ledgerOf = Effect.fnUntraced(function* ({ fields, ...lists }: StoredLedger) {
  const ledger: Ledger = {
    ...fields,
    ...sent({
      current_statement_transactions: yield* all(lists.current_statement_transactions),
      historical_statement_transactions: yield* all(lists.historical_statement_transactions)
    })
  }
  return ledger
})

/** A payload is bounded by the limit of a request, so it fits in memory. */
export const storedPayload = Effect.fnUntraced(function* (stored: StoredAccount) {
  const { fields, ledgers, lists } = stored
  const account: Account = {
    ...fields,
    ...sent({
      customers: yield* all(lists.customers),
      notes: yield* all(lists.notes),
      statements: yield* all(lists.statements),
      metadata: yield* all(lists.metadata),
      supply_addresses: yield* all(lists.supply_addresses),
      ledgers: ledgers === null ? undefined : yield* Effect.forEach(ledgers, ledgerOf)
    })
  }
  return account
})
