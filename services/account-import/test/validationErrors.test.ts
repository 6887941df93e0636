import { describe, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { type Wire } from "@data-import/domain/testing/wire"
import { team } from "@data-import/postgres/testing/serviceDatabase"
import { errorsOf, post } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { processPath, service, stage, validate } from "./importService.ts"

const failed = "account_failed_validation"

/** An account with a different error in each part. */
const brokenAccount = ({ keyOf }: Tenant): Wire => ({
  favourite_colour: "blue",
  ...keyOf("x"),
  external_account_number: " x",
  customers: [
    { landline: "12345", given_name: 5, date_of_birth: "1981-02-30" },
    { family_name: "Holm", email: "", email2: "", customer_preferences: { opted_into_sms: null } }
  ],
  billing_email: "astrid at example.com",
  billing_name: "x".repeat(511),
  billing_address: { street_address: "a", structured_street_address: {}, country: "Denmark" },
  account_billing_options: { period_length: "QUARTERLY", period_start_day: 29 },
  account_type: "DOMESTIC",
  sales_channel: "CARRIER_PIGEON",
  notes: [{}, { body: " ", document_paths: {} }],
  ledgers: [
    {
      ledger_code: "L",
      ledger_balance: 51,
      current_statement_transactions: [
        { type: "PAYMENT", transaction_id: "T", transaction_date: "2999-01-01", amount: -1 },
        { transaction_id: "T", transaction_date: "2025-01-01", amount: 1.005, type: "CHARGE" }
      ]
    },
    { ledger_code: "L", historical_statement_transactions: null }
  ],
  transfer_balance: "1e2",
  metadata: [
    { key: "a", value: [] },
    { value: {}, key: "a" }
  ],
  supply_addresses: "Pilevangen 14",
  unknown_occupier: "no"
})

/** In the order of the body: the rules of an object after its members, those of the whole last. */
const brokenPlaces = [
  "favourite_colour: unknown_field",
  "external_account_number: invalid",
  "customers.0.landline: invalid_phone_number",
  "customers.0.given_name: invalid_type",
  "customers.0.date_of_birth: invalid_date",
  "customers.0: customer_family_name_required",
  "customers.1.email: blank",
  "customers.1.email2: unknown_field",
  "customers.1.customer_preferences.opted_into_sms: null",
  "billing_email: invalid_email",
  "billing_name: max_length",
  "billing_address.country: invalid_country_code",
  "billing_address: fields_are_mutually_exclusive",
  "account_billing_options.period_start_day: max_value",
  "account_billing_options: account_billing_options_period_start_month_required",
  "sales_channel: invalid_choice",
  "notes.0: note_body_or_document_path_not_found",
  "notes.1.body: blank",
  "notes.1.document_paths: not_a_list",
  "ledgers.0.current_statement_transactions.0.transaction_date: transaction_in_future",
  "ledgers.0.current_statement_transactions.0.amount: min_value",
  "ledgers.0.current_statement_transactions.1.amount: max_decimal_places",
  "ledgers.1.historical_statement_transactions: null",
  "ledgers: duplicate_ledger_entries_found",
  "transfer_balance: invalid",
  "metadata.0.value: not_an_object",
  "metadata: metadata_has_duplicate_keys",
  "supply_addresses: not_a_list",
  "unknown_occupier: invalid_type",
  "non_field_errors: duplicate_transaction_ids"
]

layer(service, { excludeTestServices: true })("what is wrong with a request", (it) => {
  describe("the errors of an account", () => {
    it.effect("are all reported at once, in the order of the payload", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        for (const send of [validate, stage]) {
          const reply = yield* send(tenant, brokenAccount(tenant))
          expect(reply.status).toBe(400)
          expect(errorsOf(reply)).toEqual([failed, ...brokenPlaces])
          expect(Object.keys(reply.json as object)).toEqual(["detail", "code", "errors"])
        }
      })
    )
  })

  describe("a process request", () => {
    it.effect("has the same wrapper, and task_params without members", () =>
      Effect.gen(function* () {
        const { keyOf, token } = yield* freshTenant()
        const payload = { ...keyOf("1"), operations_team_name: team }
        const errors = (body: unknown) => Effect.map(post(processPath, token, body), errorsOf)
        expect(yield* errors({})).toEqual([failed, "payload: required"])
        expect(yield* errors({ payload: {}, task_params: null, extra: 1 })).toEqual([
          failed,
          "import_supplier: required",
          "external_account_number: required",
          "operations_team_name: required",
          "task_params: null",
          "extra: unknown_field"
        ])
        expect(yield* errors({ payload, task_params: { retries: 1 } })).toEqual([
          failed,
          "task_params.retries: unknown_field"
        ])
        expect(yield* errors({ payload, task_params: [] })).toEqual([
          failed,
          "task_params: not_an_object"
        ])
        expect(yield* errors({ payload, task_params: {} })).toEqual([
          "import_process_does_not_exist"
        ])
      })
    )
  })
})
