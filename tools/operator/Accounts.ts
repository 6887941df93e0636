/** Commands about platform accounts. */
import type { AccountNumber } from "@data-import/domain/account/Account"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { accountText } from "@data-import/domain/import/AccountText"
import { formatInstant } from "@data-import/domain/schema/Field"
import { Accounts } from "@data-import/domain/ports/Accounts"
import type { Attempt } from "@data-import/domain/account/ImportDetails"
import { type AuditEntry, AuditLog } from "@data-import/domain/ports/AuditLog"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { rawNumber } from "@data-import/domain/schema/RawNumber"
import { DateTime, Effect, Option, type Schema, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { type Entry, plain, say, table } from "@data-import/terminal/Answer"
import { operatorFor } from "./Caller.ts"
import { asAccountNumber } from "./Parameter.ts"
import { Refused } from "@data-import/terminal/Refused"
import { onStorage } from "./Storage.ts"

const attemptEntry = ({ dryRun, endedAt, errors, id, outcome, startedAt }: Attempt): Entry => ({
  id,
  dry_run: dryRun,
  started_at: formatInstant(startedAt),
  ended_at: endedAt === null ? null : formatInstant(endedAt),
  outcome,
  errors: errors.map(({ attr, code }) => ({ code, attr }))
})

const auditEntry = ({
  action,
  apiKey,
  at,
  organisation,
  outcome,
  requestId
}: AuditEntry): Entry => ({
  at: formatInstant(at),
  organisation,
  api_key: apiKey,
  request_id: requestId,
  action,
  outcome
})

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
interface StoredAccount extends Pick<Lists, "documents"> {
  readonly [member: string]: Schema.Json
  readonly kraken_account_number: string
  readonly ledger_balances: ReadonlyArray<Entry>
  readonly account: Entry & { readonly [Name in PayloadLists]?: Lists[Name] }
  readonly added: Pick<Lists, "notes" | "payment_instructions" | "statements" | "transactions">
}

/** With its attempts and its audit log. */
interface Description extends StoredAccount, Pick<Lists, "attempts" | "audit"> {}

const transactionsOf = (ledger: Entry): ReadonlyArray<Entry> =>
  ["historical_statement_transactions", "current_statement_transactions"].flatMap((list) =>
    ((ledger[list] ?? []) as ReadonlyArray<Entry>).map((transaction) => ({
      ...transaction,
      ledger_code: ledger["ledger_code"] ?? null
    }))
  )

/** The lists as they are shown: those of the payload with what was added behind them. */
const listsOf = (description: Description): Lists => {
  const { account, added, attempts, audit, documents, ledger_balances } = description
  const { ledgers = [] } = account
  return {
    metadata: account.metadata ?? [],
    supply_addresses: account.supply_addresses ?? [],
    customers: account.customers ?? [],
    ledgers: ledgers.map((ledger, index) => ({ ...ledger, ...ledger_balances[index] })),
    transactions: [...ledgers.flatMap(transactionsOf), ...added.transactions],
    notes: [...(account.notes ?? []), ...added.notes],
    statements: [...(account.statements ?? []), ...added.statements],
    documents,
    payment_instructions: added.payment_instructions,
    attempts,
    audit
  }
}

const section = (name: string, members: ReadonlyArray<string>, entries: ReadonlyArray<Entry>) => {
  const lines = entries.map((entry) =>
    Object.fromEntries(members.map((member) => [member, plain(entry[member])]))
  )
  const title = `${name.replaceAll("_", " ")}: ${entries.length}`
  return entries.length === 0 ? title : `${title}\n${table(members, lines)}`
}

const line = ([name, value]: readonly [string, Schema.Json | undefined]) =>
  `${name.replaceAll("_", " ")}: ${plain(value) ?? "-"}`

const readable = (description: Description): string => {
  const { account, kraken_account_number, ...members } = description
  const lists = listsOf(description)
  const blocks = [
    [
      `Account ${kraken_account_number}`,
      ...Object.entries(members)
        .filter(([, value]) => typeof value === "string")
        .map(line)
    ],
    [
      "account",
      ...Object.entries(account)
        .filter(([name]) => !(name in lists))
        .map(line)
    ]
  ]
  return [
    ...blocks.map((lines) => lines.join("\n")),
    ...Object.entries(sections).map(([name, shown]) =>
      section(name, shown, lists[name as keyof Lists])
    )
  ].join("\n\n")
}

/** Keeps the digits of a number that a double cannot hold; metadata may have some. */
const keepDigits = (_: string, value: unknown, { source }: { readonly source?: string }) =>
  typeof value === "number" && source !== undefined && String(value) !== source
    ? rawNumber(source)
    : value

/** The parser of requests is not used, because an account's lists may be longer than a request's. */
const parsed = (text: string) =>
  JSON.parse(text, keepDigits as Parameters<typeof JSON.parse>[1]) as StoredAccount

const missing = (number: AccountNumber) => new Refused({ why: `There is no account ${number}.` })

const keyOf = Effect.fnUntraced(function* (number: AccountNumber) {
  const accounts = yield* Accounts
  const located = yield* accounts.locate(number)
  if (Option.isSome(located)) return located.value
  // Of an erased account, the money is there.
  const left = yield* accounts.read(number)
  return Option.isSome(left) ? left.value.key : yield* missing(number)
})

/** The operator, who reads or changes an account of this import. */
const callerFor = Effect.fnUntraced(function* ({ import_supplier }: ImportKey) {
  const configuration = yield* Configuration
  const { organisation } = Option.getOrThrow(yield* configuration.supplier(import_supplier))
  return yield* operatorFor(organisation)
})

const show = Command.make(
  "show",
  { number: Argument.String("number").pipe(asAccountNumber) },
  Effect.fnUntraced(function* ({ number }) {
    const accounts = yield* Accounts
    const auditLog = yield* AuditLog
    const key = yield* keyOf(number)
    const caller = yield* callerFor(key)
    yield* auditLog.recordRead({ key, action: "read_account", caller, at: yield* DateTime.now })
    const found = yield* accounts.read(number)
    if (Option.isNone(found)) return yield* missing(number)
    const text = yield* Stream.mkString(accountText(found.value))
    const description: Description = {
      ...parsed(text),
      attempts: (yield* auditLog.attempts(key)).map(attemptEntry),
      audit: (yield* auditLog.audit(key)).map(auditEntry)
    }
    yield* say(description, readable(description))
  }, onStorage)
).pipe(
  Command.withDescription("Show an account, what was added to it, and how; the log records it")
)

const endInstruction = Command.make(
  "end-instruction",
  { number: Argument.String("number").pipe(asAccountNumber) },
  Effect.fnUntraced(function* ({ number }) {
    const accounts = yield* Accounts
    const key = yield* keyOf(number)
    const caller = yield* callerFor(key)
    const ended = yield* accounts.endInstruction({ key, caller, at: yield* DateTime.now })
    yield* say(
      { kraken_account_number: number, ended },
      ended
        ? `The payment instruction of ${number} is ended.`
        : `${number} has no active payment instruction.`
    )
  }, onStorage)
).pipe(
  Command.withDescription("End the active payment instruction, so that another one can be added")
)

export const account = Command.make("account").pipe(
  Command.withDescription("Platform accounts"),
  Command.withSubcommands([show, endInstruction])
)
