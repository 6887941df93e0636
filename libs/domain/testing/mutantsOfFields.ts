/**
 * Everything that can be wrong with a single field, stated independently of the schema: for every
 * documented field its invalid values, each with the expected code. No value here breaks a second
 * rule.
 */
import type { FieldCode } from "../src/codes/Code.ts"
import { get, isWire, type Wire } from "./wire.ts"

/** A value that a field must not have. */
interface Wrong {
  readonly called: string
  readonly value: unknown
  readonly code: FieldCode
}

/** The documented rules of a field that a single value can break. */
type Documented =
  | { readonly kind: "leaf"; readonly wrong: ReadonlyArray<Wrong> }
  | { readonly kind: "list"; readonly element: Documented }
  | {
      readonly kind: "object"
      readonly needed: ReadonlyArray<string>
      readonly members: Readonly<Record<string, Documented>>
    }

const wrong =
  (code: FieldCode) =>
  (...values: ReadonlyArray<unknown>): ReadonlyArray<Wrong> =>
    values.map((value) => ({
      called: `${code}: ${JSON.stringify(value)}`.slice(0, 80),
      value,
      code
    }))

const leaf = (...groups: ReadonlyArray<ReadonlyArray<Wrong>>): Documented => ({
  kind: "leaf",
  wrong: groups.flat()
})

const isNull = wrong("null")(null)
const isBlank = wrong("blank")("", " \t\n")
const isUnstorable = wrong("invalid")("a\0b", "a\ud800b", "\udc00")
const isNoText = [...isNull, ...wrong("invalid_type")(5, true, [], {}, ["a"])]

const text = (max: number) =>
  leaf(isNoText, isUnstorable, wrong("max_length")("x".repeat(max + 1), "😀".repeat(max + 1)))

const filled = (max: number) =>
  leaf(isNoText, isUnstorable, isBlank, wrong("max_length")("x".repeat(max + 1)))

const flag = leaf(isNull, wrong("invalid_type")("true", 0, 1, "", [], {}))
const nullableFlag = leaf(wrong("invalid_type")("true", 0, "", [], {}))

const choice = leaf(isNoText, isBlank, wrong("invalid_choice")("NOTHING", "domestic", "__proto__"))
const openChoice = leaf(
  isNoText,
  isBlank,
  isUnstorable,
  wrong("invalid_choice")("NOTHING", "direct")
)

const date = leaf(
  isNoText,
  isBlank,
  wrong("invalid_date")(
    "2025-02-29",
    "2025-13-01",
    "20250101",
    "2025-01-01T00:00:00Z",
    "01-01-2025"
  )
)

const birth = leaf(
  isNoText,
  isBlank,
  wrong("invalid_date")("1980-02-30"),
  wrong("min_value")("1899-12-31"),
  wrong("max_value")("9999-12-31")
)

const instant = leaf(
  isNoText,
  isBlank,
  wrong("invalid_datetime")(
    "2025-01-01",
    "2025-01-01T10:00:00",
    "2025-02-29T10:00:00Z",
    `2025-01-01T10:00:00.${"0".repeat(44)}Z`,
    "now"
  )
)

const email = leaf(
  isNoText,
  isUnstorable,
  isBlank,
  wrong("invalid_email")("a.b.c", "a@b", "a b@example.com"),
  wrong("max_length")(`${"a".repeat(243)}@example.com`)
)

const phone = leaf(
  isNoText,
  isUnstorable,
  isBlank,
  wrong("invalid_phone_number")("20314579", "+45", "+9991234567")
)

const path = leaf(
  isNoText,
  isBlank,
  wrong("invalid_document_path")("../a", "a//b", "C:\\a", "a\0", "s3://a"),
  wrong("max_length")("x".repeat(1_025))
)

const whole = (min: number, max: number, ...none: ReadonlyArray<Wrong>) =>
  leaf(
    none,
    wrong("invalid_type")("1", 1.5, true, [], {}),
    wrong("min_value")(min - 1, -1),
    wrong("max_value")(max + 1, 1e21)
  )

