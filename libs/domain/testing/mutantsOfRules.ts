/**
 * Every rule between fields, broken alone: changes of a valid payload that break exactly this rule.
 * Some apply only to payloads with certain fields.
 */
import { DateTime } from "effect"
import type { FieldCode } from "../src/codes/Code.ts"
import { dayOf } from "../src/schema/Field.ts"
import { attrOf, drop, get, objectsAt, put, putAll, type Wire } from "./wire.ts"

/** A payload with exactly this error. */
export interface Mutant {
  readonly name: string
  readonly body: Wire
  readonly error: { readonly attr: string; readonly code: FieldCode }
}

/**
 * The mutant of a payload that is valid as of `now`; null if the rule does not apply to it.
 */
type Breaking = (payload: Wire, now: DateTime.Utc) => Omit<Mutant, "name"> | null

const at = (attr: string, code: FieldCode, body: Wire): Omit<Mutant, "name"> => ({
  body,
  error: { attr, code }
})

/**
 * The payload with one more element in a list, and the path of the element. With another ledger it
 * has no transfer balance, which would be the sum of all.
 */
const planted = (payload: Wire, list: string, element: Wire): [Wire, string] => {
  const elements = objectsAt(payload, list)
  const place = [list, elements.length]
  const body = list === "ledgers" ? drop(payload, "transfer_balance") : payload
  return [put(put(body, list, elements), place, element), attrOf(place)]
}

const ledgerOf = (fields: Wire): Wire => ({ ledger_code: "a ledger of its own", ...fields })

const chargeOf = (now: DateTime.Utc, fields: Wire): Wire => ({
  transaction_id: "an id of its own",
  transaction_date: dayOf(now),
  amount: 5,
  type: "CHARGE",
  ...fields
})

/** One transaction, alone in a ledger of its own. */
const transaction =
  (code: FieldCode, member: string, fields: (now: DateTime.Utc) => Wire): Breaking =>
  (payload, now) => {
    const ledger = ledgerOf({ current_statement_transactions: [chargeOf(now, fields(now))] })
    const [body, place] = planted(payload, "ledgers", ledger)
    return at(`${place}.current_statement_transactions.0${member}`, code, body)
  }

const supplyCharge = { type: "SUPPLY_CHARGE", product_code: "P" }

const lineItem = (code: FieldCode, member: string, fields: Wire): Breaking => {
  const item = {
    start_date: "2025-01-01",
    end_date: "2025-01-31",
    number_of_units: 1,
    net_amount: 5
  }
  const line_items = [{ ...item, ...fields }]
  return transaction(code, `.line_items.0${member}`, () => ({ ...supplyCharge, line_items }))
}

const forType = (type: string, field: string, value: unknown): Breaking =>
  transaction("field_not_allowed_for_transaction_type", `.${field}`, () => ({
    type,
    ...(type === "SUPPLY_CHARGE" ? supplyCharge : {}),
    [field]: value
  }))

const ledger =
  (code: FieldCode, fields: (now: DateTime.Utc) => Wire): Breaking =>
  (payload, now) => {
    const [body, place] = planted(payload, "ledgers", ledgerOf(fields(now)))
    return at(place, code, body)
  }

const listOf = (now: DateTime.Utc, days = 0): ReadonlyArray<Wire> => [
  chargeOf(now, { transaction_date: dayOf(DateTime.add(now, { days })) })
]

const note =
  (code: FieldCode, fields: (now: DateTime.Utc) => Wire): Breaking =>
  (payload, now) => {
    const [body, place] = planted(payload, "notes", fields(now))
    return at(place, code, body)
  }

const options =
  (code: FieldCode, account_billing_options: Wire): Breaking =>
  (payload) =>
    at(
      "account_billing_options",
      code,
      put(payload, "account_billing_options", account_billing_options)
    )

/** An element twice in a list. */
const twice =
  (code: FieldCode, list: string, attr: string, element: Wire): Breaking =>
  (payload) => {
    const [one] = planted(payload, list, element)
    const [body] = planted(one, list, element)
    return at(attr, code, body)
  }

const hasCustomers = (payload: Wire): boolean => objectsAt(payload, "customers").length > 0

const typesWithoutCustomer = /^SYSTEM$|_VACANT$|_OCCUPIER$/

const typeOf = (payload: Wire): string => {
  const type = get(payload, "account_type")
  return typeof type === "string" ? type : "DOMESTIC"
}

