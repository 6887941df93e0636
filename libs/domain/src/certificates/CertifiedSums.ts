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

/** Sums over accounts, which can pass between threads. */
export interface Totals {
  imported: bigint
  added: bigint
  readonly ledgers: Map<string, Sum>
  readonly transactions: Map<string, TransactionSum>
  readonly statements: Sum
}

const textOf = (hundredths: bigint): string => twoDecimals(BigDecimal.make(hundredths, 2))

const keyOf = (type: Transaction["type"], reason: string | null): string =>
  reason === null ? type : `${type} ${reason}`

const enlarge = (sum: Sum, { count, hundredths }: Sum): void => {
  sum.count += count
  sum.hundredths += hundredths
}

const addTo = <S extends Sum>(sums: Map<string, S>, key: string, sum: S): void => {
  const present = sums.get(key)
  if (present === undefined) sums.set(key, { ...sum })
  else enlarge(present, sum)
}

/** A statement of the payload that was completed counts once. */
const statementsOf = (account: Account, { statements }: AddedItems): Sum => {
  const ids = new Set<string>(statements.map(({ statement_id }) => statement_id))
  for (const { statement_id } of account.statements ?? []) ids.add(statement_id)
  const amounts = statements.flatMap(({ gross_amount }) => gross_amount ?? [])
  return { count: ids.size, hundredths: hundredthsOf(sum(amounts)) }
}

/** A certificate is kept for ever, so it has no free text, which may name a person. */
const codeOf = (reason: string | undefined): string | null =>
  reason !== undefined && /^[A-Z][A-Z0-9_]*$/.test(reason) ? reason : null

/** Adds up the sums of accounts. */
export class SumsBuilder {
  readonly totals: Totals = {
    imported: 0n,
    added: 0n,
    ledgers: new Map(),
    transactions: new Map(),
    statements: { count: 0, hundredths: 0n }
  }

  /** Adds an account; the balance is as for `entryMembers`. */
  addAccount(
    account: Account,
    added: AddedItems,
    balance: BigDecimal.BigDecimal = openingBalance(account)
  ): this {
    const { totals } = this
    totals.imported += hundredthsOf(balance)
    for (const ledger of account.ledgers ?? []) {
      const hundredths = hundredthsOf(balanceOf(ledger))
      addTo(totals.ledgers, ledger.ledger_code, { count: 1, hundredths })
      for (const transaction of historicalTransactions(ledger)) this.#count(transaction)
      for (const transaction of currentTransactions(ledger)) this.#count(transaction)
    }
    for (const { transaction } of added.transactions) {
      totals.added += hundredthsOf(signedAmount(transaction))
      this.#count(transaction)
    }
    enlarge(totals.statements, statementsOf(account, added))
    return this
  }

  #count({ amount, reason, type }: Transaction): void {
    const code = codeOf(reason)
    const hundredths = hundredthsOf(amount)
    addTo(this.totals.transactions, keyOf(type, code), { type, reason: code, count: 1, hundredths })
  }

  /** Adds the stored sums of an account. */
  add({ added, imported, ledgers, statements, transactions }: AccountSums): void {
    const { totals } = this
    totals.imported += BigInt(imported)
    totals.added += BigInt(added)
    for (const [code, hundredths] of ledgers) {
      addTo(totals.ledgers, code, { count: 1, hundredths: BigInt(hundredths) })
    }
    for (const [type, reason, count, hundredths] of transactions) {
      const sum = { type, reason, count, hundredths: BigInt(hundredths) }
      addTo(totals.transactions, keyOf(type, reason), sum)
    }
    const [count, hundredths] = statements
    enlarge(totals.statements, { count, hundredths: BigInt(hundredths) })
  }

  /** Adds the sums of other accounts. */
  merge({ added, imported, ledgers, statements, transactions }: Totals): void {
    const { totals } = this
    totals.imported += imported
    totals.added += added
    for (const [code, sum] of ledgers) addTo(totals.ledgers, code, sum)
    for (const [key, sum] of transactions) addTo(totals.transactions, key, sum)
    enlarge(totals.statements, statements)
  }

  sums(): CertifiedSums {
    const { added, imported, ledgers, statements, transactions } = this.totals
    return {
      balance_as_imported: textOf(imported),
      balance_added: textOf(added),
      balance: textOf(imported + added),
      ledger_balances: [...ledgers]
        .sort(([one], [other]) => compareCodePoints(one, other))
        .map(([ledger_code, { count, hundredths }]) => ({
          ledger_code,
          ledgers: count,
          balance: textOf(hundredths)
        })),
      transactions: [...transactions]
        .sort(([one], [other]) => compareCodePoints(one, other))
        .map(([, { count, hundredths, reason, type }]) => ({
          type,
          reason,
          count,
          amount: textOf(hundredths)
        })),
      statements: { count: statements.count, gross_amount: textOf(statements.hundredths) }
    }
  }
}

/** As they are stored; the balance is as for `entryMembers`. */
export const sumsOf = (
  account: Account,
  added: AddedItems,
  balance?: BigDecimal.BigDecimal
): AccountSums => {
  const { totals } = new SumsBuilder().addAccount(account, added, balance)
  return {
    imported: String(totals.imported),
    added: String(totals.added),
    ledgers: [...totals.ledgers].map(([code, { hundredths }]) => [code, String(hundredths)]),
    transactions: [...totals.transactions.values()].map(({ count, hundredths, reason, type }) => [
      type,
      reason,
      count,
      String(hundredths)
    ]),
    statements: [totals.statements.count, String(totals.statements.hundredths)]
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