/** A decimal with at most `before` digits before the point and `after` after it. */
const decimal = (before: number, after: number) => {
  const large = `1${"0".repeat(before)}`
  const fine = `0.${"0".repeat(after)}1`
  return leaf(
    isNull,
    wrong("invalid_type")(true, [], {}, [1]),
    isBlank,
    wrong("invalid")("12,50", "1e3", "+1", "x", "0x10", "1."),
    wrong("max_digits")(large, `-${large}`, Number(large), 1e30),
    wrong("max_decimal_places")(fine, `-${fine}`, Number(fine), 1e-30)
  )
}

const free = leaf(isNull, wrong("not_an_object")("{}", [], 5, true))
const nullableFree = leaf(wrong("not_an_object")("{}", [], 5, true))

const list = (element: Documented): Documented => ({ kind: "list", element })

const object = (
  needed: Readonly<Record<string, Documented>>,
  others: Readonly<Record<string, Documented>>
): Documented => ({
  kind: "object",
  needed: Object.keys(needed),
  members: { ...needed, ...others }
})

const customer = object(
  {},
  {
    given_name: text(255),
    family_name: text(255),
    email,
    mobile: phone,
    landline: phone,
    date_of_birth: birth,
    title: text(20),
    salutation: text(128),
    customer_preferences: object(
      {},
      {
        opted_into_sms: flag,
        opted_into_recommended: flag,
        opted_into_updates: flag,
        opted_into_third_parties: flag,
        opted_into_offers: flag,
        is_user_psr_consent_obtained: nullableFlag
      }
    )
  }
)

const billingAddress = object(
  {
    country: leaf(
      isNoText,
      isUnstorable,
      isBlank,
      wrong("invalid_country_code")("Denmark", "XX", "ß", "D")
    )
  },
  {
    name: text(256),
    organization: text(256),
    street_address: text(512),
    locality: text(512),
    postal_code: text(32),
    delivery_point_identifier: leaf(
      isNoText,
      wrong("invalid_delivery_point_identifier")("dk8000", "DK-8000", "X".repeat(12))
    ),
    structured_street_address: nullableFree
  }
)

const note = object(
  {},
  {
    body: filled(10_000),
    document_paths: list(object({ document_path: path }, {})),
    created_at: instant,
    is_pinned: flag,
    unpin_at: instant
  }
)

const lineItem = object(
  {
    start_date: date,
    end_date: date,
    number_of_units: decimal(12, 4),
    net_amount: decimal(10, 10)
  },
  { rate_band: filled(64), price_per_unit: decimal(8, 7), units: list(decimal(12, 4)) }
)

const taxItem = object(
  {
    amount: decimal(10, 10),
    tax_type: filled(32),
    value_taxed: decimal(15, 5),
    rate: decimal(15, 5),
    unit_type: choice
  },
  {}
)

const transaction = object(
  { transaction_id: filled(128), transaction_date: date, amount: decimal(10, 2), type: choice },
  {
    reason: text(128),
    display_note: text(2_000),
    note: text(2_000),
    reference: text(512),
    payment_type: openChoice,
    product_code: filled(64),
    line_items: list(lineItem),
    tax_items: list(taxItem)
  }
)

const ledger = object(
  { ledger_code: filled(64) },
  {
    last_statement_balance: decimal(10, 2),
    last_statement_closing_date: date,
    ledger_balance: decimal(10, 2),
    current_statement_transactions: list(transaction),
    historical_statement_transactions: list(transaction)
  }
)

