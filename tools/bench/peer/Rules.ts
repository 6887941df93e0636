/** The rules that no single field can break: sums, dates against each other, duplicates. */
import { enumerations } from "./Enumerations.ts"
import { cents, decimalsOf, rounded, scaled } from "./Figure.ts"
import { dayIn } from "./Fields.ts"
import type { Account, Ledger, Report, Transaction } from "./Validation.ts"
import { rule } from "./Validation.ts"

/** What a rule may know beyond the payload. */
export interface Facts {
  readonly now: Date
  readonly today: string
  readonly supplierExists: boolean
  readonly choices: Readonly<Record<string, ReadonlyArray<string>>>
}

type At = (code: string, ...path: ReadonlyArray<string | number>) => void

const each = <A>(
  values: ReadonlyArray<A> | undefined,
  examine: (value: A, index: number) => void
): void => {
  for (let index = 0; index < (values?.length ?? 0); index++) {
    rule(() => examine((values as ReadonlyArray<A>)[index] as A, index))
  }
}

const isRepeated = <A>(
  values: ReadonlyArray<A> | undefined,
  read: (value: A) => string
): boolean => {
  const seen = new Set<string>()
  let count = 0
  each(values, (value) => {
    seen.add(read(value))
    count++
  })
  return seen.size < count
}

const restricted = (
  { choices }: Facts,
  list: string,
  value: string | undefined,
  at: At,
  ...known: ReadonlyArray<string>
): void => {
  const allowed = [...known, ...(choices[list] ?? [])]
  if (value !== undefined && allowed.length > 0 && !allowed.includes(value)) {
    at("invalid_choice", list)
  }
}

/** Positive where the transaction raises the balance. */
export const effectOf = ({ amount, type }: Pick<Transaction, "amount" | "type">): bigint => {
  const value = BigInt(amount.replace(".", ""))
  return type === "PAYMENT" || type === "CREDIT" ? value : -value
}

const typesWith: Readonly<Record<string, ReadonlyArray<string>>> = {
  reason: ["CHARGE", "CREDIT", "PAYMENT", "REPAYMENT"],
  reference: ["PAYMENT", "REPAYMENT"],
  payment_type: ["PAYMENT", "REPAYMENT"],
  product_code: ["SUPPLY_CHARGE"],
  line_items: ["SUPPLY_CHARGE"],
  tax_items: ["CHARGE", "SUPPLY_CHARGE"]
}

const itemDecimals = 10
const productDecimals = 11

const lineItemRules = (item: NonNullable<Transaction["line_items"]>[number], at: At): void => {
  rule(() => {
    if (item.end_date < item.start_date) at("start_date_later_than_end_date")
  })
  rule(() => {
    if (item.units !== undefined && item.units.length !== 2) {
      at("line_item_units_must_be_two_values", "units")
    }
  })
  rule(() => {
    const { net_amount: net, number_of_units: units, price_per_unit: price } = item
    if (price === undefined) return
    const decimals = Math.max(2, decimalsOf(net))
    const product = scaled(price, 7) * scaled(units, productDecimals - 7)
    if (rounded(product, productDecimals, decimals) !== scaled(net, decimals)) {
      at("incorrect_line_item_net_amount")
    }
  })
}

const amountIsThatOfItems = ({ amount, line_items, tax_items, type }: Transaction): boolean => {
  if (type !== "SUPPLY_CHARGE" || line_items === undefined) return true
  let sum = 0n
  for (const { net_amount } of line_items) sum += scaled(net_amount, itemDecimals)
  for (const item of tax_items ?? []) sum += scaled(item.amount, itemDecimals)
  return BigInt(amount.replace(".", "")) === rounded(sum, itemDecimals, 2)
}

export const transactionRules = (transaction: Transaction, facts: Facts, at: At): void => {
  rule(() => {
    for (const [field, types] of Object.entries(typesWith)) {
      if (Object.hasOwn(transaction, field) && !types.includes(transaction.type)) {
        at("field_not_allowed_for_transaction_type", field)
      }
    }
  })
  rule(() => {
    if (transaction.type === "SUPPLY_CHARGE" && !Object.hasOwn(transaction, "product_code")) {
      at("required", "product_code")
    }
  })
  rule(() => {
    const { amount, payment_type, type } = transaction
    if (type !== "PAYMENT" && type !== "REPAYMENT") return
    rule(() => restricted(facts, "payment_type", payment_type, at, ...enumerations[type]))
    if (BigInt(amount.replace(".", "")) <= 0n) at("min_value", "amount")
  })
  rule(() => restricted(facts, "reason", transaction.reason, at))
  rule(() => restricted(facts, "product_code", transaction.product_code, at))
  rule(() => {
    if (!amountIsThatOfItems(transaction)) {
      at("ledger_transaction_amount_does_not_match_with_line_item_net_amount_and_tax_amount")
    }
  })
  rule(() =>
    each(transaction.line_items, (item, index) =>
      lineItemRules(item, (code, ...path) => at(code, "line_items", index, ...path))
    )
  )
}

