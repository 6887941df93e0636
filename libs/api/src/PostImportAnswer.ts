/**
 * The bodies of answers to post-import requests, of the endpoints and of the lines of a batch.
 * Their schemas in `PostImportApi` document the shape.
 * Source: docs/contract/post-import.md#post-import-requests.
 */
import { Schema } from "effect"
import { AccountTransaction } from "@data-import/domain/accounts/Transaction"
import type { NoteResult } from "@data-import/domain/additions/NoteImport"
import type { TransactionResult } from "@data-import/domain/additions/TransactionImport"
import { formatInstant } from "@data-import/domain/schema/Field"

export const notesAnswer = (results: ReadonlyArray<NoteResult>) =>
  results.map(({ created_at, ...result }) => ({
    created_at: formatInstant(created_at),
    ...result
  }))

/** Encodes the result of `transactionsAnswer`. */
export const TransactionsAnswer = Schema.Struct({
  results: Schema.Array(
    Schema.Struct({
      status: Schema.Literals(["TRANSACTION_ADDED_TO_ACCOUNT", "TRANSACTION_ALREADY_EXISTS"]),
      differs: Schema.optionalKey(Schema.Literal(true)),
      transaction_data: Schema.Struct({
        ...AccountTransaction.fields,
        status: Schema.optionalKey(Schema.Literal("TRANSACTION_IMPORT_SUCCESS"))
      })
    })
  )
})
export type TransactionsAnswer = typeof TransactionsAnswer.Type

/**
 * An existing transaction also has the status of its own import, and `differs` if another content
 * was sent. It is shown as stored only to readers of accounts, since a write that guesses an id
 * must not read what is behind it.
 */
export const transactionsAnswer = (
  results: ReadonlyArray<TransactionResult>,
  { readsAccounts }: { readonly readsAccounts: boolean }
): TransactionsAnswer => ({
  results: results.map(({ differs = false, sent, status, transaction }) => ({
    status,
    ...(differs && { differs: true as const }),
    transaction_data:
      status === "TRANSACTION_ALREADY_EXISTS"
        ? { ...(readsAccounts ? transaction : sent), status: "TRANSACTION_IMPORT_SUCCESS" }
        : transaction
  }))
})
