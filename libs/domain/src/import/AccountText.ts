/**
 * The JSON text of an account that is read back, as a stream of parts. `account` is, byte for byte,
 * what validate answered. Memory is bounded by a page of a list. The stream fails rather than leave
 * out an element.
 * Source: docs/contract/queries.md#get-an-account.
 */
import { Effect, Schema, Stream } from "effect"
import { Account, Metadata } from "../account/Account.ts"
import { instructionJson } from "../account/AccountDescription.ts"
import { Customer } from "../account/Customer.ts"
import { Ledger } from "../account/Ledger.ts"
import { Note } from "../account/Note.ts"
import { HistoricalStatement, Statement } from "../account/Statement.ts"
import { SupplyAddress } from "../account/SupplyAddress.ts"
import { AccountTransaction } from "../account/Transaction.ts"
import type {
  Items,
  NamedDocument,
  PayloadLists,
  StoredAccount,
  StoredLedger
} from "../ports/StoredAccount.ts"
import { wireCode } from "../organisation/Supplier.ts"
import type { StorageUnavailable } from "../ports/StorageUnavailable.ts"
import { twoDecimals } from "../schema/Decimal.ts"
import { textEncoderOf, writingJson } from "../schema/Encoder.ts"
import { CalendarDate, formatInstant } from "../schema/Field.ts"
import { inTimeSlices, type Steps } from "../support/Steps.ts"

type Parts = Stream.Stream<string, StorageUnavailable>

/** Writes a list as text, with its brackets. */
type ListWriter<A> = (elements: ReadonlyArray<A>) => Steps<string>

const writerOf = <A, I>(element: Schema.Codec<A, I>): ListWriter<A> =>
  textEncoderOf(Schema.Array(element) as unknown as Schema.Codec<ReadonlyArray<A>, unknown>)

const concat = (...parts: ReadonlyArray<Parts | string>): Parts =>
  Stream.flatMap(Stream.fromIterable(parts), (part) =>
    typeof part === "string" ? Stream.make(part) : part
  )

/** The pages of a list as the text of one array. */
const arrayOf = <A>({ count, elements }: Items<A>, write: ListWriter<A>): Parts =>
  Stream.suspend(() => {
    let read = 0
    const textOf = Effect.fnUntraced(function* (page: ReadonlyArray<A>) {
      const text = yield* inTimeSlices(() => write(page))
      const separator = read === 0 ? "" : ","
      read += page.length
      return separator + text.slice(1, -1)
    })
    const end = Stream.suspend(() =>
      read === count
        ? Stream.make("]")
        : Stream.die(new Error(`A list of an account has ${read} of ${count} elements`))
    )
    return concat("[", Stream.mapEffect(Stream.chunks(elements), textOf), end)
  })

const listText = <A>(element: Schema.Codec<A, unknown>) => {
  const write = writerOf(element)
  return (items: Items<A> | null): Parts | null => items && arrayOf(items, write)
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

/** The fields of a struct as members, each by its name, in the order of the schema. */
const membersOf = <Fields extends Schema.Struct.Fields>({ fields }: Schema.Struct<Fields>) => {
  const writers = Object.entries(fields).map(([name, field]) => {
    const alone = Schema.Struct({ [name]: field }) as unknown as Schema.Codec<object>
    return [name, textEncoderOf(alone)] as const
  })
  return (value: object, partsOf: (name: string) => Parts | null): Parts => {
    const members = writers.flatMap(([name, write]) => {
      const parts = partsOf(name)
      if (parts !== null) return [concat(`${JSON.stringify(name)}:`, parts)]
      if (!(name in value)) return []
      const text = inTimeSlices(() => write(value))
      return [Stream.map(Stream.fromEffect(text), (object) => object.slice(1, -1))]
    })
    const separated = members.flatMap((member, index) => (index === 0 ? [member] : [",", member]))
    return concat("{", ...separated, "}")
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

const ledgersText = (ledgers: ReadonlyArray<StoredLedger>): Parts => {
  const texts = Stream.fromIterable(ledgers.entries()).pipe(
    Stream.flatMap(([index, ledger]) => concat(index === 0 ? "" : ",", ledgerText(ledger)))
  )
  return concat("[", texts, "]")
}

/** What the payload said. */
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

const addedText = ({ added }: StoredAccount): Parts => {
  const moved = Stream.map(added.transactions.elements, ({ movedFrom, transaction }) => ({
    ...transaction,
    ...(movedFrom !== null && { moved_from_date: movedFrom })
  }))
  return concat(
    '{"transactions":',
    arrayOf({ ...added.transactions, elements: moved }, addedTransactions),
    ',"notes":',
    arrayOf(added.notes, addedNotes),
    ',"statements":',
    arrayOf(added.statements, addedStatements),
    `,"payment_instructions":${JSON.stringify(added.payment_instructions.map(instructionJson))}}`
  )
}

const documents: ListWriter<NamedDocument> = (named) =>
  writingJson(
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

/** The text of the account in parts, without a line break. */
export const accountText = (account: StoredAccount): Parts => {
  const head = JSON.stringify({
    kraken_account_number: account.number,
    import_supplier: wireCode(account.key.import_supplier),
    external_account_number: account.key.external_account_number,
    account_created_at: formatInstant(account.createdAt),
    operations_team_name: account.operationsTeam,
    balance: twoDecimals(account.balance),
    ledger_balances: ledgerBalances(account)
  })
  return concat(
    `${head.slice(0, -1)},"account":`,
    payloadText(account),
    ',"added":',
    addedText(account),
    ',"documents":',
    arrayOf(account.documents, documents),
    "}"
  )
}
