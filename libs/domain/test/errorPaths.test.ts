/**
 * The paths and the order of errors.
 * Source: docs/contract/errors.md#where-errors-point, docs/contract/errors.md#order-of-errors.
 */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import * as Json from "../src/schema/Json.ts"
import { domesticPayload } from "../testing/samples.ts"
import { drop, get, putAll, type Wire } from "../testing/wire.ts"
import { errorsIn, errorsInProcess, errorsInRequest, errorsWith } from "./validationErrors.ts"

const with_ = (values: Wire): Wire => putAll(domesticPayload(), values)
const ofProcess = (values: Wire = {}): Wire =>
  putAll(
    {
      payload: {
        import_supplier: "DEMO_ENERGY",
        external_account_number: "NL-0004711",
        operations_team_name: "Migration Team"
      }
    },
    values
  )

/** A number that keeps its spelling, which the platform represents as an object. */
const longNumber = Result.getOrThrow(Json.parse("12345678901234567890"))

const noObjects: ReadonlyArray<[string, unknown, string]> = [
  ["null", null, "null"],
  ["a list", [], "not_an_object"],
  ["text", "{}", "not_an_object"],
  ["a boolean", true, "not_an_object"],
  ["a number", 5, "not_an_object"],
  ["a number that no double holds", longNumber, "not_an_object"]
]

describe("the payload wrapper", () => {
  it.each(noObjects)("is reported at payload if it is %s", (_name, payload, code) => {
    expect(errorsInRequest({ payload })).toEqual([`payload ${code}`])
    expect(errorsInProcess({ payload })).toEqual([`payload ${code}`])
  })

  it.each(noObjects)("is reported as missing in a body that is %s", (_name, body, code) => {
    expect(errorsInRequest(body)).toEqual([`payload ${code}`])
    expect(errorsInProcess(body)).toEqual([`payload ${code}`])
  })

  it("is reported as missing after the members that were sent", () => {
    expect(errorsInRequest({})).toEqual(["payload required"])
    expect(errorsInProcess({})).toEqual(["payload required"])
    const misspelled = ["Payload unknown_field", "payload required"]
    expect(errorsInRequest({ Payload: {} })).toEqual(misspelled)
    expect(errorsInProcess({ Payload: {} })).toEqual(misspelled)
  })

  it("is not part of the paths inside it", () => {
    const payload = with_({ "customers.0.landline": "12345", "customers.1.titel": "Mr" })
    const inside = ["customers.0.landline invalid_phone_number", "customers.1.titel unknown_field"]
    expect(errorsInRequest({ payload })).toEqual(inside)
    expect(errorsIn(payload)).toEqual(inside)
  })

  it("does not hide an unknown member next to it, whatever its name", () => {
    const payload = with_({})
    expect(errorsInRequest({ extra: 1, payload })).toEqual(["extra unknown_field"])
    expect(errorsInRequest({ payload, customers: [] })).toEqual(["customers unknown_field"])
    expect(errorsInRequest({ payload, task_params: {} })).toEqual(["task_params unknown_field"])
    expect(errorsInProcess({ ...ofProcess(), dry_run: true })).toEqual(["dry_run unknown_field"])
  })

  it("is an unknown member inside itself", () => {
    const errors = errorsInRequest({ payload: { payload: with_({}) } })
    expect(errors.slice(0, 2)).toEqual(["payload unknown_field", "import_supplier required"])
  })
})

describe("an error of a rule about several fields", () => {
  const payload = with_({
    "ledgers.0.ledger_balance": 51,
    "customers.1.family_name": "",
    "account_billing_options.period_length": "QUARTERLY",
    customers: get(with_({ "customers.1.family_name": "" }), "customers"),
    unknown_occupier: true
  })

  it("has the path of its object, or non_field_errors for the whole payload", () => {
    const errors = [
      "customers.1 customer_family_name_required",
      "account_billing_options account_billing_options_period_start_month_required",
      "ledgers.0 balance_mismatch_on_ledger_balance",
      "non_field_errors customer_with_unknown_occupier",
      "non_field_errors ledger_balances_not_equal_to_transfer_balance"
    ]
    expect(errorsIn(payload)).toEqual(errors)
    expect(errorsInRequest({ payload })).toEqual(errors)
  })

  it("comes after the errors of the object's members", () => {
    const ledger = {
      colour: "red",
      ledger_code: "",
      last_statement_closing_date: "2026-01-16"
    }
    expect(errorsIn(with_({ "ledgers.1": ledger }))).toEqual([
      "ledgers.1.colour unknown_field",
      "ledgers.1.ledger_code blank",
      "ledgers.1 historical_statement_period_end_in_future"
    ])
  })
})

describe("the order of errors", () => {
  const broken: ReadonlyArray<[string, unknown, string]> = [
    ["transfer_balance", "x", "transfer_balance invalid"],
    ["billing_email", "x", "billing_email invalid_email"],
    ["account_type", "x", "account_type invalid_choice"],
    ["unknown", "x", "unknown unknown_field"],
    ["customers", {}, "customers not_a_list"],
    ["billing_address", { locality: 5 }, "billing_address.locality invalid_type"]
  ]

  it.each([broken, broken.toReversed(), [...broken.slice(3), ...broken.slice(0, 3)]])(
    "follows the members as sent",
    (...fields) => {
      const sent = Object.fromEntries(fields.map(([name, value]) => [name, value]))
      const inside = ["billing_address.country required"]
      expect(errorsIn(sent)).toEqual([
        ...fields.flatMap(([name, , error]) =>
          name === "billing_address" ? [error, ...inside] : [error]
        ),
        "import_supplier required",
        "external_account_number required"
      ])
    }
  )

  it("puts missing members after sent ones, in the order of the documentation", () => {
    const item = { rate: 0.25, amount: "x" }
    const path = "ledgers.0.current_statement_transactions.1.tax_items"
    expect(errorsIn(with_({ [path]: [item] }))).toEqual([
      `${path}.0.amount invalid`,
      `${path}.0.tax_type required`,
      `${path}.0.value_taxed required`,
      `${path}.0.unit_type required`
    ])
  })
})

