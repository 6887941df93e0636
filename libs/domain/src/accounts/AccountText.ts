/**
 * The JSON text of accounts that are read back. `account` is byte for byte what validate answered.
 * Data that was read whole is one text; lists that are read page by page follow in parts, so memory
 * is bounded by a page. A stream fails rather than leave out an element.
 * Source: docs/contract/queries.md#get-an-account.
 */
import { Effect, Schema, Stream } from "effect"
import { Account, Metadata } from "./Account.ts"
import type { AddedTransaction } from "./AccountChange.ts"
import { instructionJson } from "./AccountDescription.ts"
import { Customer } from "./Customer.ts"
import { Ledger } from "./Ledger.ts"
import { Note } from "./Note.ts"
import { HistoricalStatement, Statement } from "./Statement.ts"
import { SupplyAddress } from "./SupplyAddress.ts"
import { AccountTransaction } from "./Transaction.ts"
import {
  type Items,
  isWhole,
  type NamedDocument,
  type Pages,
  type PayloadLists,
  type StoredAccount,
  type StoredLedger
} from "./StoredAccount.ts"
import { wireCode } from "../suppliers/Supplier.ts"
import type { StorageUnavailable } from "../requests/StorageUnavailable.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { canonicalTextOf } from "../schema/CanonicalJson.ts"
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

/** A list of the payload. */
const listText = <A>(element: Schema.Codec<A, unknown>) => {
  const write = canonicalTextOf(listOf(element))
  return (items: Items<A> | null): Parts | null => items && [arrayOf(items, write)]
}

const customers = listText(Customer)
const notes = listText(Note)
const statements = listText(Statement)
const metadata = listText(Metadata)
const supplyAddresses = listText(SupplyAddress)

const payloadLists: {
  readonly [Name in keyof PayloadLists]: (lists: PayloadLists) => Parts | null
} = {
  customers: (lists) => customers(lists.customers),
  notes: (lists) => notes(lists.notes),
  statements: (lists) => statements(lists.statements),
  metadata: (lists) => metadata(lists.metadata),
  supply_addresses: (lists) => supplyAddresses(lists.supply_addresses)
}

const transactions = listText(AccountTransaction)

/** The members of a struct of the payload as text, in canonical order. */
const membersOf = <Fields extends Schema.Struct.Fields>({ fields }: Schema.Struct<Fields>) => {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))
  const writers = sorted.map(([name, field]) => {
    const writing = canonicalTextOf(
      Schema.Struct({ [name]: field }) as unknown as Schema.Codec<object>
    )
    function* write(value: object): Steps<string> {
      return (yield* writing(value)).slice(1, -1)
    }
    return { name, write }
  })
  return (value: object, partsOf: (name: string) => Parts | null): Parts => {
    const parts: Array<Part> = []
    for (const { name, write } of writers) {
      const ofList = partsOf(name)
      if (ofList === null && !(name in value)) continue
      parts.push(parts.length === 0 ? "{" : ",")
      if (ofList === null) parts.push(() => write(value))
      else parts.push(`${JSON.stringify(name)}:`, ...ofList)
    }
    return parts.length === 0 ? ["{}"] : [...parts, "}"]
  }
}

const ledgerMembers = membersOf(Ledger)
const accountMembers = membersOf(Account)

const ledgerText = (ledger: StoredLedger): Parts =>
  ledgerMembers(ledger.fields, (name) => {
    const items =
      name === "current_statement_transactions" || name === "historical_statement_transactions"
        ? ledger[name]
        : null
    return transactions(items)
  })

const ledgersText = (ledgers: ReadonlyArray<StoredLedger>): Parts => [
  "[",
  ...ledgers.flatMap((ledger, index) => [index === 0 ? "" : ",", ...ledgerText(ledger)]),
  "]"
]

/** The text of the payload. */
const payloadText = ({ fields, ledgers, lists }: StoredAccount): Parts =>
  accountMembers(fields, (name) => {
    if (name === "ledgers") return ledgers && ledgersText(ledgers)
    return name in payloadLists ? payloadLists[name as keyof PayloadLists](lists) : null
  })

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
  (ledgers ?? []).map(({ balance, fields }) => ({
    ledger_code: fields.ledger_code,
    balance: twoDecimals(balance)
  }))

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
    ...payloadText(account),
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
