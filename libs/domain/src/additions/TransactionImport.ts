/**
 * Decides which transactions of a request are new to the account, which dates are moved, which one
 * fails first, and the new balance. All are added or none.
 * Source: docs/contract/post-import.md#create-transactions,
 * docs/contract/post-import.md#open-statement-period.
 */
import type { DateTime } from "effect"
import { BigDecimal, Result } from "effect"
import {
  type AccountNote,
  type AccountView,
  type AddedTransaction,
  type Decision,
  type Lookup,
  sizeOf,
  noChange
} from "../accounts/AccountChange.ts"
import { isEqual, sum } from "../schema/Decimal.ts"
import type { OnDifference } from "../schema/OnDifference.ts"
import { TransactionRefused } from "../requests/Failure.ts"
import { type CalendarDate, nextDay } from "../schema/Field.ts"
import { signedAmount, type Transaction, type TransactionId } from "../accounts/Transaction.ts"

export interface TransactionResult {
  readonly status: "TRANSACTION_ADDED_TO_ACCOUNT" | "TRANSACTION_ALREADY_EXISTS"
  /** As stored. */
  readonly transaction: Transaction
  readonly sent: Transaction
  /** True if its date was moved. */
  readonly isMoved?: boolean
  /** True if the content that was sent differs from the existing transaction. */
  readonly differs?: boolean
}

/** The parameters of the request, and the time at which it is validated. */
export interface TransactionImportOptions {
  /**
   * Whether to skip a transaction whose id was added before. If not, it is added again as a
   * separate entry.
   */
  readonly checkPreviouslyAdded: boolean
  /**
   * Whether to move a date outside the open period to the nearest day inside. If not, it is
   * refused.
   */
  readonly forceAddToCurrentStatement: boolean
  /** What becomes of a known id with other content. */
  readonly onDifference: OnDifference
  /** The supplier's business day, the last day of the open period. */
  readonly today: CalendarDate
  readonly now: DateTime.Utc
}

/**
 * The days on which a transaction may be added, both inclusive; `from` is null without a lower
 * bound.
 */
export interface OpenPeriod {
  readonly from: CalendarDate | null
  readonly to: CalendarDate
}

/** From the day after the last closing date to today. It is empty on the closing day itself. */
export const openPeriod = (
  lastClosingDate: CalendarDate | null,
  today: CalendarDate
): OpenPeriod => ({ from: lastClosingDate && nextDay(lastClosingDate), to: today })

const isWithin = (date: CalendarDate, { from, to }: OpenPeriod): boolean =>
  date <= to && (from === null || date >= from)

/** The nearest day of the period, or its end if the period is empty. */
const nearestDay = (date: CalendarDate, { from, to }: OpenPeriod): CalendarDate =>
  from !== null && date < from && from < to ? from : to

const moveSentence = (from: CalendarDate): string =>
  `Moved into the open statement period; originally dated ${from}.`

const moved = (transaction: Transaction, to: CalendarDate): AddedTransaction => {
  const from = transaction.transaction_date
  if (from === to) return { transaction, movedFrom: null }
  const sentence = moveSentence(from)
  const before = transaction.display_note ?? ""
  return {
    transaction: {
      ...transaction,
      transaction_date: to,
      display_note: before === "" ? sentence : `${before} ${sentence}`
    },
    movedFrom: from
  }
}

/** The transaction as it was sent, with its own date and without the sentence about the move. */
export const unmoved = ({ movedFrom, transaction }: AddedTransaction): Transaction => {
  if (movedFrom === null) return transaction
  const { display_note = "", ...others } = transaction
  const sentence = moveSentence(movedFrom)
  const note = display_note.endsWith(sentence)
    ? display_note.slice(0, -sentence.length).replace(/ $/, "")
    : display_note
  return { ...others, transaction_date: movedFrom, ...(note !== "" && { display_note: note }) }
}

const isSameValue = (one: unknown, other: unknown): boolean => {
  if (one === other) return true
  if (BigDecimal.isBigDecimal(one)) return BigDecimal.isBigDecimal(other) && isEqual(one, other)
  if (typeof one !== "object" || typeof other !== "object" || !one || !other) return false
  const [members, others] = [one, other] as ReadonlyArray<Readonly<Record<string, unknown>>>
  const keys = Object.keys(members ?? {})
  return (
    keys.length === Object.keys(others ?? {}).length &&
    keys.every((key) => isSameValue(members?.[key], others?.[key]))
  )
}

/**
 * Whether the transaction that was sent has the content of the existing one. If the date of the
 * existing one was moved, the same move is applied before comparing.
 */
const isSameTransaction = (sent: Transaction, there: Transaction): boolean =>
  isSameValue(moved(sent, there.transaction_date).transaction, there)

const movesHeading = "Imported transactions moved into the open statement period:\n"

