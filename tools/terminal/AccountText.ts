/** A platform account with all its parts, as text for people. */
import type { Schema } from "effect"
import { type Entry, inEnglish, line, plain, table } from "./Answer.ts"

/** The lists of an account, in the order in which they are shown, and what is shown of each. */
const sections = {
  metadata: ["key", "value"],
  supply_addresses: [
    "supply_address1",
    "supply_postcode",
    "customer_at_supply_address_from_date",
    "primary_place_of_residence_since"
  ],
  customers: ["given_name", "family_name", "email", "mobile", "date_of_birth"],
  ledgers: [
    "ledger_code",
    "balance",
    "ledger_balance",
    "last_statement_balance",
    "last_statement_closing_date"
  ],
  transactions: [
    "transaction_id",
    "transaction_date",
    "type",
    "amount",
    "ledger_code",
    "moved_from_date"
  ],
  notes: ["created_at", "is_pinned", "body", "document_paths"],
  statements: [
    "statement_id",
    "bill_period_from_date",
    "bill_period_to_date",
    "gross_amount",
    "statement_path"
  ],
  documents: ["document_path", "size", "etag", "checksum"],
  payment_instructions: ["vendor", "reference", "type", "details", "ended_at"],
  attempts: ["id", "dry_run", "started_at", "ended_at", "outcome", "errors"],
  audit: ["at", "action", "outcome", "organisation", "api_key", "request_id"]
} as const

type Lists = { readonly [Name in keyof typeof sections]: ReadonlyArray<Entry> }

type PayloadLists = Exclude<
  keyof Lists,
  "attempts" | "audit" | "documents" | "payment_instructions" | "transactions"
>

/** An account as a client reads it. */
export interface StoredAccount extends Pick<Lists, "documents"> {
  readonly [member: string]: Schema.Json
  readonly kraken_account_number: string
  readonly ledger_balances: ReadonlyArray<Entry>
  readonly account: Entry & { readonly [Name in PayloadLists]?: Lists[Name] }
  readonly added: Pick<Lists, "notes" | "payment_instructions" | "statements" | "transactions">
}

/** For the operator: with its attempts and its audit log. */
export interface AuditedAccount extends StoredAccount, Pick<Lists, "attempts" | "audit"> {}

type AccountLists = Omit<Lists, "attempts" | "audit">

const transactionsOf = (ledger: Entry): ReadonlyArray<Entry> =>
  ["historical_statement_transactions", "current_statement_transactions"].flatMap((list) =>
    ((ledger[list] ?? []) as ReadonlyArray<Entry>).map((transaction) => ({
      ...transaction,
      ledger_code: ledger["ledger_code"] ?? null
    }))
  )

/** The lists as they are shown: those of the payload followed by additions. */
const listsOf = (description: StoredAccount): AccountLists => {
  const { account, added, documents, ledger_balances } = description
  const { ledgers = [] } = account
  return {
    metadata: account.metadata ?? [],
    supply_addresses: account.supply_addresses ?? [],
    customers: account.customers ?? [],
    // The payload of an erased account is gone, and its balances are kept.
    ledgers: ledger_balances.map((balance, index) => ({ ...ledgers[index], ...balance })),
    transactions: [...ledgers.flatMap(transactionsOf), ...added.transactions],
    notes: [...(account.notes ?? []), ...added.notes],
    statements: [...(account.statements ?? []), ...added.statements],
    documents,
    payment_instructions: added.payment_instructions
  }
}

const section = (name: string, members: ReadonlyArray<string>, entries: ReadonlyArray<Entry>) => {
  const lines = entries.map((entry) =>
    Object.fromEntries(members.map((member) => [member, plain(entry[member])]))
  )
  const title = line(name, inEnglish(entries.length))
  return entries.length === 0 ? title : `${title}\n${table(members, lines)}`
}

export const accountText = (description: StoredAccount | AuditedAccount): string => {
  const { account, attempts, audit, kraken_account_number, ...members } = description
  const lists: Readonly<Record<string, ReadonlyArray<Entry>>> = {
    ...listsOf(description),
    ...(attempts !== undefined && { attempts: attempts as ReadonlyArray<Entry> }),
    ...(audit !== undefined && { audit: audit as ReadonlyArray<Entry> })
  }
  const blocks = [
    [
      `Account ${kraken_account_number}`,
      ...Object.entries(members)
        .filter(([, value]) => typeof value === "string")
        .map(([name, value]) => line(name, value))
    ],
    [
      "account",
      ...Object.entries(account)
        .filter(([name]) => !(name in lists))
        .map(([name, value]) => line(name, value))
    ]
  ]
  return [
    ...blocks.map((lines) => lines.join("\n")),
    ...Object.entries(sections).flatMap(([name, shown]) =>
      lists[name] === undefined ? [] : [section(name, shown, lists[name])]
    )
  ].join("\n\n")
}