describe("an error", () => {
  it("never hides an independent one", () => {
    const payload = with_({
      import_supplier: null,
      "customers.0.landline": "12345",
      "customers.1.family_name": " ",
      "billing_address.country": "Denmark",
      "ledgers.0.ledger_code": 5,
      "ledgers.0.ledger_balance": 51,
      "statements.1.statement_id": "NL-S-2025-01",
      "statements.0.bill_period_to_date": "2024-12-31",
      "notes.1.unpin_at": "2025-02-28T08:00:00Z"
    })
    expect(errorsIn(payload)).toEqual([
      "import_supplier null",
      "customers.0.landline invalid_phone_number",
      "customers.1 customer_family_name_required",
      "billing_address.country invalid_country_code",
      "notes.1 note_unpin_at_earlier_than_creation_date",
      "ledgers.0.ledger_code invalid_type",
      "ledgers.0 balance_mismatch_on_ledger_balance",
      "statements.0 start_date_later_than_end_date",
      "statements duplicate_statement_ids",
      "non_field_errors ledger_balances_not_equal_to_transfer_balance"
    ])
  })

  it.each<[string, Wire, ReadonlyArray<string>]>([
    [
      "an amount skips the sum of its list, not that of the other list",
      {
        "ledgers.0.current_statement_transactions.0.amount": "x",
        "ledgers.0.last_statement_balance": 26
      },
      [
        "ledgers.0.current_statement_transactions.0.amount invalid",
        "ledgers.0 historical_statement_transactions_balance_mismatch"
      ]
    ],
    [
      "a transaction type skips the sums it counts for, not the dates",
      {
        "ledgers.0.current_statement_transactions.0.type": "GIFT",
        "ledgers.0.current_statement_transactions.0.transaction_date": "2025-02-28"
      },
      [
        "ledgers.0.current_statement_transactions.0.type invalid_choice",
        "ledgers.0 current_statement_transaction_before_last_statement_closing_date"
      ]
    ],
    [
      "a ledger balance skips its own sum and that of the transfer",
      { "ledgers.0.ledger_balance": "fifty", transfer_balance: 51 },
      ["ledgers.0.ledger_balance invalid"]
    ],
    [
      "one id of several does not hide that two others are the same",
      {
        "ledgers.0.current_statement_transactions.0.transaction_id": "",
        "ledgers.0.current_statement_transactions.1.transaction_id": "NL-T-1001"
      },
      [
        "ledgers.0.current_statement_transactions.0.transaction_id blank",
        "non_field_errors duplicate_transaction_ids"
      ]
    ],
    [
      "the unit price skips the net amount, not the readings",
      {
        "ledgers.0.current_statement_transactions.1.line_items.0.price_per_unit": "x",
        "ledgers.0.current_statement_transactions.1.line_items.0.units": [1]
      },
      [
        "ledgers.0.current_statement_transactions.1.line_items.0.price_per_unit invalid",
        "ledgers.0.current_statement_transactions.1.line_items.0.units " +
          "line_item_units_must_be_two_values"
      ]
    ]
  ])("suppresses only the rules that need the invalid field: %s", (_name, values, expected) => {
    expect(errorsIn(with_(values))).toEqual(expected)
  })

  it("of a transaction does not suppress a rule that needs only the field's name", () => {
    const path = "ledgers.0.current_statement_transactions.2.payment_type"
    expect(errorsIn(with_({ [path]: 5 }))).toEqual([
      `${path} invalid_type`,
      `${path} field_not_allowed_for_transaction_type`
    ])
  })
})

describe("the import supplier", () => {
  const unknown = { supplierExists: false }

  it("is reported as unknown together with all other errors", () => {
    const errors = ["import_supplier import_supplier_does_not_exist"]
    expect(errorsWith(unknown, with_({}))).toEqual(errors)
    expect(errorsInRequest({ payload: with_({}) }, unknown)).toEqual(errors)
    expect(errorsInProcess(ofProcess(), unknown)).toEqual(errors)
    expect(errorsWith(unknown, with_({ billing_name: 5 }))).toEqual([
      ...errors,
      "billing_name invalid_type"
    ])
  })

  it.each<[string, unknown, string]>([
    ["no text", 5, "invalid_type"],
    ["null", null, "null"],
    ["blank", " ", "blank"],
    ["too long", "S".repeat(33), "max_length"]
  ])("is not looked up if it is %s", (_name, import_supplier, code) => {
    const errors = [`import_supplier ${code}`]
    expect(errorsWith(unknown, with_({ import_supplier }))).toEqual(errors)
    const body = ofProcess({ "payload.import_supplier": import_supplier })
    expect(errorsInProcess(body, unknown)).toEqual(errors)
  })

  it("is not looked up if it is missing", () => {
    const errors = ["import_supplier required"]
    expect(errorsWith(unknown, drop(with_({}), "import_supplier"))).toEqual(errors)
    expect(errorsInProcess(drop(ofProcess(), "payload.import_supplier"), unknown)).toEqual(errors)
  })
})
