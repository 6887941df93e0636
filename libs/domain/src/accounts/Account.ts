/**
 * The account payload: what a supplier sends of one customer account, with every rule on it. Fields
 * keep the names and the spelling of the wire.
 * Source: docs/contract/account.md#account.
 */
import { type BigDecimal, Result, Schema } from "effect"
import {
  BillingAddress,
  billingAddressRules,
  BillingOptions,
  billingOptionsRules
} from "./Billing.ts"
import { Customer, customerRules } from "./Customer.ts"
import { difference, isEqual, Money, sum } from "../schema/Decimal.ts"
import { documentsAreFew } from "../schema/DocumentPath.ts"
import { Email } from "../schema/Email.ts"
import {
  CalendarDate,
  choice,
  fieldCheck,
  formed,
  hasControlCharacter,
  list,
  nonBlank,
  nonBlankText,
  openChoice,
  text
} from "../schema/Field.ts"
import { JsonObject } from "../schema/JsonObject.ts"
import {
  balanceOf,
  currentTransactions,
  historicalTransactions,
  Ledger,
  ledgerRules
} from "./Ledger.ts"
import { Note, noteRules } from "./Note.ts"
import {
  eachValid,
  isAmong,
  listed,
  namedValues,
  repeated,
  type Rule,
  type RuleSet,
  sentTwice,
  validValues,
  supplierExists
} from "../schema/Rules.ts"
import { Statement, statementIdsAreUnique, statementRules } from "./Statement.ts"
import { supplierCodeLength } from "../suppliers/Supplier.ts"
import { SupplyAddress } from "./SupplyAddress.ts"
import type { TransactionId } from "./Transaction.ts"
import { canonicalTextOf } from "../schema/CanonicalJson.ts"
import { encoderOf } from "../schema/Encoder.ts"
import { FieldErrors } from "../schema/FieldErrors.ts"
import * as Json from "../schema/Json.ts"
import { decodePartiallyInSteps } from "../schema/PartialDecoding.ts"
import { schemaTreeOf } from "../schema/SchemaTree.ts"
import type { Steps } from "../support/Steps.ts"

export const externalAccountNumberLength = 128

/** The supplier's own number of the account, 1 to 128 characters, compared exactly. */
export const ExternalAccountNumber = nonBlank(externalAccountNumberLength)
  .check(
    fieldCheck<string>(
      (value) =>
        value === value.trim() &&
        value.isWellFormed() &&
        !hasControlCharacter(value) &&
        value !== "." &&
        value !== "..",
      {
        code: "invalid",
        detail: "Must have no blank around it and no control character, and not be . or .. itself."
      }
    )
  )
  .pipe(Schema.brand("ExternalAccountNumber"))
export type ExternalAccountNumber = typeof ExternalAccountNumber.Type

const accountNumberForm = /^A-[0-9A-F]{8}$/

/** The platform's number: `A-` and 8 upper-case hexadecimal digits, unique and never reused. */
export const AccountNumber = Schema.String.check(Schema.isPattern(accountNumberForm)).pipe(
  Schema.brand("AccountNumber")
)
export type AccountNumber = typeof AccountNumber.Type

/** The same in a request. */
export const AccountNumberField = formed((text) => accountNumberForm.test(text), {
  code: "invalid",
  detail: "Must be a number of the platform: A- and 8 hexadecimal digits in capitals.",
  jsonSchema: { pattern: accountNumberForm.source }
}).pipe(Schema.brand("AccountNumber"))

/** The code of a supplier as a field of a body. */
export const SupplierCodeField = nonBlankText(supplierCodeLength).pipe(Schema.brand("WireCode"))

const AccountType = choice([
  "DOMESTIC",
  "BUSINESS",
  "MANAGED",
  "PORTFOLIO_LEAD",
  "DOMESTIC_VACANT",
  "BUSINESS_VACANT",
  "DOMESTIC_OCCUPIER",
  "BUSINESS_OCCUPIER",
  "SYSTEM",
  "DOMESTIC_THIRD_PARTY_BILLED",
  "BUSINESS_THIRD_PARTY_BILLED"
])

