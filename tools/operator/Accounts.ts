/** Commands about platform accounts. */
import type { AccountNumber } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { accountText } from "@data-import/domain/accounts/AccountText"
import { formatInstant } from "@data-import/domain/schema/Field"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import type { Attempt } from "@data-import/domain/imports/ImportDetails"
import { type AuditEntry, AuditLog } from "@data-import/domain/audit/AuditLog"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { rawNumber } from "@data-import/domain/schema/RawNumber"
import { DateTime, Effect, Option, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import {
  accountText as textOf,
  type AuditedAccount,
  type StoredAccount
} from "@data-import/terminal/AccountText"
import { type Entry, say } from "@data-import/terminal/Answer"
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
  // Of an erased account, the amounts still exist.
  const left = yield* Stream.runHead(accounts.read([number]))
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
  {
    number: Argument.String("number").pipe(
      Argument.withDescription("The number of the account on the platform, like A-0123ABCD"),
      asAccountNumber
    )
  },
  Effect.fnUntraced(function* ({ number }) {
    const accounts = yield* Accounts
    const auditLog = yield* AuditLog
    const key = yield* keyOf(number)
    const caller = yield* callerFor(key)
    yield* auditLog.recordRead({ key, action: "read_account", caller, at: yield* DateTime.now })
    const found = yield* Stream.runHead(accounts.read([number]))
    if (Option.isNone(found)) return yield* missing(number)
    const text = yield* Stream.mkString(accountText(found.value))
    const description: AuditedAccount = {
      ...parsed(text),
      attempts: (yield* auditLog.attempts(key)).map(attemptEntry),
      audit: (yield* auditLog.audit(key)).map(auditEntry)
    }
    yield* say(description, textOf(description))
  }, onStorage)
).pipe(
  Command.withDescription("Show an account, what was added to it, and how; the log records it"),
  Command.withExamples([
    {
      command: "operator account show A-0123ABCD",
      description: "Show the whole account, its attempts and its audit log"
    }
  ])
)

const endInstruction = Command.make(
  "end-instruction",
  {
    number: Argument.String("number").pipe(
      Argument.withDescription("The number of the account on the platform, like A-0123ABCD"),
      asAccountNumber
    )
  },
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
  Command.withDescription("End the active payment instruction, so that another one can be added"),
  Command.withExamples([
    {
      command: "operator account end-instruction A-0123ABCD",
      description: "Before the client adds another instruction"
    }
  ])
)

export const account = Command.make("account").pipe(
  Command.withDescription("Platform accounts"),
  Command.withSubcommands([show, endInstruction])
)