const withoutCustomers: Breaking = (payload) =>
  hasCustomers(payload) && !typesWithoutCustomer.test(typeOf(payload))
    ? at("customers", "required", drop(payload, "customers"))
    : null

const withNoCustomers: Breaking = (payload) =>
  hasCustomers(payload) && !typesWithoutCustomer.test(typeOf(payload))
    ? at("customers", "required", put(payload, "customers", []))
    : null

const withoutFamilyName: Breaking = (payload) =>
  hasCustomers(payload) && typeOf(payload) === "DOMESTIC"
    ? at("customers.0", "customer_family_name_required", drop(payload, "customers.0.family_name"))
    : null

const unknownCustomer: Breaking = (payload) => {
  if (!hasCustomers(payload)) return null
  const [address] = objectsAt(payload, "supply_addresses")
  const alone = put(payload, "supply_addresses", address === undefined ? [] : [address])
  return at(
    "non_field_errors",
    "customer_with_unknown_occupier",
    put(alone, "unknown_occupier", true)
  )
}

const address = (line: string): Wire => ({
  supply_address1: line,
  supply_postcode: "8000",
  customer_at_supply_address_from_date: "2020-01-01"
})

const occupierOfTwo: Breaking = (payload) =>
  at(
    "non_field_errors",
    "occupier_account_with_multiple_supply_addresses",
    putAll(payload, {
      unknown_occupier: true,
      customers: [],
      supply_addresses: [address("A 1"), address("A 2")]
    })
  )

const addressTwice: Breaking = (payload) => {
  const customers = hasCustomers(payload) ? {} : { customers: [{ family_name: "Holm" }] }
  const supply_addresses = [address("A 1"), address("A 1")]
  const body = putAll(payload, { unknown_occupier: false, ...customers, supply_addresses })
  return at("supply_addresses", "duplicate_supply_addresses_found", body)
}

const twoStreets: Breaking = (payload) => {
  const body = put(payload, "billing_address", {
    country: "DK",
    street_address: "A 1",
    structured_street_address: { street: "A" }
  })
  return at("billing_address", "fields_are_mutually_exclusive", body)
}

const otherTransfer: Breaking = (payload, now) => {
  const balance = { ledger_balance: -5, current_statement_transactions: listOf(now) }
  const body = putAll(payload, { ledgers: [ledgerOf(balance)], transfer_balance: "-4.99" })
  return at("non_field_errors", "ledger_balances_not_equal_to_transfer_balance", body)
}

const sameIds: Breaking = (payload, now) => {
  const [one] = planted(
    payload,
    "ledgers",
    ledgerOf({ current_statement_transactions: listOf(now) })
  )
  const other = { ledger_code: "another", current_statement_transactions: listOf(now) }
  const [body] = planted(one, "ledgers", other)
  return at("non_field_errors", "duplicate_transaction_ids", body)
}

const statement = (fields: Wire): Wire => ({
  statement_id: "an id of its own",
  bill_period_from_date: "2025-01-01",
  bill_period_to_date: "2025-01-31",
  ...fields
})

const backwardsStatement: Breaking = (payload) => {
  const backwards = statement({ bill_period_to_date: "2024-12-31" })
  const [body, place] = planted(payload, "statements", backwards)
  return at(place, "start_date_later_than_end_date", body)
}

const unstorable: Breaking = (payload) => {
  const entry = { key: "a key of its own", value: { a: [1, { b: "\0" }] } }
  const [body, place] = planted(payload, "metadata", entry)
  return at(`${place}.value.a.1.b`, "invalid", body)
}

const later = (now: DateTime.Utc, seconds: number) =>
  DateTime.formatIso(DateTime.add(now, { seconds }))

const yesterday = (now: DateTime.Utc) => dayOf(DateTime.subtract(now, { days: 1 }))
const tomorrow = (now: DateTime.Utc) => dayOf(DateTime.add(now, { days: 1 }))

const historicalLedger = (now: DateTime.Utc, fields: Wire): Wire => ({
  historical_statement_transactions: listOf(now, -1),
  last_statement_balance: -5,
  last_statement_closing_date: yesterday(now),
  ...fields
})

const sum = "ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount"

