/**
 * Financial transactions, in the ledgers of the account payload and in the transactions import.
 * Source: docs/contract/account.md#transaction.
 */
import { BigDecimal, Schema } from "effect"
import {
  amount,
  decimalNumber,
  difference,
  isEqual,
  moneySize,
  roundHalfUp,
  sum
} from "../schema/Decimal.ts"
import { CalendarDate, choice, list, nonBlankText, openChoice, text } from "../schema/Field.ts"
import { isAmong, type Rule, type RuleSet } from "../schema/Rules.ts"
import { encoderOf } from "../schema/Encoder.ts"

export const TransactionId = nonBlankText(128).pipe(Schema.brand("TransactionId"))
export type TransactionId = typeof TransactionId.Type

const LineAmount = decimalNumber({ before: 10, after: 10 })
const TaxDecimal = decimalNumber({ before: 15, after: 5 })

/**
 * `start_date` and `end_date` are inclusive; `units` are the register readings at start and end.
 */
export const LineItem = Schema.Struct({
  rate_band: Schema.optionalKey(nonBlankText(64)),
  start_date: CalendarDate,
  end_date: CalendarDate,
  number_of_units: decimalNumber({ before: 12, after: 4 }),
  net_amount: LineAmount,
  price_per_unit: Schema.optionalKey(decimalNumber({ before: 8, after: 7 })),
  units: Schema.optionalKey(list(decimalNumber({ before: 12, after: 4 })))
})
export type LineItem = typeof LineItem.Type

/** `rate` is a share or a price, depending on `unit_type`. */
export const TaxItem = Schema.Struct({
  amount: LineAmount,
  tax_type: nonBlankText(32),
  value_taxed: TaxDecimal,
  rate: TaxDecimal,
  unit_type: choice(["PROPORTION", "CURRENCY_PER_KWH"])
})
export type TaxItem = typeof TaxItem.Type

export const TransactionType = choice(["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"])
export type TransactionType = typeof TransactionType.Type

export const paymentTypes = {
  PAYMENT: [
    "DD_FIRST_COLLECTION",
    "DD_REGULAR_COLLECTION",
    "DD_RE_PRESENTATION",
    "DD_FINAL_COLLECTION",
    "CREDIT_CARD",
    "DEBIT_CARD",
    "CHEQUE",
    "BACS_DEPOSIT",
    "CASH",
    "EFT",
    "PAYPOINT_CASH",
    "PAYPOINT_CARD",
    "ALLPAY_CASH",
    "ALLPAY_CARD",
    "DCA_COLLECTION"
  ],
  REPAYMENT: ["DIRECT_CREDIT", "CARD_REFUND", "BACS", "CHEQUE"]
} as const

/** `amount` is money. Its sign does not depend on the direction, which follows from the type. */
export const Transaction = Schema.Struct({
  transaction_id: TransactionId,
  transaction_date: CalendarDate,
  amount: amount(moneySize),
  type: TransactionType,
  reason: Schema.optionalKey(text(128)),
  display_note: Schema.optionalKey(text(2_000)),
  note: Schema.optionalKey(text(2_000)),
  reference: Schema.optionalKey(text(512)),
  payment_type: Schema.optionalKey(openChoice(128, Object.values(paymentTypes).flat())),
  product_code: Schema.optionalKey(nonBlankText(64)),
  line_items: Schema.optionalKey(list(LineItem)),
  tax_items: Schema.optionalKey(list(TaxItem))
})
export type Transaction = typeof Transaction.Type

/**
 * A transaction on an account. The sentence about a moved date does not count towards the length of
 * its display note.
 */
export const AccountTransaction = Schema.Struct({
  ...Transaction.fields,
  display_note: Schema.optionalKey(Schema.String)
})

/**
 * The transaction as JSON: `amount` a string with two decimals, the numbers inside items as
 * numbers.
 */
export const encodeTransaction = encoderOf(AccountTransaction)

/** The effect on the balance: PAYMENT and CREDIT raise it, the other types lower it. */
export const signedAmount = (
  transaction: Pick<Transaction, "amount" | "type">
): BigDecimal.BigDecimal =>
  transaction.type === "PAYMENT" || transaction.type === "CREDIT"
    ? transaction.amount
    : BigDecimal.negate(transaction.amount)

type OptionalField =
  | "reason"
  | "reference"
  | "payment_type"
  | "product_code"
  | "line_items"
  | "tax_items"

/** For each optional field, the types that have it. */
const typesWith: { readonly [Field in OptionalField]: ReadonlyArray<TransactionType> } = {
  reason: ["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT"],
  reference: ["PAYMENT", "REPAYMENT"],
  payment_type: ["PAYMENT", "REPAYMENT"],
  product_code: ["SUPPLY_CHARGE"],
  line_items: ["SUPPLY_CHARGE"],
  tax_items: ["CHARGE", "SUPPLY_CHARGE"]
}

