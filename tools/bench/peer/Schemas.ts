/** The requests as JSON Schema, with the field keywords of this peer. */
import { enumerations } from "./Enumerations.ts"

type Members = Readonly<Record<string, object>>

const object = (required: Members, optional: Members = {}) => ({
  type: "object",
  properties: { ...required, ...optional },
  required: Object.keys(required),
  additionalProperties: false
})

const list = (items: object) => ({ type: "array", items, maxItems: 10_000 })
const text = (keyword: string, options: unknown = true) => ({ type: "string", [keyword]: options })
const words = (max: number) => text("words", max)
const filled = (max: number) => text("filled", max)
const choice = (values: ReadonlyArray<string>) => text("choice", values)
const figure = (before: number, after: number) => ({ figure: { before, after } })
const day = text("day")
const instant = text("instant")
const flag = { type: "boolean" }
const money = figure(10, 2)
const documentPath = text("documentPath")

const key = { import_supplier: filled(32), external_account_number: text("accountNumber") }

const lineItem = object(
  {
    start_date: day,
    end_date: day,
    number_of_units: figure(12, 4),
    net_amount: figure(10, 10)
  },
  { rate_band: filled(64), price_per_unit: figure(8, 7), units: list(figure(12, 4)) }
)

const taxItem = object({
  amount: figure(10, 10),
  tax_type: filled(32),
  value_taxed: figure(15, 5),
  rate: figure(15, 5),
  unit_type: choice(["PROPORTION", "CURRENCY_PER_KWH"])
})

const transaction = object(
  {
    transaction_id: filled(128),
    transaction_date: day,
    amount: { amount: { before: 10, after: 2 } },
    type: choice(["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"])
  },
  {
    reason: words(128),
    display_note: words(2_000),
    note: words(2_000),
    reference: words(512),
    payment_type: filled(128),
    product_code: filled(64),
    line_items: list(lineItem),
    tax_items: list(taxItem)
  }
)

const ledger = object(
  { ledger_code: filled(64) },
  {
    last_statement_balance: money,
    last_statement_closing_date: day,
    ledger_balance: money,
    current_statement_transactions: list(transaction),
    historical_statement_transactions: list(transaction)
  }
)

const preferences = object(
  {},
  {
    opted_into_sms: flag,
    opted_into_recommended: flag,
    opted_into_updates: flag,
    opted_into_third_parties: flag,
    opted_into_offers: flag,
    is_user_psr_consent_obtained: { type: ["boolean", "null"] }
  }
)

const customer = object(
  {},
  {
    given_name: words(255),
    family_name: words(255),
    email: text("email"),
    mobile: text("phone"),
    landline: text("phone"),
    date_of_birth: day,
    title: words(20),
    salutation: words(128),
    customer_preferences: preferences
  }
)

const billingAddress = object(
  { country: text("country") },
  {
    name: words(256),
    organization: words(256),
    street_address: words(512),
    locality: words(512),
    postal_code: words(32),
    delivery_point_identifier: text("deliveryPoint"),
    structured_street_address: { type: ["object", "null"], free: true }
  }
)

const billingOptions = object(
  {},
  {
    period_length: choice(["MONTHLY", "QUARTERLY"]),
    period_start_day: { type: "integer", minimum: 1, maximum: 28 },
    period_start_month: { type: ["integer", "null"], minimum: 1, maximum: 12 },
    use_industry_billing: flag
  }
)

const note = object(
  {},
  {
    body: filled(10_000),
    document_paths: list(object({ document_path: documentPath })),
    created_at: instant,
    is_pinned: flag,
    unpin_at: instant
  }
)

const account = object(key, {
  unknown_occupier: flag,
  customers: list(customer),
  billing_email: text("email"),
  billing_name: words(510),
  billing_sub_name: words(256),
  billing_customer_reference: words(256),
  billing_address: billingAddress,
  account_billing_options: billingOptions,
  account_type: choice(enumerations.account_type),
  date_of_sale: day,
  sales_channel: filled(128),
  sales_subchannel: words(256),
  communication_preference: choice(["ONLINE", "PRINT"]),
  document_accessibility: choice(["LARGE_PRINT", "BRAILLE", "SPOKEN"]),
  notes: list(note),
  ledgers: list(ledger),
  transfer_balance: money,
  statements: list(
    object(
      { bill_period_from_date: day, bill_period_to_date: day, statement_id: filled(128) },
      { statement_path: documentPath }
    )
  ),
  metadata: list(object({ key: filled(1_024), value: { type: "object", free: true } })),
  operations_team_name: words(128),
  supply_addresses: list(
    object(
      {
        customer_at_supply_address_from_date: day,
        supply_postcode: filled(10),
        supply_address1: filled(512)
      },
      { primary_place_of_residence_since: day }
    )
  )
})

/** The body of validate and stage. */
export const accountRequest = object({ payload: account })

export const processRequest = object(
  {
    payload: object({ ...key, operations_team_name: filled(128) }, { dry_run: flag })
  },
  { task_params: object({}) }
)

export const transactionsRequest = object({ ...key, transactions: list(transaction) })
