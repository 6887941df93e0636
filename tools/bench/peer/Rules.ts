/**
 * The rules between fields: sums, dates against each other, duplicates. They run on a body that
 * has passed its schema.
 */
import { cents, decimalsOf, rounded, scaled } from "./Decimal.ts"
import type { FieldError } from "./Refusal.ts"
import type { Account, Ledger, Note, Transaction } from "./Requests.ts"

/** The data that a rule may use beyond the payload. */
export interface Facts {
  readonly now: Date
  readonly today: string
  readonly supplierExists: boolean
  readonly codeLists: Readonly<Record<string, ReadonlyArray<string>>>
}

type Path = ReadonlyArray<string | number>
type Broken = readonly [code: string, ...path: Path]

const dayFormats = new Map<string, Intl.DateTimeFormat>()

const dayIn = (timeZone: string, instant: Date): string => {
  // Swedish dates have the format of ISO 8601.
  const known = dayFormats.get(timeZone)
  const format = known ?? new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short" })
  dayFormats.set(timeZone, format)
  return format.format(instant)
}

/** `supplier` is null if the caller has no supplier of the name in the request. */
export const factsAt = (
  now: Date,
  supplier: { readonly time_zone: string } | null,
  codeLists: Facts["codeLists"]
): Facts => {
  const today = dayIn(supplier?.time_zone ?? "UTC", now)
  return { now, today, supplierExists: supplier !== null, codeLists }
}

/** Positive if the transaction raises the balance. */
const effectOf = ({ amount, type }: Transaction): number =>
  type === "PAYMENT" || type === "CREDIT" ? cents(amount) : -cents(amount)

const sumOf = (transactions: ReadonlyArray<Transaction>): number =>
  transactions.reduce((sum, transaction) => sum + effectOf(transaction), 0)

const allowedFor = Object.entries({
  reason: ["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT"],
  reference: ["PAYMENT", "REPAYMENT"],
  payment_type: ["PAYMENT", "REPAYMENT"],
  product_code: ["SUPPLY_CHARGE"],
  line_items: ["SUPPLY_CHARGE"],
  tax_items: ["CHARGE", "SUPPLY_CHARGE"]
})

const codedFields = ["product_code", "reason"] as const

/** More decimals than any product or sum of items has. */
const itemScale = 11

const itemRules = (transaction: Transaction, broken: Array<Broken>): void => {
  const { amount, line_items = [], tax_items = [], type } = transaction
  for (const [index, item] of line_items.entries()) {
    const { net_amount: net, number_of_units: units, price_per_unit: price } = item
    if (item.end_date < item.start_date) {
      broken.push(["start_date_later_than_end_date", "line_items", index])
    }
    if (price === undefined) continue
    const decimals = Math.max(2, decimalsOf(net))
    const product = scaled(price, 7) * scaled(units, itemScale - 7)
    if (rounded(product, itemScale, decimals) !== scaled(net, decimals)) {
      broken.push(["incorrect_line_item_net_amount", "line_items", index])
    }
  }
  if (type !== "SUPPLY_CHARGE" || transaction.line_items === undefined) return
  let sum = 0n
  for (const { net_amount } of line_items) sum += scaled(net_amount, itemScale)
  for (const item of tax_items) sum += scaled(item.amount, itemScale)
  if (BigInt(cents(amount)) !== rounded(sum, itemScale, 2)) {
    broken.push([
      "ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount"
    ])
  }
}

const transactionRules = (
  transaction: Transaction,
  { codeLists }: Facts
): ReadonlyArray<Broken> => {
  const broken: Array<Broken> = []
  const { amount, type } = transaction
  for (const [field, types] of allowedFor) {
    if (field in transaction && !types.includes(type)) {
      broken.push(["field_not_allowed_for_transaction_type", field])
    }
  }
  for (const field of codedFields) {
    const value = transaction[field]
    const values = codeLists[field] ?? []
    if (value !== undefined && values.length > 0 && !values.includes(value)) {
      broken.push(["invalid_choice", field])
    }
  }
  if (type === "SUPPLY_CHARGE" && transaction.product_code === undefined) {
    broken.push(["required", "product_code"])
  }
  if ((type === "PAYMENT" || type === "REPAYMENT") && cents(amount) <= 0) {
    broken.push(["min_value", "amount"])
  }
  itemRules(transaction, broken)
  return broken
}