export const salesChannels = [
  "DIRECT",
  "PRICE_COMPARISON",
  "TELESALES",
  "DIGI_TELESALES",
  "EVENTS",
  "FIELD_SALES",
  "AGGREGATOR",
  "PARTNERSHIPS",
  "NEW_TENANT",
  "MOVE_IN",
  "WORKPLACE_POP_UP",
  "BROKER",
  "PARENT_POWER",
  "PEOPLE_POWER",
  "GIFT_OF_KIT",
  "HIGH_REFERRER",
  "SUPPLIER_OF_LAST_RESORT",
  "ACQUISITION",
  "LANDLORD",
  "DEBT_COLLECTION_AGENCY"
] as const

export const Metadata = Schema.Struct({ key: nonBlankText(1024), value: JsonObject })

/**
 * `transfer_balance` is money, credit positive. `operations_team_name` is kept and has no effect.
 */
export const Account = Schema.Struct({
  import_supplier: SupplierCodeField,
  external_account_number: ExternalAccountNumber,
  unknown_occupier: Schema.optionalKey(Schema.Boolean),
  customers: Schema.optionalKey(list(Customer)),
  billing_email: Schema.optionalKey(Email),
  billing_name: Schema.optionalKey(text(510)),
  billing_sub_name: Schema.optionalKey(text(256)),
  billing_customer_reference: Schema.optionalKey(text(256)),
  billing_address: Schema.optionalKey(BillingAddress),
  account_billing_options: Schema.optionalKey(BillingOptions),
  account_type: Schema.optionalKey(AccountType),
  date_of_sale: Schema.optionalKey(CalendarDate),
  sales_channel: Schema.optionalKey(openChoice(128, salesChannels)),
  sales_subchannel: Schema.optionalKey(text(256)),
  communication_preference: Schema.optionalKey(choice(["ONLINE", "PRINT"])),
  document_accessibility: Schema.optionalKey(choice(["LARGE_PRINT", "BRAILLE", "SPOKEN"])),
  notes: Schema.optionalKey(list(Note)),
  ledgers: Schema.optionalKey(list(Ledger)),
  transfer_balance: Schema.optionalKey(Money),
  statements: Schema.optionalKey(list(Statement)),
  metadata: Schema.optionalKey(list(Metadata)),
  operations_team_name: Schema.optionalKey(text(128)),
  supply_addresses: Schema.optionalKey(list(SupplyAddress))
})
export type Account = typeof Account.Type

type EncodedAccount = typeof Account.Encoded

export interface AccountInput extends EncodedAccount {}

export const encodeAccount = encoderOf(Account)

/** The canonical text of the account: what validate answers, what is staged, and what is hashed. */
export const accountTextInSteps = canonicalTextOf(Account)

const tree = schemaTreeOf(Account)

/** The account of a stored text. Throws if it was altered, so that it has none. */
export function* accountOfText(text: string): Steps<Account> {
  const input = Result.getOrThrow(yield* Json.parseInSteps(text))
  const errors = new FieldErrors()
  const decoded = yield* decodePartiallyInSteps(tree, input, errors)
  if (errors.listed.length > 0) throw new Error("The stored text is no valid account")
  return decoded as Account
}

/** The defaults of optional fields. */
export const defaults = {
  unknown_occupier: false,
  account_type: "DOMESTIC",
  sales_channel: "DIRECT",
  communication_preference: "ONLINE"
} as const

/** The balance of a new account: the sum of its ledgers, or the transfer balance if it has none. */
export const openingBalance = (
  account: Pick<Account, "ledgers" | "transfer_balance">
): BigDecimal.BigDecimal => {
  const ledgers = account.ledgers ?? []
  if (ledgers.length === 0 && account.transfer_balance !== undefined) {
    return account.transfer_balance
  }
  return sum(ledgers.map(balanceOf))
}

const salesChannelIsKnown: Rule<Account> = (account, { codeLists }, report) => {
  if (account.sales_channel === undefined) return
  const known = [salesChannels, codeLists.sales_channel] as const
  isAmong(known, account.sales_channel, "sales_channel", report)
}

const typesWithoutCustomer: ReadonlySet<string> = new Set([
  "SYSTEM",
  "DOMESTIC_VACANT",
  "BUSINESS_VACANT",
  "DOMESTIC_OCCUPIER",
  "BUSINESS_OCCUPIER"
])

const hasCustomer: Rule<Account> = (account, _facts, report) => {
  if ((account.customers ?? []).length > 0) return
  if (account.unknown_occupier === true) return
  if (typesWithoutCustomer.has(account.account_type ?? defaults.account_type)) return
  report("required", "At least one customer is required.", "customers")
}