const sumOf = (transactions: ReadonlyArray<Transaction>): bigint => {
  let sum = 0n
  for (const transaction of transactions) sum += effectOf(transaction)
  return sum
}

const some = (
  transactions: ReadonlyArray<Transaction>,
  holds: (transaction: Transaction) => boolean
): boolean => {
  let found = false
  each(transactions, (transaction) => (found ||= holds(transaction)))
  return found
}

const history = (ledger: Ledger) => ledger.historical_statement_transactions ?? []
const current = (ledger: Ledger) => ledger.current_statement_transactions ?? []

const ledgerSums = (ledger: Ledger, at: At): void => {
  rule(() => {
    if (history(ledger).length === 0) return
    if (cents(ledger.last_statement_balance ?? 0) !== sumOf(history(ledger))) {
      at("historical_statement_transactions_balance_mismatch")
    }
  })
  rule(() => {
    if (ledger.ledger_balance === undefined) return
    const sum = cents(ledger.last_statement_balance ?? 0) + sumOf(current(ledger))
    if (cents(ledger.ledger_balance) !== sum) at("balance_mismatch_on_ledger_balance")
  })
}

const ledgerDates = (ledger: Ledger, { today }: Facts, at: At): void => {
  rule(() => {
    if (history(ledger).length > 0 && ledger.last_statement_closing_date === undefined) {
      at("historical_statement_transactions_require_last_statement_closing_date")
    }
  })
  rule(() => {
    const closing = ledger.last_statement_closing_date
    if (closing === undefined) return
    if (closing > today) at("historical_statement_period_end_in_future")
    rule(() => {
      if (some(current(ledger), ({ transaction_date }) => transaction_date <= closing)) {
        at("current_statement_transaction_before_last_statement_closing_date")
      }
    })
    if (some(history(ledger), ({ transaction_date }) => transaction_date > closing)) {
      at("historical_statement_transaction_after_last_statement_closing_date")
    }
  })
}

const ledgerRules = (ledger: Ledger, facts: Facts, at: At): void => {
  rule(() => {
    if ((facts.choices["ledger_code"] ?? []).length > 0) {
      restricted(facts, "ledger_code", ledger.ledger_code, at)
    }
  })
  ledgerSums(ledger, at)
  ledgerDates(ledger, facts, at)
  for (const list of [
    "current_statement_transactions",
    "historical_statement_transactions"
  ] as const) {
    rule(() =>
      each(ledger[list], (transaction, index) => {
        const inside: At = (code, ...path) => at(code, list, index, ...path)
        rule(() => {
          if (transaction.transaction_date > facts.today) {
            inside("transaction_in_future", "transaction_date")
          }
        })
        transactionRules(transaction, facts, inside)
      })
    )
  }
}

const withoutCustomer = /^SYSTEM$|_VACANT$|_OCCUPIER$/

const occupierRules = (account: Account, { today }: Facts, report: Report): void => {
  rule(() => {
    const isExempt =
      account.unknown_occupier === true || withoutCustomer.test(account.account_type ?? "DOMESTIC")
    if (!isExempt && (account.customers ?? []).length === 0) report("required", "customers")
  })
  rule(() => {
    if (account.unknown_occupier === true && (account.customers ?? []).length > 0) {
      report("customer_with_unknown_occupier")
    }
  })
  rule(() => {
    if (account.unknown_occupier === true && (account.supply_addresses ?? []).length > 1) {
      report("occupier_account_with_multiple_supply_addresses")
    }
  })
  rule(() => {
    if ((account.account_type ?? "DOMESTIC") !== "DOMESTIC") return
    each(account.customers, ({ family_name = "" }, index) => {
      if (family_name === "") report("customer_family_name_required", "customers", index)
    })
  })
  rule(() =>
    each(account.customers, ({ date_of_birth: birth }, index) => {
      if (birth === undefined) return
      const at = ["customers", index, "date_of_birth"] as const
      if (birth < "1900-01-01") report("min_value", ...at)
      if (birth > today) report("max_value", ...at)
    })
  )
}