const inside = function* (path: Path, broken: Iterable<Broken>): Generator<Broken> {
  for (const [code, ...rest] of broken) yield [code, ...path, ...rest]
}

function* closingRules(ledger: Ledger, { today }: Facts): Generator<Broken> {
  const { last_statement_closing_date: closing } = ledger
  const { current_statement_transactions: current = [] } = ledger
  const { historical_statement_transactions: history = [] } = ledger
  if (closing === undefined) {
    if (history.length > 0) {
      yield ["historical_statement_transactions_require_last_statement_closing_date"]
    }
    return
  }
  if (closing > today) yield ["historical_statement_period_end_in_future"]
  if (current.some(({ transaction_date }) => transaction_date <= closing)) {
    yield ["current_statement_transaction_before_last_statement_closing_date"]
  }
  if (history.some(({ transaction_date }) => transaction_date > closing)) {
    yield ["historical_statement_transaction_after_last_statement_closing_date"]
  }
}

function* ledgerRules(ledger: Ledger, facts: Facts): Generator<Broken> {
  const { ledger_balance: balance, last_statement_balance: last = 0 } = ledger
  const { current_statement_transactions: current = [] } = ledger
  const { historical_statement_transactions: history = [] } = ledger
  const codes = facts.codeLists["ledger_code"] ?? []
  if (codes.length > 0 && !codes.includes(ledger.ledger_code)) {
    yield ["invalid_choice", "ledger_code"]
  }
  if (history.length > 0 && cents(last) !== sumOf(history)) {
    yield ["historical_statement_transactions_balance_mismatch"]
  }
  if (balance !== undefined && cents(balance) !== cents(last) + sumOf(current)) {
    yield ["balance_mismatch_on_ledger_balance"]
  }
  yield* closingRules(ledger, facts)
  const lists = {
    current_statement_transactions: current,
    historical_statement_transactions: history
  }
  for (const [list, transactions] of Object.entries(lists)) {
    for (const [index, transaction] of transactions.entries()) {
      if (transaction.transaction_date > facts.today) {
        yield ["transaction_in_future", list, index, "transaction_date"]
      }
      yield* inside([list, index], transactionRules(transaction, facts))
    }
  }
}

function* customerRules(account: Account, { today }: Facts): Generator<Broken> {
  const { account_type = "DOMESTIC", customers = [], unknown_occupier = false } = account
  const isExempt = unknown_occupier || /^SYSTEM$|_VACANT$|_OCCUPIER$/.test(account_type)
  if (!isExempt && customers.length === 0) yield ["required", "customers"]
  if (unknown_occupier && customers.length > 0) yield ["customer_with_unknown_occupier"]
  if (unknown_occupier && (account.supply_addresses ?? []).length > 1) {
    yield ["occupier_account_with_multiple_supply_addresses"]
  }
  for (const [index, { date_of_birth: birth, family_name = "" }] of customers.entries()) {
    if (account_type === "DOMESTIC" && family_name === "") {
      yield ["customer_family_name_required", "customers", index]
    }
    const at = ["customers", index, "date_of_birth"] as const
    if (birth !== undefined && birth < "1900-01-01") yield ["min_value", ...at]
    if (birth !== undefined && birth > today) yield ["max_value", ...at]
  }
}

function* billingRules({
  account_billing_options: options,
  billing_address: address
}: Account): Generator<Broken> {
  if (address?.street_address !== undefined && (address.structured_street_address ?? null)) {
    yield ["fields_are_mutually_exclusive", "billing_address"]
  }
  if (options === undefined) return
  const { period_length: length, period_start_day: day, period_start_month: month } = options
  const at = "account_billing_options"
  if (options.use_industry_billing === true) {
    if (length ?? day ?? month) {
      yield ["account_billing_options_industry_billing_with_period_data", at]
    }
    return
  }
  if (length === undefined || day === undefined) {
    yield ["account_billing_options_period_data_required", at]
  }
  if (length === "QUARTERLY" && (month ?? null) === null) {
    yield ["account_billing_options_period_start_month_required", at]
  }
}

const hasDuplicates = (values: ReadonlyArray<string>): boolean =>
  new Set(values).size < values.length

