/** What the operator sees of an account. */
import { type Account, AccountNumber } from "@data-import/domain/accounts/Account"
import { parse } from "@data-import/domain/schema/Json"
import {
  adding,
  card,
  changeAccount,
  creditOf,
  imported
} from "@data-import/domain/testing/importedAccounts"
import { domesticAccount } from "@data-import/domain/testing/samples"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, it } from "@effect/vitest"
import { Effect, Exit, Layer, Result } from "effect"
import { TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import { memory } from "./commandLine.ts"

/** A storage with the sample account and an addition to it, and the operator on it. */
const arrange = Effect.fnUntraced(function* (values: Partial<Account> = {}) {
  const ports = yield* Layer.build(memory)
  const account = yield* Effect.gen(function* () {
    const created = yield* imported((key) => ({ ...domesticAccount(key), ...values }))
    const transaction = creditOf("added later")
    yield* changeAccount(
      created,
      (view) => ({
        ...adding(transaction)(view),
        transactions: [{ transaction, movedFrom: transaction.transaction_date }],
        instruction: card
      }),
      { action: "create_transactions" }
    )
    return created
  }).pipe(Effect.provideContext(ports))
  const command = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const storage = Layer.succeedContext(ports)
    const before = { out: yield* TestConsole.logLines, err: yield* TestConsole.errorLines }
    const exit = yield* Effect.exit(
      Effect.provide(run(["account", ...args], storage, "tester"), NodeServices.layer)
    )
    const out = (yield* TestConsole.logLines).slice(before.out.length).join("\n")
    const err = (yield* TestConsole.errorLines).slice(before.err.length).join("\n")
    return { done: Exit.isSuccess(exit), out, err }
  })
  const show = (...args: ReadonlyArray<string>) => command("show", ...args)
  return { ...account, account: command, show }
})

it.effect("an account is shown as JSON, with everything on it and its history", () =>
  Effect.gen(function* () {
    const { caller, key, number, show } = yield* arrange()
    const { done, err, out } = yield* show(number, "--json")
    expect({ done, err }).toEqual({ done: true, err: "" })
    const shown = JSON.parse(out) as object
    expect(Object.keys(shown)).toEqual([
      "kraken_account_number",
      "import_supplier",
      "external_account_number",
      "account_created_at",
      "reverted_at",
      "operations_team_name",
      "balance",
      "ledger_balances",
      "account",
      "added",
      "documents",
      "attempts",
      "audit"
    ])
    expect(shown).toMatchObject({
      ...key,
      kraken_account_number: number,
      account_created_at: "2026-01-01T12:00:20Z",
      balance: "60.00",
      ledger_balances: [{ ledger_code: "ELECTRICITY_LEDGER", balance: "50.00" }],
      account: {
        billing_email: "regning.holm@example.com",
        transfer_balance: 50,
        customers: [{ given_name: "Astrid" }, { given_name: "Jeppe" }],
        ledgers: [{ ledger_code: "ELECTRICITY_LEDGER", ledger_balance: 50 }]
      },
      added: {
        transactions: [
          {
            transaction_id: "added later",
            transaction_date: "2025-12-01",
            amount: "10.00",
            type: "CREDIT",
            moved_from_date: "2025-12-01"
          }
        ],
        payment_instructions: [{ vendor: "STRIPE", details: { last_four: "4242" } }]
      },
      attempts: [{ dry_run: false, outcome: "created", errors: [] }],
      audit: [
        { action: "stage", outcome: "created", request_id: caller.requestId },
        { action: "process", outcome: "created" },
        { action: "create_transactions", outcome: "created", at: "2026-01-01T12:01:00Z" },
        {
          action: "read_account",
          outcome: "read",
          api_key: "operator:tester",
          organisation: caller.organisation
        }
      ]
    })
  })
)

it.effect("metadata is shown with the digits that a double cannot hold", () =>
  Effect.gen(function* () {
    const value = Result.getOrThrow(parse('{"id":12345678901234567890,"x":1.50}')) as object
    const { number, show } = yield* arrange({ metadata: [{ key: "k", value }] })
    const { out } = yield* show(number, "--json")
    expect(out).toContain('"id": 12345678901234567890')
  })
)