/** Every rule between fields. */
export const ruleBreakings: Readonly<Record<string, Breaking>> = {
  "no customers": withoutCustomers,
  "an empty list of customers": withNoCustomers,
  "a customer without family name": withoutFamilyName,
  "customers of an unknown occupier": unknownCustomer,
  "an unknown occupier at two addresses": occupierOfTwo,
  "two streets": twoStreets,
  "billing without period": options("account_billing_options_period_data_required", {}),
  "industry billing with period": options(
    "account_billing_options_industry_billing_with_period_data",
    { use_industry_billing: true, period_start_day: 1 }
  ),
  "a quarter without month": options("account_billing_options_period_start_month_required", {
    period_length: "QUARTERLY",
    period_start_day: 1
  }),
  "an address twice": addressTwice,
  "a metadata key twice": twice("metadata_has_duplicate_keys", "metadata", "metadata", {
    key: "a key of its own",
    value: {}
  }),
  "text that no database stores": unstorable,
  "a ledger twice": twice("duplicate_ledger_entries_found", "ledgers", "ledgers", ledgerOf({})),
  "a statement twice": twice("duplicate_statement_ids", "statements", "statements", statement({})),
  "a statement backwards": backwardsStatement,
  "an empty note": note("note_body_or_document_path_not_found", () => ({ is_pinned: true })),
  "a note unpinned before it is created": note(
    "note_unpin_at_earlier_than_creation_date",
    (now) => ({ body: "B", created_at: later(now, 1), unpin_at: later(now, 0) })
  ),
  "a note unpinned before now": note("note_unpin_at_earlier_than_creation_date", (now) => ({
    body: "B",
    unpin_at: later(now, -1)
  })),
  "a history that does not add up": ledger(
    "historical_statement_transactions_balance_mismatch",
    (now) => historicalLedger(now, { last_statement_balance: "-4.99" })
  ),
  "a balance that does not add up": ledger("balance_mismatch_on_ledger_balance", (now) =>
    historicalLedger(now, { ledger_balance: "-5.01" })
  ),
  "a transfer that does not add up": otherTransfer,
  "a history without closing date": ledger(
    "historical_statement_transactions_require_last_statement_closing_date",
    (now) => drop(historicalLedger(now, {}), "last_statement_closing_date")
  ),
  "a history after the closing date": ledger(
    "historical_statement_transaction_after_last_statement_closing_date",
    (now) => historicalLedger(now, { historical_statement_transactions: listOf(now) })
  ),
  "a present before the closing date": ledger(
    "current_statement_transaction_before_last_statement_closing_date",
    (now) => ({
      current_statement_transactions: listOf(now),
      last_statement_closing_date: dayOf(now)
    })
  ),
  "a closing date in the future": ledger("historical_statement_period_end_in_future", (now) => ({
    last_statement_closing_date: tomorrow(now)
  })),
  "an id on two ledgers": sameIds,
  "a transaction in the future": transaction(
    "transaction_in_future",
    ".transaction_date",
    (now) => ({ transaction_date: tomorrow(now) })
  ),
  "a payment of nothing": transaction("min_value", ".amount", () => ({
    type: "PAYMENT",
    amount: 0
  })),
  "a repayment backwards": transaction("min_value", ".amount", () => ({
    type: "REPAYMENT",
    amount: "-0.01"
  })),
  "a payment with a type of repayments": transaction("invalid_choice", ".payment_type", () => ({
    type: "PAYMENT",
    payment_type: "CARD_REFUND"
  })),
  "a supply charge without product": transaction("required", ".product_code", () => ({
    type: "SUPPLY_CHARGE"
  })),
  "a reason on a supply charge": forType("SUPPLY_CHARGE", "reason", "R"),
  "a reference on a charge": forType("CHARGE", "reference", "R"),
  "a payment type on a credit": forType("CREDIT", "payment_type", "CASH"),
  "a product on a payment": forType("PAYMENT", "product_code", "P"),
  "line items on a charge": forType("CHARGE", "line_items", []),
  "tax items on a credit": forType("CREDIT", "tax_items", []),
  "an amount that is not that of the items": transaction(sum, "", () => ({
    ...supplyCharge,
    amount: "0.01",
    line_items: []
  })),
  "a line item backwards": lineItem("start_date_later_than_end_date", "", {
    end_date: "2024-12-31"
  }),
  "a net amount that is not price times units": lineItem("incorrect_line_item_net_amount", "", {
    price_per_unit: "5.01"
  }),
  "one reading": lineItem("line_item_units_must_be_two_values", ".units", { units: [1] })
}