function* duplicateRules(account: Account): Generator<Broken> {
  const { ledgers = [], metadata = [], statements = [], supply_addresses = [] } = account
  const lists = {
    duplicate_ledger_entries_found: ["ledgers", ledgers.map((it) => it.ledger_code)],
    duplicate_statement_ids: ["statements", statements.map((it) => it.statement_id)],
    metadata_has_duplicate_keys: ["metadata", metadata.map((it) => it.key)],
    duplicate_supply_addresses_found: [
      "supply_addresses",
      supply_addresses.map((it) => JSON.stringify([it.supply_address1, it.supply_postcode]))
    ]
  } as const
  for (const [code, [list, values]] of Object.entries(lists)) {
    if (hasDuplicates(values)) yield [code, list]
  }
  const transactions = ledgers.flatMap((ledger) => [
    ...(ledger.current_statement_transactions ?? []),
    ...(ledger.historical_statement_transactions ?? [])
  ])
  if (hasDuplicates(transactions.map((it) => it.transaction_id)))
    yield ["duplicate_transaction_ids"]
}

function* noteRules(notes: ReadonlyArray<Note>, now: Date): Generator<Broken> {
  for (const [index, { body, created_at, document_paths = [], unpin_at }] of notes.entries()) {
    if (body === undefined && document_paths.length === 0) {
      yield ["note_body_or_document_path_not_found", "notes", index]
    }
    const created = created_at === undefined ? now : new Date(created_at)
    if (unpin_at !== undefined && new Date(unpin_at) < created) {
      yield ["note_unpin_at_earlier_than_creation_date", "notes", index]
    }
  }
}

type Period = NonNullable<Account["statements"]>[number]

function* periodRules(statements: ReadonlyArray<Period>): Generator<Broken> {
  for (const [index, statement] of statements.entries()) {
    if (statement.bill_period_from_date > statement.bill_period_to_date) {
      yield ["start_date_later_than_end_date", "statements", index]
    }
  }
}

/** The opening balance of an account, in cents. */
export const openingCents = ({ ledgers = [], transfer_balance = 0 }: Account): number => {
  if (ledgers.length === 0) return cents(transfer_balance)
  let sum = 0
  for (const { current_statement_transactions: current = [], ...ledger } of ledgers) {
    if (ledger.ledger_balance !== undefined) {
      sum += cents(ledger.ledger_balance)
    } else {
      sum += cents(ledger.last_statement_balance ?? 0)
      for (const transaction of current) sum += effectOf(transaction)
    }
  }
  return sum
}

function* transferRules(account: Account): Generator<Broken> {
  const { transfer_balance } = account
  if (transfer_balance === undefined) return
  if (openingCents(account) !== cents(transfer_balance))
    yield ["ledger_balances_not_equal_to_transfer_balance"]
}

const unknownSupplier: Broken = ["import_supplier_does_not_exist", "import_supplier"]

function* brokenIn(account: Account, facts: Facts): Generator<Broken> {
  if (!facts.supplierExists) yield unknownSupplier
  yield* customerRules(account, facts)
  yield* billingRules(account)
  yield* duplicateRules(account)
  yield* transferRules(account)
  for (const [index, ledger] of (account.ledgers ?? []).entries()) {
    yield* inside(["ledgers", index], ledgerRules(ledger, facts))
  }
  yield* noteRules(account.notes ?? [], facts.now)
  yield* periodRules(account.statements ?? [])
}

const errorOf = ([code, ...path]: Broken): FieldError => ({
  detail: `This breaks the rule ${code}.`,
  code,
  attr: path.length === 0 ? "non_field_errors" : path.join(".")
})

export const accountErrors = (account: Account, facts: Facts): ReadonlyArray<FieldError> =>
  Array.from(brokenIn(account, facts), errorOf)

export const supplierErrors = (exists: boolean): ReadonlyArray<FieldError> =>
  exists ? [] : [errorOf(unknownSupplier)]

export const transactionsErrors = (
  transactions: ReadonlyArray<Transaction>,
  facts: Facts
): ReadonlyArray<FieldError> => {
  if (transactions.length === 0) return [errorOf(["empty", "transactions"])]
  const errors: Array<FieldError> = []
  for (const [index, transaction] of transactions.entries()) {
    for (const [code, ...path] of transactionRules(transaction, facts)) {
      errors.push(errorOf([code, "transactions", index, ...path]))
    }
  }
  return errors
}