it.effect("an account is shown as text, with a table for each kind of item", () =>
  Effect.gen(function* () {
    const { key, number, show } = yield* arrange()
    const { out } = yield* show(number)
    const blocks = out.split("\n\n").map((block) => block.split("\n"))
    expect(blocks.map(([title]) => title)).toEqual([
      `Account ${number}`,
      "account",
      "metadata: 2",
      "supply addresses: 1",
      "customers: 2",
      "ledgers: 1",
      "transactions: 8",
      "notes: 2",
      "statements: 2",
      "documents: 3",
      "payment instructions: 1",
      "attempts: 1",
      "audit: 4"
    ])
    expect(blocks[0]?.slice(1)).toEqual([
      `import supplier: ${key.import_supplier}`,
      `external account number: ${key.external_account_number}`,
      "account created at: 2026-01-01T12:00:20Z",
      "operations team name: Migration Team",
      "balance: 60.00"
    ])
    expect(blocks[1]).toContain("billing email: regning.holm@example.com")
    expect(blocks[6]?.at(1)).toMatch(/^transaction_id +transaction_date +type +amount +ledger_code/)
    expect(blocks[6]?.at(-1)).toMatch(/^added later +2025-12-01 +CREDIT +10\.00 +- +2025-12-01$/)
  })
)

it.effect("a supplier's text is cut to one line and to 80 characters", () =>
  Effect.gen(function* () {
    const body = `\u{1B}[2Jfirst\r\nsecond\u{202E}${"x".repeat(200)}`
    const { number, show } = yield* arrange({ notes: [{ body }], ledgers: [], statements: [] })
    const { out } = yield* show(number)
    expect(out).toMatch(/^- +- +\[2Jfirst second x+…/m)
    expect(out).toContain("\n\nledgers: 0\n\n")
    expect(out.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
)

const instructionOf = (out: string) =>
  (JSON.parse(out) as { added: { payment_instructions: Array<object> } }).added
    .payment_instructions[0]

it.effect("the active payment instruction is ended once, and by the operator", () =>
  Effect.gen(function* () {
    const { account, number, show } = yield* arrange()
    expect(instructionOf((yield* show(number, "--json")).out)).toHaveProperty("ended_at", null)
    const ended = yield* account("end-instruction", number)
    expect(ended).toEqual({
      done: true,
      out: `The payment instruction of ${number} is ended.`,
      err: ""
    })
    const shown = (yield* show(number, "--json")).out
    const ended_at = "1970-01-01T00:00:00Z"
    expect(instructionOf(shown)).toMatchObject({ reference: "pm_1", ended_at })
    const { audit } = JSON.parse(shown) as { audit: Array<object> }
    expect(audit.at(-2)).toMatchObject({
      at: ended_at,
      action: "end_payment_instruction",
      outcome: "ended",
      api_key: "operator:tester"
    })
    const again = yield* account("end-instruction", number, "--json")
    expect(JSON.parse(again.out)).toEqual({ kraken_account_number: number, ended: false })
    expect((yield* account("end-instruction", number)).out).toBe(
      `${number} has no active payment instruction.`
    )
    expect(instructionOf((yield* show(number, "--json")).out)).toEqual(instructionOf(shown))
  })
)

it.effect("no payment instruction is ended where there is no account", () =>
  Effect.gen(function* () {
    const { account } = yield* arrange()
    const { done, err, out } = yield* account("end-instruction", "A-00000000", "--json")
    expect({ done, out }).toEqual({ done: false, out: "" })
    expect(err).toContain("There is no account A-00000000.")
  })
)

it.effect("an unknown account and an invalid number are refused", () =>
  Effect.gen(function* () {
    const { show } = yield* arrange()
    const { done, err, out } = yield* show(AccountNumber.make("A-00000000"))
    expect({ done, out }).toEqual({ done: false, out: "" })
    expect(err).toContain("There is no account A-00000000.")
    const misspelled = yield* show("a-1")
    expect(misspelled.done).toBe(false)
    expect(misspelled.err).toContain("an account number like A-0123ABCD")
  })
)
