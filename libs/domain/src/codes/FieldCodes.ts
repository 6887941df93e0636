/** The part of the registry with the codes of single errors, each at its `attr`. */
import { both, type CodeEntry, field } from "./CodeEntry.ts"

export const fieldCodes = {
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
    "Send the documented type.",
    "expected"
  ),
  invalid_choice: field(
    "The value is not among the allowed ones.",
    '"account_type": "HOUSE"',
    "Send one of the documented values.",
    "allowed"
  ),
  invalid: field(
    "The value has not the documented form.",
    '"amount": "12,50"',
    "Send the documented form."
  ),
  invalid_date: field(
    "Not a calendar day as YYYY-MM-DD.",
    '"date_of_sale": "2025-02-30"',
    "Send an existing day as YYYY-MM-DD.",
    "reason"
  ),
  invalid_datetime: field(
    "Not a datetime of RFC 3339, with T, seconds, and Z or an offset.",
    '"created_at": "2025-01-01T10:00:00"',
    "Send YYYY-MM-DDTHH:MM:SSZ.",
    "reason"
  ),
  invalid_email: field(
    "Not an e-mail address.",
    '"email": "a.b.c"',
    "Send an address like name@example.com."
  ),
  invalid_phone_number: field(
    "Not a possible phone number in international format.",
    '"landline": "12345"',
    "Send the number with a leading + and country code.",
    "reason"
  ),
  max_length: field(
    "Longer than allowed, or more than allowed.",
    "a title of 21 characters; documents of more than 1,000 different paths",
    "Shorten the value, or send less at once.",
    "limit"
  ),
  min_value: field(
    "Less than allowed.",
    '"period_start_day": 0',
    "Send a greater value, or a later date.",
    "limit"
  ),
  max_value: field(
    "Greater than allowed.",
    '"period_start_day": 29',
    "Send a smaller value, or an earlier date.",
    "limit",
    "business_day"
  ),
  max_digits: field(
    "Too many digits before the point, or in all.",
    '"amount": 12345678901',
    "Send a number within the documented size.",
    "limit",
    "actual"
  ),
  max_decimal_places: field(
    "Too many digits after the point.",
    '"amount": 1.005',
    "Round the value on your side; nothing is rounded here.",
    "limit",
    "actual"
  ),
  not_a_list: field("Not a JSON array.", '"customers": {}', "Send an array.", "expected"),
  not_an_object: field(
    "Not a JSON object.",
    '"billing_address": "…"',
    "Send an object.",
    "expected"
  ),
  empty: field(
    "An empty list where an element is needed.",
    '"notes": []',
    "Send at least one element."
  ),
  unknown_field: field(
    "The field is not documented.",
    '"given_nam": "Ada"',
    "Remove the field, or correct its name; the detail of the error suggests one.",
    "nearest"
  ),
  unknown_parameter: field(
    "The operation does not document this query parameter.",
    "?force_add_to_current_statment=false",
    "Remove the parameter, or spell it as `detail` suggests.",
    "nearest"
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
    "Send one account for each address.",
    "limit",
    "actual"
  ),
  metadata_has_duplicate_keys: field(
    "A metadata key stands twice.",
    'two entries with the key "wave"',
    "Send each key once.",
    "ids"
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
    "Send each ledger once.",
    "ids"
  ),
  historical_statement_transactions_balance_mismatch: field(
    "The historical transactions do not add up to last_statement_balance.",
    "transactions of 25.00 beside a balance of 26.00",
    "Correct the balance or the transactions; `detail` states the difference.",
    "actual",
    "expected",
    "difference"
  ),
  balance_mismatch_on_ledger_balance: field(
    "last_statement_balance and the current transactions do not add up to ledger_balance.",
    "0.00 + 10.00 beside 11.00",
    "Correct the balance or the transactions; `detail` states the difference.",
    "actual",
    "expected",
    "difference"
  ),
  ledger_balances_not_equal_to_transfer_balance: field(
    "The ledger balances do not add up to transfer_balance.",
    "50.00 beside 51.00",
    "Correct the balances; `detail` states the difference.",
    "actual",
    "expected",
    "difference"
  ),
  historical_statement_transactions_require_last_statement_closing_date: field(
    "There are historical transactions but no last_statement_closing_date.",
    "historical_statement_transactions alone",
    "Send last_statement_closing_date."
  ),
  current_statement_transaction_before_last_statement_closing_date: field(
    "A current transaction is not after the closing date.",
    "a transaction on the closing date",
    "Move it to the historical transactions, or correct the date.",
    "limit",
    "ids"
  ),
  historical_statement_transaction_after_last_statement_closing_date: field(
    "A historical transaction is after the closing date.",
    "a transaction on the day after the closing date",
    "Move it to the current transactions, or correct the date.",
    "limit",
    "ids"
  ),
  historical_statement_period_end_in_future: field(
    "The closing date is in the future.",
    "a last_statement_closing_date of tomorrow",
    "Send the date of the last closed statement.",
    "limit",
    "business_day"
  ),
  duplicate_transaction_ids: both(
    "A transaction id stands twice.",
    "the same id on two ledgers",
    "Give every transaction its own id.",
    "ids"
  ),
  transaction_in_future: field(
    "The transaction is dated after today in the supplier's time zone.",
    "a transaction_date of tomorrow",
    "Send it once its day has come.",
    "limit",
    "business_day"
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
    "Send the reading at the start and at the end.",
    "actual",
    "expected"
  ),
  incorrect_line_item_net_amount: field(
    "net_amount is not price_per_unit × number_of_units.",
    "1.25 × 216 beside 271",
    "Correct the figures; `detail` states the difference.",
    "actual",
    "expected",
    "difference"
  ),
  ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount: field(
    "amount is not the sum of the line items' net amounts and the tax amounts.",
    "270 + 67.5 beside 338",
    "Correct the figures; `detail` states the difference.",
    "actual",
    "expected",
    "difference"
  ),
  duplicate_statement_ids: field(
    "A statement id stands twice.",
    "two statements S-1",
    "Give every statement its own id.",
    "ids"
  ),
  note_body_or_document_path_not_found: field(
    "A note has neither body nor document paths.",
    '"notes": [{}]',
    "Send body, document_paths or both."
  ),
  note_unpin_at_earlier_than_creation_date: field(
    "unpin_at is before created_at.",
    "created in March, unpinned in February",
    "Correct the datetimes.",
    "limit"
  ),
  duplicate_supply_addresses_found: field(
    "The same address line and postcode stand twice.",
    "one address twice",
    "Send each supply address once.",
    "ids"
  ),
  invalid_document_path: field(
    "Not a clean relative path.",
    '"document_path": "../other/secret.pdf"',
    "Send a path relative to the supplier's root, without . or .. segments.",
    "reason"
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
  note_differs: field(
    "The account has this note with another pin, unpin_at or documents.",
    "a note again with is_pinned, and on_difference=fail",
    "Compare with what was sent before; a note on an account is never changed."
  )
} as const satisfies Record<string, CodeEntry>
