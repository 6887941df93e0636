/**
 * The JSON text of accounts that are read back. `account` is byte for byte what validate answered.
 * Data that was read whole is one text; what is read slice by slice or page by page follows in
 * parts, so memory is bounded by one of them. A stream fails rather than leave out an element.
 * Source: docs/contract/queries.md#get-an-account.
 */
import { Effect, Schema, Stream } from "effect"
import type { AddedTransaction } from "./AccountChange.ts"
import { instructionJson } from "./AccountDescription.ts"
import { Note } from "./Note.ts"
import { HistoricalStatement } from "./Statement.ts"
import { AccountTransaction } from "./Transaction.ts"
import {
  type Items,
  isWhole,
  type NamedDocument,
  type Pages,
  type StoredAccount
} from "./StoredAccount.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { textEncoderOf, jsonInSteps } from "../schema/Encoder.ts"
import { CalendarDate, formatInstant } from "../schema/Field.ts"
import { inTimeSlices, type Steps } from "../support/Steps.ts"

type Text = Stream.Stream<string, StorageUnavailable>

/** A part of a text: known, yet to be encoded, or yet to be read. */
type Part = string | (() => Steps<string>) | Text

type Parts = ReadonlyArray<Part>

/** Encodes a list as text, with its brackets. */
type ListWriter<A> = (elements: ReadonlyArray<A>) => Steps<string>

const listOf = <A>(element: Schema.Codec<A, unknown>) =>
  Schema.Array(element) as unknown as Schema.Codec<ReadonlyArray<A>, unknown>

const writerOf = <A, I>(element: Schema.Codec<A, I>): ListWriter<A> =>
  textEncoderOf(listOf(element))

function* written(parts: ReadonlyArray<string | (() => Steps<string>)>): Steps<string> {
  const texts: Array<string> = []
  for (const part of parts) {
    if (typeof part === "string") {
      texts.push(part)
    } else {
      texts.push(yield* part())
      yield
    }
  }
  return texts.join("")
}

/** The text of the parts. All parts between two streams are joined into one text. */
const textOf = (parts: Parts): Text => {
  const texts: Array<Text> = []
  let known: Array<string | (() => Steps<string>)> = []
  const flush = () => {
    const together = known
    known = []
    if (together.length > 0) texts.push(Stream.fromEffect(inTimeSlices(() => written(together))))
  }
  for (const part of parts) {
    if (Stream.isStream(part)) {
      flush()
      texts.push(part)
    } else {
      known.push(part)
    }
  }
  flush()
  return Stream.flatMap(Stream.fromIterable(texts), (text) => text)
}

/** The pages of a list as the text of one array. */
const pagesText = <A>({ count, elements }: Pages<A>, write: ListWriter<A>): Text =>
  Stream.suspend(() => {
    let read = 0
    const ofPage = Effect.fnUntraced(function* (page: ReadonlyArray<A>) {
      const text = yield* inTimeSlices(() => write(page))
      const separator = read === 0 ? "[" : ","
      read += page.length
      return separator + text.slice(1, -1)
    })
    const end = Stream.suspend(() =>
      read === count
        ? Stream.make(read === 0 ? "[]" : "]")
        : Stream.die(new Error(`A list of an account has ${read} of ${count} elements`))
    )
    return Stream.concat(Stream.mapEffect(Stream.chunks(elements), ofPage), end)
  })

const arrayOf = <A>(items: Items<A>, write: ListWriter<A>): Part =>
  isWhole(items) ? () => write(items) : pagesText(items, write)

const addedTransactions = writerOf(
  Schema.Struct({
    ...AccountTransaction.fields,
    moved_from_date: Schema.optionalKey(CalendarDate)
  })
)
const addedNotes = writerOf(Note)
const addedStatements = writerOf(HistoricalStatement)

const addedTransaction = ({ movedFrom, transaction }: AddedTransaction) => ({
  ...transaction,
  ...(movedFrom !== null && { moved_from_date: movedFrom })
})

const addedText = ({ added }: StoredAccount): Parts => {
  const { notes, payment_instructions: instructions, statements, transactions } = added
  const moved = isWhole(transactions)
    ? transactions.map(addedTransaction)
    : { ...transactions, elements: Stream.map(transactions.elements, addedTransaction) }
  return [
    '{"transactions":',
    arrayOf(moved, addedTransactions),
    ',"notes":',
    arrayOf(notes, addedNotes),
    ',"statements":',
    arrayOf(statements, addedStatements),
    `,"payment_instructions":${JSON.stringify(instructions.map(instructionJson))}}`
  ]
}

const documents: ListWriter<NamedDocument> = (named) =>
  jsonInSteps(
    named.map(({ found, path }) => ({
      document_path: path,
      size: found?.size ?? null,
      etag: found?.etag ?? null,
      checksum: found?.checksum ?? null
    }))
  )

const ledgerBalances = ({ ledgers }: StoredAccount) =>
  ledgers.map(({ balance, ledger_code }) => ({ ledger_code, balance: twoDecimals(balance) }))

const accountParts = (account: StoredAccount): Parts => {
  const head = JSON.stringify({
    kraken_account_number: account.number,
    import_supplier: wireCode(account.key.import_supplier),
    external_account_number: account.key.external_account_number,
    account_created_at: formatInstant(account.createdAt),
    reverted_at: account.revertedAt && formatInstant(account.revertedAt),
    operations_team_name: account.operationsTeam,
    balance: twoDecimals(account.balance),
    ledger_balances: ledgerBalances(account)
  })
  return [
    `${head.slice(0, -1)},"account":`,
    account.payload ?? "{}",
    ',"added":',
    ...addedText(account),
    ',"documents":',
    arrayOf(account.documents, documents),
    "}"
  ]
}

/** The text of the account, without a line break. */
export const accountText = (account: StoredAccount): Text => textOf(accountParts(account))

/** NDJSON of the accounts. */
export const accountLines = (accounts: ReadonlyArray<StoredAccount>): Text =>
  textOf(accounts.flatMap((account) => [...accountParts(account), "\n"]))