const account = object(
  {
    import_supplier: filled(32),
    external_account_number: leaf(
      isNoText,
      isBlank,
      wrong("invalid")(" a", "a\u0085b", "..", "a\ud800"),
      wrong("max_length")("x".repeat(129))
    )
  },
  {
    unknown_occupier: flag,
    customers: list(customer),
    billing_email: email,
    billing_name: text(510),
    billing_sub_name: text(256),
    billing_customer_reference: text(256),
    billing_address: billingAddress,
    account_billing_options: object(
      {},
      {
        period_length: choice,
        period_start_day: whole(1, 28, ...isNull),
        period_start_month: whole(1, 12),
        use_industry_billing: flag
      }
    ),
    account_type: choice,
    date_of_sale: date,
    sales_channel: openChoice,
    sales_subchannel: text(256),
    communication_preference: choice,
    document_accessibility: choice,
    notes: list(note),
    ledgers: list(ledger),
    transfer_balance: decimal(10, 2),
    statements: list(
      object(
        { bill_period_from_date: date, bill_period_to_date: date, statement_id: filled(128) },
        { statement_path: path }
      )
    ),
    metadata: list(object({ key: filled(1_024), value: free }, {})),
    operations_team_name: text(128),
    supply_addresses: list(
      object(
        {
          customer_at_supply_address_from_date: date,
          supply_postcode: filled(10),
          supply_address1: filled(512)
        },
        { primary_place_of_residence_since: date }
      )
    )
  }
)

/** One error of one field: the value to put at the path, or that it is removed. */
export interface FieldMutation {
  readonly called: string
  readonly path: ReadonlyArray<string | number>
  readonly value: unknown
  readonly isDropped: boolean
  readonly code: FieldCode
}

const undocumented = ["surprise", "__proto__", "constructor", "Amount", ""]

const tooLong = 10_001

const ofList = (at: FieldMutation["path"], elements: ReadonlyArray<unknown>) => {
  const broken = [...isNull, ...wrong("not_a_list")({}, "[]", 5, true)].map((other) => ({
    ...other,
    path: at
  }))
  const long = {
    called: "max_length: too many elements",
    path: at,
    value: new Array<unknown>(tooLong).fill(elements[0] ?? null),
    code: "max_length" as const
  }
  const hole = { called: "null: an element", path: [...at, 0], value: null, code: "null" as const }
  return elements.length === 0 ? [...broken, long] : [...broken, long, hole]
}

const ofObject = (
  at: FieldMutation["path"],
  needed: ReadonlyArray<string>
): ReadonlyArray<FieldMutation> => {
  const others = [...isNull, ...wrong("not_an_object")([], "{}", 5, true)]
  return [
    ...(at.length === 0 ? [] : others.map((other) => ({ ...other, path: at, isDropped: false }))),
    ...undocumented.map((name) => ({
      called: `unknown_field: ${name}`,
      path: [...at, name],
      value: { a: 1 },
      isDropped: false,
      code: "unknown_field" as const
    })),
    ...needed.map((name) => ({
      called: `required: ${name}`,
      path: [...at, name],
      value: undefined,
      isDropped: true,
      code: "required" as const
    }))
  ]
}

const mutationsIn = (
  documented: Documented,
  value: unknown,
  at: FieldMutation["path"]
): ReadonlyArray<FieldMutation> => {
  switch (documented.kind) {
    case "leaf":
      return documented.wrong.map((other) => ({ ...other, path: at, isDropped: false }))
    case "list": {
      const elements = Array.isArray(value) ? (value as ReadonlyArray<unknown>) : []
      return [
        ...ofList(at, elements).map((other) => ({ ...other, isDropped: false })),
        ...elements.flatMap((element, index) =>
          mutationsIn(documented.element, element, [...at, index])
        )
      ]
    }
    case "object":
      if (!isWire(value)) return []
      return [
        ...ofObject(at, documented.needed),
        ...Object.entries(documented.members).flatMap(([name, member]) =>
          Object.hasOwn(value, name) ? mutationsIn(member, get(value, [name]), [...at, name]) : []
        )
      ]
  }
}

/** Every error that one field of this valid payload can have. */
export const fieldMutations = (payload: Wire): ReadonlyArray<FieldMutation> =>
  mutationsIn(account, payload, [])
