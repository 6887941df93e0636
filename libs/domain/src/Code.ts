/**
 * The registry of codes: every code that the service can answer with, once, with its meaning, an
 * example and the remedy. The OpenAPI document, the documentation and the tests are made from it,
 * and nothing outside it can be emitted. A code is stable for ever; its wording here is not.
 */

/**
 * `request`: the top-level code of an answer. `field`: the code of one error object, at its `attr`.
 */
export type CodeKind = "request" | "field"

export interface CodeEntry {
  readonly kind: CodeKind | "both"
  readonly meaning: string
  readonly example: string
  readonly remedy: string
}

const request = (meaning: string, example: string, remedy: string) =>
  ({ kind: "request", meaning, example, remedy }) as const
const field = (meaning: string, example: string, remedy: string) =>
  ({ kind: "field", meaning, example, remedy }) as const

export const registry = {
  parse_error: request(
    "The body is not acceptable JSON: malformed, not UTF-8, a repeated key, or nested too deep.",
    '{"payload": {"import_supplier": "A", "import_supplier": "B"}}',
    "Send one well-formed JSON document, without a byte-order mark, each key once."
  ),
  account_failed_validation: request(
    "The account payload, or the request around it, breaks at least one rule; `errors` lists all of them.",
    "a customer whose landline is not a phone number",
    "Correct every listed field and send the request again."
  ),
  request_failed_validation: request(
    "The request breaks at least one rule; `errors` lists all of them.",
    "a note without body and document_paths",
    "Correct every listed field and send the request again."
  ),
  account_import_process_already_imported: request(
    "The platform account exists already; the body names it.",
    "processing an import twice",
    "Treat the import as done; add further data with the post-import endpoints."
  ),
  account_import_process_skipped: request(
    "The operator has marked the account to be skipped.",
    "staging an account that is not to be migrated",
    "Ask the operator why, and leave the account out until it is unmarked."
  ),
  account_import_process_in_progress: request(
    "Another attempt at this account is running right now.",
    "processing the same account from two workers",
    "Ask the status endpoint until it no longer says IN_PROGRESS, then decide."
  ),
  import_supplier_migration_not_ongoing: request(
    "The supplier is Paused or Complete; `detail` says which.",
    "staging while the migration is paused",
    "Wait for the operator to set the supplier Ongoing."
  ),
  import_process_does_not_exist: request(
    "Nothing was ever staged for the pair of supplier and account number.",
    "processing before staging",
    "Stage the account first, and compare the pair character by character."
  ),
  operations_team_name_does_not_exist: {
    kind: "both",
    meaning: "There is no operations team of this name.",
    example: '"operations_team_name": "Nobody"',
    remedy: "Ask the operator for the exact names of the teams."
  },
  dry_run_successful: request(
    "The account would have been imported; everything was rolled back because of dry_run.",
    '"dry_run": true',
    "Send the request without dry_run to import the account."
  ),
  account_not_found: request(
    "The account is staged but not imported.",
    "a payment instruction before process",
    "Process the import first."
  ),
  active_payment_instruction_exists: request(
    "Another active payment instruction is on the account.",
    "a second card for the same account",
    "Ask the operator to end the present instruction first."
  ),
  payment_instruction_rejected_by_vendor: request(
    "The vendor answered, and the answer is no.",
    "a reference that the vendor does not know",
    "Check reference and type with the vendor; do not send the request unchanged."
  ),
  payment_vendor_unreachable: request(
    "The vendor cannot be reached for good: unknown host, failed TLS, or not configured.",
    "a vendor without configuration",
    "Ask the operator to correct the vendor's configuration; do not retry before that."
  ),
  payment_vendor_unavailable: request(
    "The vendor cannot be reached for the moment.",
    "a time-out at the vendor",
    "Send the same request again later."
  ),
  not_authenticated: request(
    "The request has no Authorization header.",
    "a request without a token",
    "Send `Authorization: Token <ACCESS_TOKEN>`."
  ),
  authentication_failed: request(
    "The token is not a valid, unexpired token of this service.",
    "a token older than an hour",
    "Obtain a new token and send the request again."
  ),
  permission_denied: request(
    "The token's key may not do this.",
    "a write with a read-only key",
    "Use a key whose scope covers the request."
  ),
  not_found: request(
    "There is nothing here: unknown path, no import, account not imported, or a supplier that is not yours.",
    "the status of an account that was never staged",
    "Check the path, the supplier code and the account number."
  ),
  method_not_allowed: request(
    "The path exists, but not for this method; the Allow header names those it has.",
    "GET on a stage",
    "Use a method that Allow names."
  ),
  not_acceptable: request(
    "The Accept header leaves no room for JSON.",
    "Accept: text/csv",
    "Accept application/json."
  ),
  request_timeout: request(
    "The body did not arrive in time.",
    "a stalled upload",
    "Send the request again."
  ),
  payload_too_large: request(
    "The body is larger than the limit.",
    "a body of 11 MiB",
    "Send less at once; GET /v1/data-import/limits/ names the limit."
  ),
  unsupported_media_type: request(
    "The body is not announced as JSON, or is encoded.",
    "Content-Type: text/plain",
    "Send Content-Type: application/json, without Content-Encoding."
  ),
  concurrency_limit_exceeded: request(
    "As many accounts are being processed as the limit allows.",
    "processing a whole cohort at once",
    "Send the same request again after Retry-After seconds."
  ),
  throttled: request(
    "Too many requests from this client.",
    "a request loop without a pause",
    "Send the same request again after Retry-After seconds."
  ),
  error: request(
    "An error in the service; the request id is in the answer.",
    "a defect",
    "Send the same request again; if it persists, give the operator the request id."
  ),
  service_unavailable: request(
    "The service cannot answer right now: its database is away, or it is shutting down.",
    "a restart of the database",
    "Send the same request again after Retry-After seconds."
  ),

  required: field("A required field is missing.", "no external_account_number", "Send the field."),
  null: field(
    "null where a value is needed.",
    '"given_name": null',
    "Omit the field or give it a value."
  ),
  blank: field(
    "Empty, or only white space.",
    '"given_name": ""',
    "Omit the field or give it a value."
  ),
  invalid_type: field(
    "The value is of another JSON type.",
    '"unknown_occupier": "yes"',
    "Send the documented type."
  ),
  invalid_choice: field(
    "The value is not among the allowed ones.",
    '"account_type": "HOUSE"',
    "Send one of the documented values."
  ),
  invalid: field(
    "The value has not the documented form.",
    '"amount": "12,50"',
    "Send the documented form."
  ),
  invalid_date: field(
    "Not a calendar day as YYYY-MM-DD.",
    '"date_of_sale": "2025-02-30"',
    "Send an existing day as YYYY-MM-DD."
  ),
  invalid_datetime: field(
    "Not a datetime with Z or an offset.",
    '"created_at": "2025-01-01T10:00:00"',
    "Send YYYY-MM-DDTHH:MM:SSZ."
  ),
  invalid_email: field(
    "Not an e-mail address.",
    '"email": "a.b.c"',
    "Send an address like name@example.com."
  ),
  invalid_phone_number: field(
    "Not a possible phone number in international format.",
    '"landline": "12345"',
    "Send the number with a leading + and country code."
  ),
  max_length: field("Longer than allowed.", "a title of 21 characters", "Shorten the value."),
  min_value: field("Less than allowed.", '"period_start_day": 0', "Send a greater value."),
  max_value: field("Greater than allowed.", '"period_start_day": 29', "Send a smaller value."),
  max_digits: field(
    "Too many digits before the point, or in all.",
    '"amount": 12345678901',
    "Send a number within the documented size."
  ),
  max_decimal_places: field(
    "Too many digits after the point.",
    '"amount": 1.005',
    "Round the value on your side; nothing is rounded here."
  ),
  not_a_list: field("Not a JSON array.", '"customers": {}', "Send an array."),
  not_an_object: field("Not a JSON object.", '"billing_address": "…"', "Send an object."),
  empty: field(
    "An empty list where an element is needed.",
    '"notes": []',
    "Send at least one element."
  ),
  unknown_field: field(
    "The field is not documented.",
    '"given_nam": "Ada"',
    "Remove the field, or spell it as `detail` suggests."
  ),
  import_supplier_does_not_exist: field(
    "There is no such supplier for this token.",
    '"import_supplier": "NOBODY"',
    "Compare the code with the one the operator gave you."
  ),

  customer_with_unknown_occupier: field(
    "The occupier is unknown, and yet there is a customer.",
    '"unknown_occupier": true beside customers',
    "Omit the customers or unknown_occupier."
  ),
  occupier_account_with_multiple_supply_addresses: field(
    "An account of an unknown occupier has more than one supply address.",
    '"unknown_occupier": true beside two supply addresses',
    "Send one account for each address."
  ),
  metadata_has_duplicate_keys: field(
    "A metadata key stands twice.",
    'two entries with the key "wave"',
    "Send each key once."
  ),
  customer_family_name_required: field(
    "A customer of a DOMESTIC account has no family name.",
    '"customers": [{"given_name": "Ada"}]',
    "Send family_name."
  ),
  invalid_country_code: field(
    "Not an ISO 3166-1 alpha-2 country code.",
    '"country": "Denmark"',
    "Send two letters, like DK."
  ),
  invalid_delivery_point_identifier: field(
    "Not up to 11 capitals and digits.",
    '"delivery_point_identifier": "dk-8000"',
    "Send capitals and digits only."
  ),
  fields_are_mutually_exclusive: field(
    "Two fields exclude each other.",
    "street_address beside structured_street_address",
    "Send one of them."
  ),
  account_billing_options_industry_billing_with_period_data: field(
    "Industry billing has no periods of its own.",
    '"use_industry_billing": true beside period_length',
    "Omit the period fields."
  ),
  account_billing_options_period_data_required: field(
    "Billing without the industry's calendar needs a period length and start day.",
    '"account_billing_options": {}',
    "Send period_length and period_start_day."
  ),
  account_billing_options_period_start_month_required: field(
    "Quarterly billing needs a start month.",
    '"period_length": "QUARTERLY" without period_start_month',
    "Send period_start_month."
  ),
  duplicate_ledger_entries_found: field(
    "A ledger code stands twice.",
    "two ledgers ELECTRICITY_LEDGER",
    "Send each ledger once."
  ),
  historical_statement_transactions_balance_mismatch: field(
    "The historical transactions do not add up to last_statement_balance.",
    "transactions of 25.00 beside a balance of 26.00",
    "Correct the balance or the transactions; `detail` states the difference."
  ),
  balance_mismatch_on_ledger_balance: field(
    "last_statement_balance and the current transactions do not add up to ledger_balance.",
    "0.00 + 10.00 beside 11.00",
    "Correct the balance or the transactions; `detail` states the difference."
  ),
  ledger_balances_not_equal_to_transfer_balance: field(
    "The ledger balances do not add up to transfer_balance.",
    "50.00 beside 51.00",
    "Correct the balances; `detail` states the difference."
  ),
  historical_statement_transactions_require_last_statement_closing_date: field(
    "There are historical transactions but no last_statement_closing_date.",
    "historical_statement_transactions alone",
    "Send last_statement_closing_date."
  ),
  current_statement_transaction_before_last_statement_closing_date: field(
    "A current transaction is not after the closing date.",
    "a transaction on the closing date",
    "Move it to the historical transactions, or correct the date."
  ),
  historical_statement_transaction_after_last_statement_closing_date: field(
    "A historical transaction is after the closing date.",
    "a transaction on the day after the closing date",
    "Move it to the current transactions, or correct the date."
  ),
  historical_statement_period_end_in_future: field(
    "The closing date is in the future.",
    "a last_statement_closing_date of tomorrow",
    "Send the date of the last closed statement."
  ),
  duplicate_transaction_ids: {
    kind: "both",
    meaning: "A transaction id stands twice.",
    example: "the same id on two ledgers",
    remedy: "Give every transaction its own id."
  },
  transaction_in_future: field(
    "The transaction is dated after today (UTC).",
    "a transaction_date of tomorrow",
    "Send it once its day has come."
  ),
  field_not_allowed_for_transaction_type: field(
    "This type of transaction does not have the field.",
    "payment_type on a CHARGE",
    "Omit the field or correct the type."
  ),
  start_date_later_than_end_date: field(
    "The period ends before it starts.",
    "from 2025-02-01 to 2025-01-31",
    "Correct the dates."
  ),
  line_item_units_must_be_two_values: field(
    "units is not exactly two register readings.",
    '"units": [100]',
    "Send the reading at the start and at the end."
  ),
  incorrect_line_item_net_amount: field(
    "net_amount is not price_per_unit × number_of_units.",
    "1.25 × 216 beside 271",
    "Correct the figures; `detail` states the difference."
  ),
  ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount: field(
    "amount is not the sum of the line items' net amounts and the tax amounts.",
    "270 + 67.5 beside 338",
    "Correct the figures; `detail` states the difference."
  ),
  duplicate_statement_ids: field(
    "A statement id stands twice.",
    "two statements S-1",
    "Give every statement its own id."
  ),
  note_body_or_document_path_not_found: field(
    "A note has neither body nor document paths.",
    '"notes": [{}]',
    "Send body, document_paths or both."
  ),
  note_unpin_at_earlier_than_creation_date: field(
    "unpin_at is before created_at.",
    "created in March, unpinned in February",
    "Correct the datetimes."
  ),
  duplicate_supply_addresses_found: field(
    "The same address line and postcode stand twice.",
    "one address twice",
    "Send each supply address once."
  ),
  invalid_document_path: field(
    "Not a clean relative path.",
    '"document_path": "../other/secret.pdf"',
    "Send a path relative to the supplier's root, without . or .. segments."
  ),
  path_does_not_exist_in_file_store: field(
    "There is no file at this path.",
    "a statement that was not uploaded",
    "Upload the file first, and compare the path character by character."
  ),
  historical_statement_already_exists: field(
    "The account has a statement of this id with other content.",
    "statement S-1 with another amount",
    "Compare with what was sent before; give a new statement a new id."
  ),
  transaction_outside_open_period: request(
    "The transaction is dated outside the open statement period.",
    "a transaction before the last closing date",
    "Correct the date, or let force_add_to_current_statement move it."
  )
} as const satisfies Record<string, CodeEntry>

export type Code = keyof typeof registry

type CodeOf<Kind extends CodeEntry["kind"]> = {
  [Key in Code]: (typeof registry)[Key]["kind"] extends Kind ? Key : never
}[Code]

/** The code of one error object. */
export type FieldCode = CodeOf<"field" | "both">
/** The top-level code of an answer. */
export type RequestCode = CodeOf<"request" | "both">