const unknownOccupierIsNoCustomer: Rule<Account> = (account, _facts, report) => {
  if (account.unknown_occupier === true && (account.customers ?? []).length > 0) {
    report("customer_with_unknown_occupier", "An unknown occupier is no customer.")
  }
}

const unknownOccupierIsAtOneAddress: Rule<Account> = (account, _facts, report) => {
  const actual = (account.supply_addresses ?? []).length
  if (account.unknown_occupier === true && actual > 1) {
    report("occupier_account_with_multiple_supply_addresses", {
      detail: "The account of an unknown occupier has one supply address.",
      parameters: { limit: 1, actual }
    })
  }
}

const domesticCustomersHaveFamilyName: Rule<Account> = (account, _facts, report) => {
  if ((account.account_type ?? defaults.account_type) !== "DOMESTIC") return
  eachValid(account.customers ?? [], (customer, index) => {
    if ((customer.family_name ?? "") === "") {
      const detail = "A customer of a DOMESTIC account needs a family_name."
      report("customer_family_name_required", detail, "customers", index)
    }
  })
}

const ledgerCodesAreUnique: Rule<Account> = (account, _facts, report) => {
  const twice = repeated(validValues(account.ledgers ?? [], (ledger) => ledger.ledger_code))
  if (twice.length > 0) {
    report("duplicate_ledger_entries_found", sentTwice(twice), "ledgers")
  }
}

const transactionIdsAreUnique: Rule<Account> = (account, _facts, report) => {
  const ids: Array<TransactionId> = []
  for (const listOf of [currentTransactions, historicalTransactions]) {
    eachValid(account.ledgers ?? [], (ledger) => {
      eachValid(listOf(ledger), (transaction) => ids.push(transaction.transaction_id))
    })
  }
  const twice = repeated(ids)
  if (twice.length > 0) {
    report("duplicate_transaction_ids", sentTwice(twice))
  }
}

const ledgersAddUpToTransfer: Rule<Account> = (account, _facts, report) => {
  const { transfer_balance: stated, ledgers = [] } = account
  if (stated === undefined || ledgers.length === 0) return
  const calculated = sum(ledgers.map(balanceOf))
  if (!isEqual(stated, calculated)) {
    report(
      "ledger_balances_not_equal_to_transfer_balance",
      difference("transfer_balance", stated, calculated)
    )
  }
}

const metadataKeysAreUnique: Rule<Account> = (account, _facts, report) => {
  const twice = repeated(validValues(account.metadata ?? [], (entry) => entry.key))
  if (twice.length > 0) {
    report("metadata_has_duplicate_keys", sentTwice(twice), "metadata")
  }
}

const supplyAddressesAreUnique: Rule<Account> = (account, _facts, report) => {
  const { supply_addresses = [] } = account
  if (supply_addresses.length < 2) return
  const places = new Map<string, Array<number>>()
  eachValid(supply_addresses, ({ supply_address1, supply_postcode }, index) => {
    const place = JSON.stringify([supply_address1, supply_postcode])
    const indexes = places.get(place)
    if (indexes === undefined) places.set(place, [index])
    else indexes.push(index)
  })
  const ids = [...places.values()].filter((indexes) => indexes.length > 1).flat()
  if (ids.length === 0) return
  report(
    "duplicate_supply_addresses_found",
    {
      detail: `The same address line and postcode stand more than once, at ${listed(ids)}.`,
      parameters: { ids: ids.slice(0, namedValues) }
    },
    "supply_addresses"
  )
}

export const accountRules: RuleSet<Account> = {
  rules: [
    supplierExists,
    documentsAreFew,
    salesChannelIsKnown,
    hasCustomer,
    unknownOccupierIsNoCustomer,
    unknownOccupierIsAtOneAddress,
    domesticCustomersHaveFamilyName,
    ledgerCodesAreUnique,
    transactionIdsAreUnique,
    ledgersAddUpToTransfer,
    statementIdsAreUnique,
    metadataKeysAreUnique,
    supplyAddressesAreUnique
  ],
  members: {
    customers: customerRules,
    billing_address: billingAddressRules,
    account_billing_options: billingOptionsRules,
    notes: noteRules,
    ledgers: ledgerRules,
    statements: statementRules
  }
}