const billingRules = (account: Account, report: Report): void => {
  rule(() => {
    const { street_address, structured_street_address } = account.billing_address ?? {}
    if (street_address !== undefined && (structured_street_address ?? null) !== null) {
      report("fields_are_mutually_exclusive", "billing_address")
    }
  })
  const options = "account_billing_options"
  rule(() => {
    const sent = account[options]
    if (sent === undefined) return
    const { period_length, period_start_day, use_industry_billing } = sent
    if (use_industry_billing === true) {
      if (period_length ?? period_start_day ?? sent.period_start_month ?? false) {
        report("account_billing_options_industry_billing_with_period_data", options)
      }
    } else if (period_length === undefined || period_start_day === undefined) {
      report("account_billing_options_period_data_required", options)
    }
  })
  rule(() => {
    const sent = account[options]
    if (sent?.use_industry_billing === true || sent?.period_length !== "QUARTERLY") return
    if ((sent.period_start_month ?? null) === null) {
      report("account_billing_options_period_start_month_required", options)
    }
  })
}

const duplicates = (account: Account, report: Report): void => {
  const refuse = <A>(
    code: string,
    list: string,
    values: () => ReadonlyArray<A> | undefined,
    read: (value: A) => string
  ) =>
    rule(() => {
      if (isRepeated(values(), read)) report(code, list)
    })
  const { ledgers, metadata, statements, supply_addresses } = {
    ledgers: () => account.ledgers,
    metadata: () => account.metadata,
    statements: () => account.statements,
    supply_addresses: () => account.supply_addresses
  }
  refuse("duplicate_ledger_entries_found", "ledgers", ledgers, (it) => it.ledger_code)
  refuse("duplicate_statement_ids", "statements", statements, (it) => it.statement_id)
  refuse("metadata_has_duplicate_keys", "metadata", metadata, (it) => it.key)
  refuse("duplicate_supply_addresses_found", "supply_addresses", supply_addresses, (it) =>
    JSON.stringify([it.supply_address1, it.supply_postcode])
  )
  rule(() => {
    const all: Array<Transaction> = []
    each(account.ledgers, (ledger) => {
      rule(() => each(current(ledger), (transaction) => all.push(transaction)))
      rule(() => each(history(ledger), (transaction) => all.push(transaction)))
    })
    if (isRepeated(all, (transaction) => transaction.transaction_id)) {
      report("duplicate_transaction_ids")
    }
  })
}

const paperRules = (account: Account, { now }: Facts, report: Report): void => {
  rule(() =>
    each(account.notes, (note, index) => {
      rule(() => {
        if (note.body === undefined && (note.document_paths ?? []).length === 0) {
          report("note_body_or_document_path_not_found", "notes", index)
        }
      })
      const { created_at, unpin_at } = note
      const isEarly =
        unpin_at !== undefined && new Date(unpin_at) < (created_at ? new Date(created_at) : now)
      if (isEarly) report("note_unpin_at_earlier_than_creation_date", "notes", index)
    })
  )
  rule(() =>
    each(account.statements, (statement, index) => {
      if (statement.bill_period_from_date > statement.bill_period_to_date) {
        report("start_date_later_than_end_date", "statements", index)
      }
    })
  )
}

export const supplierRule =
  (key: { readonly import_supplier: string }, exists: boolean) =>
  (report: Report): void =>
    rule(() => {
      // Read for its own sake: where it is invalid, nobody looks for the supplier.
      if (key.import_supplier !== undefined && !exists) {
        report("import_supplier_does_not_exist", "import_supplier")
      }
    })

/** All rules of the account payload. */
export const accountRules = (account: Account, facts: Facts, report: Report): void => {
  supplierRule(account, facts.supplierExists)(report)
  rule(() => {
    const known = enumerations.sales_channel
    restricted(facts, "sales_channel", account.sales_channel, report, ...known)
  })
  occupierRules(account, facts, report)
  billingRules(account, report)
  duplicates(account, report)
  rule(() => {
    const ledgers = account.ledgers ?? []
    const { transfer_balance: transfer } = account
    if (transfer === undefined || ledgers.length === 0) return
    const balances = ledgers.flatMap(({ ledger_balance }) => ledger_balance ?? [])
    if (balances.length < ledgers.length) return
    const sum = balances.reduce((all, balance) => all + cents(balance), 0n)
    if (sum !== cents(transfer)) report("ledger_balances_not_equal_to_transfer_balance")
  })
  rule(() =>
    each(account.ledgers, (ledger, index) =>
      ledgerRules(ledger, facts, (code, ...path) => report(code, "ledgers", index, ...path))
    )
  )
  paperRules(account, facts, report)
}

/** What the rules know; `supplier` is the caller's that the request names, if there is one. */
export const factsAt = (
  now: Date,
  supplier: { readonly timeZone: string } | null,
  choices: Facts["choices"]
): Facts => ({
  now,
  today: dayIn(supplier?.timeZone ?? "UTC", now),
  supplierExists: supplier !== null,
  choices
})