const optionalFields = Object.keys(typesWith) as ReadonlyArray<OptionalField>

const fieldsFitType: Rule<Transaction> = (transaction, _facts, report) => {
  for (const field of optionalFields) {
    if (!typesWith[field].includes(transaction.type) && field in transaction) {
      report(
        "field_not_allowed_for_transaction_type",
        `A ${transaction.type} has no ${field}.`,
        field
      )
    }
  }
}

const supplyChargeNamesProduct: Rule<Transaction> = (transaction, _facts, report) => {
  if (transaction.type === "SUPPLY_CHARGE" && !("product_code" in transaction)) {
    report("required", "A SUPPLY_CHARGE needs a product_code.", "product_code")
  }
}

const paymentIsPositive: Rule<Transaction> = ({ amount: value, type }, _facts, report) => {
  if (type !== "PAYMENT" && type !== "REPAYMENT") return
  if (!BigDecimal.isPositive(value)) {
    const detail = `The amount of a ${type} must be positive.`
    report("min_value", { detail, parameters: { limit: "0.01" } }, "amount")
  }
}

const paymentTypeIsKnown: Rule<Transaction> = (transaction, { codeLists }, report) => {
  const known = (paymentTypes as { readonly [Type in TransactionType]?: ReadonlyArray<string> })[
    transaction.type
  ]
  if (known === undefined || transaction.payment_type === undefined) return
  const { payment_type } = transaction
  isAmong([known, codeLists.payment_type], payment_type, "payment_type", report)
}

const restrictedBy =
  (field: "reason" | "product_code"): Rule<Transaction> =>
  (transaction, { codeLists }, report) => {
    const allowed = codeLists[field]
    const value = transaction[field]
    if (allowed !== undefined && allowed.length > 0 && value !== undefined) {
      isAmong([allowed], value, field, report)
    }
  }

const amountIsSumOfItems: Rule<Transaction> = (transaction, _facts, report) => {
  if (transaction.type !== "SUPPLY_CHARGE" || transaction.line_items === undefined) return
  const items = sum([
    ...transaction.line_items.map((item) => item.net_amount),
    ...(transaction.tax_items ?? []).map((item) => item.amount)
  ])
  const calculated = roundHalfUp(items, moneySize.after)
  if (!isEqual(transaction.amount, calculated)) {
    report(
      "ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount",
      difference("amount against line and tax items", transaction.amount, calculated)
    )
  }
}

const itemEndsAfterStart: Rule<LineItem> = (item, _facts, report) => {
  if (item.end_date < item.start_date) {
    report("start_date_later_than_end_date", "The line item ends before it starts.")
  }
}

const itemNamesTwoReadings: Rule<LineItem> = (item, _facts, report) => {
  if (item.units !== undefined && item.units.length !== 2) {
    const detail = "units must be two register readings."
    const parameters = { expected: 2, actual: item.units.length }
    report("line_item_units_must_be_two_values", { detail, parameters }, "units")
  }
}

/** The number of decimals; trailing zeros are left out if there are more than money has. */
const decimalsOf = (value: BigDecimal.BigDecimal): number =>
  value.scale <= moneySize.after ? value.scale : BigDecimal.normalize(value).scale

const itemNetIsPriceTimesUnits: Rule<LineItem> = (item, _facts, report) => {
  if (item.price_per_unit === undefined) return
  const decimals = Math.max(moneySize.after, decimalsOf(item.net_amount))
  const product = BigDecimal.multiply(item.price_per_unit, item.number_of_units)
  const calculated = roundHalfUp(product, decimals)
  if (!isEqual(item.net_amount, calculated)) {
    report(
      "incorrect_line_item_net_amount",
      difference("net_amount against price and units", item.net_amount, calculated)
    )
  }
}

export const transactionRules: RuleSet<Transaction> = {
  rules: [
    fieldsFitType,
    supplyChargeNamesProduct,
    paymentIsPositive,
    paymentTypeIsKnown,
    restrictedBy("reason"),
    restrictedBy("product_code"),
    amountIsSumOfItems
  ],
  members: {
    line_items: { rules: [itemEndsAfterStart, itemNamesTwoReadings, itemNetIsPriceTimesUnits] }
  }
}

/**
 * Transactions of the account payload may not be in the future. The transactions import has its own
 * rule.
 */
export const isNotInFuture: Rule<Transaction> = (transaction, { today }, report) => {
  if (transaction.transaction_date > today) {
    const detail = `Must not be after ${today}.`
    report("transaction_in_future", { detail, parameters: { limit: today } }, "transaction_date")
  }
}
