/**
 * The accounts of a supplier as they are stored. If an answer breaks off, the next request
 * continues after the last account that was read.
 * Source: docs/contract/queries.md#read-all-accounts, docs/contract/queries.md#long-answers.
 */
import { Effect, Stream } from "effect"
import { type CallError, DataImport } from "@data-import/client/effect"
import type { StoredAccount } from "./BookAccount.ts"

/** How often in a row an answer may break off without a further account. */
const triesInVain = 5

/** UTF-8 has the order of the code points. */
const isAfter = (number: string, last: string): boolean =>
  Buffer.compare(Buffer.from(number), Buffer.from(last)) > 0

export const storedAccounts = (
  supplier: string
): Stream.Stream<StoredAccount, CallError, DataImport> => {
  let last: string | null = null
  let inVain = 0
  const behind = (after: string | null): Stream.Stream<StoredAccount, CallError, DataImport> =>
    Stream.unwrap(
      Effect.map(DataImport, ({ accounts }) =>
        // Stored accounts conform to the contract, so they are only parsed as JSON.
        (
          accounts.all(supplier) as Stream.Stream<unknown, CallError> as Stream.Stream<
            StoredAccount,
            CallError
          >
        ).pipe(
          Stream.filter(
            ({ external_account_number: number }) => after === null || isAfter(number, after)
          ),
          Stream.tap(({ external_account_number: number }) =>
            Effect.sync(() => {
              last = number
              inVain = 0
            })
          ),
          Stream.catchIf(
            (error) => error._tag === "ConnectionFailed" && ++inVain <= triesInVain,
            () => behind(last)
          )
        )
      )
    )
  return behind(null)
}
