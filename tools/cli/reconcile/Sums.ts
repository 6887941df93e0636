/** Counts and exact sums of balances by ledger. */
import { BigDecimal } from "effect"
import { twoDecimals, zero } from "@data-import/domain/schema/Decimal"
import { type Balances, decimalOf } from "./BookAccount.ts"

interface Sum {
  readonly count: number
  readonly balance: BigDecimal.BigDecimal
}

const none: Sum = { count: 0, balance: zero }

/** Of one side. */
export class Sums {
  #total = none
  readonly #ledgers = new Map<string, Sum>()

  add(balances: Balances): void {
    this.#count(balances, 1)
  }

  remove(balances: Balances): void {
    this.#count(balances, -1)
  }

  get accounts(): number {
    return this.#total.count
  }

  get balance(): BigDecimal.BigDecimal {
    return this.#total.balance
  }

  ledger(code: string): Sum {
    return this.#ledgers.get(code) ?? none
  }

  get codes(): ReadonlyArray<string> {
    return [...this.#ledgers.keys()]
  }

  #count({ balance, ledger_balances }: Balances, times: 1 | -1): void {
    const counted = (sum: Sum, more: string): Sum => {
      const amount = decimalOf(more)
      const signed = times === 1 ? amount : BigDecimal.negate(amount)
      return { count: sum.count + times, balance: BigDecimal.sum(sum.balance, signed) }
    }
    this.#total = counted(this.#total, balance)
    for (const { balance: more, ledger_code } of ledger_balances) {
      this.#ledgers.set(ledger_code, counted(this.ledger(ledger_code), more))
    }
  }
}

/** Both sides of a ledger, or of all accounts. */
export interface ComparedSums {
  readonly book: number
  readonly stored: number
  readonly book_balance: string
  readonly stored_balance: string
  /** The stored sum minus that of the book. */
  readonly difference: string
}

const compared = (book: Sum, stored: Sum): ComparedSums => ({
  book: book.count,
  stored: stored.count,
  book_balance: twoDecimals(book.balance),
  stored_balance: twoDecimals(stored.balance),
  difference: twoDecimals(BigDecimal.subtract(stored.balance, book.balance))
})

export interface LedgerSums extends ComparedSums {
  readonly ledger_code: string
}

export const compareSums = (book: Sums, stored: Sums) => ({
  accounts: compared(
    { count: book.accounts, balance: book.balance },
    { count: stored.accounts, balance: stored.balance }
  ),
  ledgers: [...new Set([...book.codes, ...stored.codes])].toSorted().map((code): LedgerSums => ({
    ledger_code: code,
    ...compared(book.ledger(code), stored.ledger(code))
  }))
})
