/**
 * The sums of a certificate, over the accounts of its tree. They are exact: money is counted in
 * units of 0.01.
 */
import { BigDecimal } from "effect"
import { type Account, openingBalance } from "../accounts/Account.ts"
import { balanceOf, currentTransactions, historicalTransactions } from "../accounts/Ledger.ts"
import { pathsOf } from "../accounts/Note.ts"
import { signedAmount, type Transaction } from "../accounts/Transaction.ts"
import { hundredthsOf, sum, twoDecimals } from "../schema/Decimal.ts"
import { relativePath } from "../schema/DocumentPath.ts"
import { compareCodePoints } from "../support/CodePoints.ts"
import type { AddedItems } from "./AccountEntry.ts"
import type { AccountSums, CertifiedSums } from "./Certificate.ts"

/** A count and a sum of money in units of 0.01. */
interface Sum {
  count: number
  hundredths: bigint
}

/** Of transactions with the same type and reason. */
interface TransactionSum extends Sum {
  readonly type: Transaction["type"]
  readonly reason: string | null
}

const textOf = (hundredths: bigint): string => twoDecimals(BigDecimal.make(hundredths, 2))

const keyOf = ({ reason, type }: Pick<TransactionSum, "reason" | "type">): string =>
  reason === null ? type : `${type} ${reason}`

class TransactionSums {
  readonly #sums = new Map<string, TransactionSum>()

  add({ count, hundredths, reason, type }: TransactionSum): void {
    const key = keyOf({ reason, type })
    const present = this.#sums.get(key)
    if (present === undefined) {
      this.#sums.set(key, { type, reason, count, hundredths })
    } else {
      present.count += count
      present.hundredths += hundredths
    }
  }

  get all(): ReadonlyArray<TransactionSum> {
    return [...this.#sums.values()]
  }
}

const transactionsOf = (account: Account, added: AddedItems): ReadonlyArray<Transaction> => [
  ...(account.ledgers ?? []).flatMap((ledger) => [
    ...historicalTransactions(ledger),
    ...currentTransactions(ledger)
  ]),
  ...added.transactions.map(({ transaction }) => transaction)
]

/** A statement of the payload that was completed counts once. */
const statementsOf = (account: Account, { statements }: AddedItems): AccountSums["statements"] => {
  const ids = new Set<string>(statements.map(({ statement_id }) => statement_id))
  for (const { statement_id } of account.statements ?? []) ids.add(statement_id)
  const amounts = statements.flatMap(({ gross_amount }) => gross_amount ?? [])
  return [ids.size, String(hundredthsOf(sum(amounts)))]
}

/** A certificate is kept for ever, so it has no free text, which may name a person. */
const codeOf = (reason: string | undefined): string | null =>
  reason !== undefined && /^[A-Z][A-Z0-9_]*$/.test(reason) ? reason : null

/** As for `entryMembers`. */
export const sumsOf = (
  account: Account,
  added: AddedItems,
  balance: BigDecimal.BigDecimal = openingBalance(account)
): AccountSums => {
  const transactions = new TransactionSums()
  for (const { amount, reason, type } of transactionsOf(account, added)) {
    transactions.add({ type, reason: codeOf(reason), count: 1, hundredths: hundredthsOf(amount) })
  }
  const signed = added.transactions.map(({ transaction }) => signedAmount(transaction))
  return {
    imported: String(hundredthsOf(balance)),
    added: String(hundredthsOf(sum(signed))),
    ledgers: (account.ledgers ?? []).map((ledger) => [
      ledger.ledger_code,
      String(hundredthsOf(balanceOf(ledger)))
    ]),
    transactions: transactions.all.map(({ count, hundredths, reason, type }) => [
      type,
      reason,
      count,
      String(hundredths)
    ]),
    statements: statementsOf(account, added)
  }
}

/** The paths of the documents that the account names, without a leading slash. */
export const documentsOf = (account: Account, added: AddedItems): ReadonlySet<string> =>
  new Set(
    [account, added].flatMap(({ notes = [], statements = [] }) => [
      ...notes.flatMap(pathsOf),
      ...statements.flatMap(({ statement_path }) =>
        statement_path === undefined ? [] : relativePath(statement_path)
      )
    ])
  )

/** Adds up the sums of accounts. */
export class SumsBuilder {
  #imported = 0n
  #added = 0n
  readonly #ledgers = new Map<string, Sum>()
  readonly #transactions = new TransactionSums()
  readonly #statements: Sum = { count: 0, hundredths: 0n }

  add({ added, imported, ledgers, statements, transactions }: AccountSums): void {
    this.#imported += BigInt(imported)
    this.#added += BigInt(added)
    for (const [code, hundredths] of ledgers) {
      const ledger = this.#ledgers.get(code) ?? { count: 0, hundredths: 0n }
      ledger.count++
      ledger.hundredths += BigInt(hundredths)
      this.#ledgers.set(code, ledger)
    }
    for (const [type, reason, count, hundredths] of transactions) {
      this.#transactions.add({ type, reason, count, hundredths: BigInt(hundredths) })
    }
    this.#statements.count += statements[0]
    this.#statements.hundredths += BigInt(statements[1])
  }

  sums(): CertifiedSums {
    return {
      balance_as_imported: textOf(this.#imported),
      balance_added: textOf(this.#added),
      balance: textOf(this.#imported + this.#added),
      ledger_balances: [...this.#ledgers]
        .sort(([one], [other]) => compareCodePoints(one, other))
        .map(([ledger_code, { count, hundredths }]) => ({
          ledger_code,
          ledgers: count,
          balance: textOf(hundredths)
        })),
      transactions: this.#transactions.all
        .toSorted((one, other) => compareCodePoints(keyOf(one), keyOf(other)))
        .map(({ count, hundredths, reason, type }) => ({
          type,
          reason,
          count,
          amount: textOf(hundredths)
        })),
      statements: {
        count: this.#statements.count,
        gross_amount: textOf(this.#statements.hundredths)
      }
    }
  }
}
