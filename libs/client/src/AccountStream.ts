/**
 * All accounts of a supplier as they are stored, read from one answer. If the connection breaks
 * before the end, the stream fails and must be read again from the beginning.
 * Source: docs/contract/queries.md#read-all-accounts.
 */
import { Stream } from "effect"
import type { Answer, ErrorOf, Operations } from "./Operations.ts"

export type StoredAccount = Answer<"accounts", "getAccount">

export interface AccountStream {
  /** The accounts in the order of their external account numbers. */
  readonly all: (
    import_supplier: string
  ) => Stream.Stream<StoredAccount, ErrorOf<"accounts", "listAccounts">>
}

export const accountStream = ({ accounts }: Operations): AccountStream => ({
  all: (import_supplier) => Stream.unwrap(accounts.listAccounts({ query: { import_supplier } }))
})
