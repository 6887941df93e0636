/** Commands about platform accounts. */
import { encodeDescription } from "@data-import/domain/account/AccountDescription"
import { formatInstant } from "@data-import/domain/schema/Field"
import { Accounts } from "@data-import/domain/ports/Accounts"
import type { Attempt } from "@data-import/domain/account/ImportDetails"
import { type AuditEntry, AuditLog } from "@data-import/domain/ports/AuditLog"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { DateTime, Effect, Option, type Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { type Entry, plain, say, table } from "./Answer.ts"
import { operatorFor } from "./Caller.ts"
import { asAccountNumber } from "./Parameter.ts"
import { Refused } from "./Refused.ts"
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
  notes: ["created_at", "is_pinned", "body", "documents"],
  statements: [
    "statement_id",
    "bill_period_from_date",
    "bill_period_to_date",
    "origin",
    "gross_amount",
    "document"
  ],
  payment_instructions: ["vendor", "reference", "type", "details", "ended_at"],
  attempts: ["id", "dry_run", "started_at", "ended_at", "outcome", "errors"],
  audit: ["at", "action", "outcome", "organisation", "api_key", "request_id"]
} as const

type Lists = { readonly [Name in keyof typeof sections]: ReadonlyArray<Entry> }

type Description = ReturnType<typeof encodeDescription> & {
  readonly attempts: ReadonlyArray<Entry>
  readonly audit: ReadonlyArray<Entry>
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

const readable = ({ account, kraken_account_number, ...members }: Description): string => {
  const { metadata, supply_addresses, ...fields } = account
  const lists = { ...members, metadata, supply_addresses } as Lists
  const blocks = [
    [
      `Account ${kraken_account_number}`,
      ...Object.entries(members)
        .filter(([, value]) => typeof value === "string")
        .map(line)
    ],
    ["account", ...Object.entries(fields).map(line)]
  ]
  return [
    ...blocks.map((lines) => lines.join("\n")),
    ...Object.entries(sections).map(([name, shown]) =>
      section(name, shown, lists[name as keyof Lists])
    )
  ].join("\n\n")
}

const show = Command.make(
  "show",
  { number: Argument.String("number").pipe(asAccountNumber) },
  Effect.fnUntraced(function* ({ number }) {
    const accounts = yield* Accounts
    const auditLog = yield* AuditLog
    const found = yield* accounts.describe(number)
    if (Option.isNone(found)) return yield* new Refused({ why: `There is no account ${number}.` })
    const { key } = found.value
    const description = {
      ...encodeDescription(found.value),
      attempts: (yield* auditLog.attempts(key)).map(attemptEntry),
      audit: (yield* auditLog.audit(key)).map(auditEntry)
    }
    yield* say(description, readable(description))
  }, onStorage)
).pipe(Command.withDescription("Show everything that is on an account, and how it came there"))

const endInstruction = Command.make(
  "end-instruction",
  { number: Argument.String("number").pipe(asAccountNumber) },
  Effect.fnUntraced(function* ({ number }) {
    const accounts = yield* Accounts
    const configuration = yield* Configuration
    const found = yield* accounts.describe(number)
    if (Option.isNone(found)) return yield* new Refused({ why: `There is no account ${number}.` })
    const { key } = found.value
    const { organisation } = Option.getOrThrow(yield* configuration.supplier(key.import_supplier))
    const caller = operatorFor(organisation)
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