/** Whether the service made the note, to list the transactions that it moved. */
export const isNoteOnMoves = ({ body = "", is_pinned = false }: AccountNote): boolean =>
  is_pinned && body.startsWith(movesHeading)

/** One pinned note for the request, which lists the moved transactions. */
const noteOn = (
  added: ReadonlyArray<AddedTransaction>,
  now: DateTime.Utc
): ReadonlyArray<AccountNote> => {
  const lines = added.flatMap(({ movedFrom, transaction }) =>
    movedFrom === null
      ? []
      : [`${transaction.transaction_id}: ${movedFrom} to ${transaction.transaction_date}`]
  )
  if (lines.length === 0) return []
  const body = `${movesHeading}${lines.join("\n")}`
  return [{ body, created_at: now, is_pinned: true }]
}

const describe = ({ from, to }: OpenPeriod): string =>
  from === null ? `up to ${to}` : from > to ? `empty until ${from}` : `${from} to ${to}`

/**
 * A date after the period may be inside on a later business day, which the refusal says. One before
 * it never is.
 */
const outside = (transaction: Transaction, period: OpenPeriod): TransactionRefused => {
  const date = transaction.transaction_date
  return new TransactionRefused({
    code: "transaction_outside_open_period",
    transaction,
    detail: `${date} is not within the open statement period (${describe(period)}).`,
    ...(date > period.to && { parameters: { limit: period.to, business_day: period.to } })
  })
}

/**
 * The maximum size of existing transactions that one request reads: a few hundred small ones plus
 * twice the request itself, so that an accepted request can be repeated. Without it, a request with
 * a few ids could have a response of any size.
 */
const existingBytes = (sent: ReadonlyArray<Transaction>): number =>
  sent.reduce((sum, transaction) => sum + 2 * sizeOf(transaction), 256 * 1024)

/** What to read of the account to decide on these transactions. */
export const transactionLookup = (
  sent: ReadonlyArray<Transaction>,
  { checkPreviouslyAdded }: Pick<TransactionImportOptions, "checkPreviouslyAdded">
): Lookup =>
  checkPreviouslyAdded
    ? {
        transactionIds: [...new Set(sent.map(({ transaction_id }) => transaction_id))],
        byteLimit: existingBytes(sent)
      }
    : {}

const tooManyItems =
  "The transactions up to this one were added before, and have many more line and tax items than " +
  "the request sends for them; send fewer transactions at once, or each as it was added."

export const decideTransactions =
  (sent: ReadonlyArray<Transaction>, options: TransactionImportOptions) =>
  (
    account: AccountView
  ): Result.Result<Decision<ReadonlyArray<TransactionResult>>, TransactionRefused> => {
    const period = openPeriod(account.lastClosingDate, options.today)
    const seen = new Set<TransactionId>()
    const transactions: Array<AddedTransaction> = []
    const answer: Array<TransactionResult> = []

    for (const transaction of sent) {
      const id = transaction.transaction_id
      if (seen.has(id)) {
        const detail = `The transaction id ${id} stands twice in the request.`
        const code = "duplicate_transaction_ids"
        return Result.fail(new TransactionRefused({ code, transaction, detail }))
      }
      seen.add(id)
      if (options.checkPreviouslyAdded && id === account.unreadTransaction) {
        const code = "too_many_existing_items"
        return Result.fail(new TransactionRefused({ code, transaction, detail: tooManyItems }))
      }
      const there = account.transactions.get(id)
      if (options.checkPreviouslyAdded && there !== undefined) {
        const differs = !isSameTransaction(transaction, there)
        if (differs && options.onDifference === "fail") {
          const detail = `The account has another transaction with the id ${id}.`
          const code = "transaction_differs"
          return Result.fail(new TransactionRefused({ code, transaction, detail }))
        }
        answer.push({
          status: "TRANSACTION_ALREADY_EXISTS",
          transaction: there,
          sent: transaction,
          ...(differs && { differs })
        })
        continue
      }
      const date = transaction.transaction_date
      const isInside = isWithin(date, period)
      if (!isInside && !options.forceAddToCurrentStatement) {
        return Result.fail(outside(transaction, period))
      }
      const added = moved(transaction, isInside ? date : nearestDay(date, period))
      transactions.push(added)
      answer.push({
        status: "TRANSACTION_ADDED_TO_ACCOUNT",
        transaction: added.transaction,
        sent: transaction,
        ...(added.movedFrom !== null && { isMoved: true })
      })
    }

    const change = {
      ...noChange(account),
      transactions,
      notes: noteOn(transactions, options.now),
      balance: BigDecimal.sum(
        account.balance,
        sum(transactions.map((added) => signedAmount(added.transaction)))
      )
    }
    return Result.succeed({ change, answer })
  }
