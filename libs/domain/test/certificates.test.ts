/**
 * Entries, trees and sums of certificates.
 * Source: docs/contract/import.md#payload-hash, docs/contract/post-import.md, RFC 9162.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import { Hex } from "effect/encoding"
import fc from "fast-check"
import { factsAt, validateUnknownAccount } from "../src/accounts/AccountValidation.ts"
import type { Account } from "../src/accounts/Account.ts"
import {
  type AddedItems,
  entryHash,
  entryText,
  nothingAdded
} from "../src/certificates/AccountEntry.ts"
import { sumsOf, SumsBuilder } from "../src/certificates/CertifiedSums.ts"
import { LocalTree } from "../src/certificates/LocalTree.ts"
import { readAddition, SentAdditions } from "../src/certificates/SentAdditions.ts"
import { decideTransactions } from "../src/additions/TransactionImport.ts"
import { inclusionPath, isIncluded } from "../src/merkle/InclusionProof.ts"
import { compareCodePoints } from "../src/support/CodePoints.ts"
import { finish } from "../src/support/Steps.ts"
import { hashing } from "../testing/memory/Hashing.ts"
import { domesticPayload, sampleTime } from "../testing/samples.ts"
import { putAll, type Wire } from "../testing/wire.ts"
import { accountWith as openAccount, dayOf, transactionOf } from "./accountModel.ts"

const facts = factsAt(sampleTime)

const accountWith = (values: Wire = {}): Account =>
  Result.getOrThrow(validateUnknownAccount(putAll(domesticPayload(), values), sampleTime))

const entryOf = (account: Account, added: AddedItems = nothingAdded): string =>
  finish(entryText(hashing, account, added))

const rootOf = (accounts: ReadonlyArray<Account>): string => {
  const tree = new LocalTree()
  for (const account of accounts) {
    tree.add(account.external_account_number, entryHash(hashing, entryOf(account)))
  }
  return Hex.encode(tree.root(hashing))
}

/** What is stored of bodies that were sent one after the other, and whether each was accepted. */
const additions = (account: Account, ...bodies: ReadonlyArray<object>) => {
  const sent = new SentAdditions(account, sampleTime)
  const accepted = bodies.map((body) => {
    const { external_account_number, import_supplier } = account
    const whole = { import_supplier, external_account_number, ...body }
    const read = readAddition(whole, facts)
    return Result.isSuccess(read) && sent.add(read.success)
  })
  return { items: sent.items, accepted }
}

const payment = (id: string, values: object = {}) => ({
  transaction_id: id,
  transaction_date: "2024-01-05",
  amount: 12.5,
  type: "PAYMENT",
  reason: "ACCOUNT_CHARGE_PAYMENT",
  payment_type: "CASH",
  ...values
})
const note = (body: string, values: object = {}) => ({
  body,
  created_at: "2024-01-05T10:00:00Z",
  ...values
})
const statement = (id: string, values: object = {}) => ({
  bill_period_from_date: "2023-01-01",
  bill_period_to_date: "2023-01-31",
  statement_id: id,
  ...values
})
const card = { vendor: "STRIPE", reference: "pm_1", type: "CARD" }

describe("the entry of an account", () => {
  it("is canonical JSON with exact balances, its ledgers in the order of their codes", () => {
    const ledgers = [
      { ledger_code: "GAS", last_statement_balance: "0.1" },
      { ledger_code: "ELECTRICITY", last_statement_balance: 0.2 }
    ]
    const entry = entryOf(
      accountWith({ external_account_number: "Ä-1", ledgers, transfer_balance: 0.3 })
    )
    expect(entry).toMatch(/^\{"account":"[0-9a-f]{64}","added":"","balance":"0.30",/)
    expect(entry.slice(entry.indexOf('"external'))).toBe(
      '"external_account_number":"Ä-1","ledgers":[{"balance":"0.20","ledger_code":"ELECTRICITY"},' +
        '{"balance":"0.10","ledger_code":"GAS"}]}'
    )
  })

  it("does not depend on the order in which items were added", () => {
    const account = accountWith()
    const bodies = [
      { transactions: [payment("P-1"), payment("P-2")] },
      { notes: [note("first"), note("second", { is_pinned: true })] },
      { statements: [statement("H-1", { gross_amount: 99.9 })] },
      card
    ]
    const entries = [bodies, bodies.toReversed()].map((order) =>
      entryOf(account, additions(account, ...order).items)
    )
    expect(new Set(entries).size).toBe(1)
    expect(entries[0]).toMatch(/"added":"[0-9a-f]{64}"/)
    expect(entries[0]).not.toBe(entryOf(account, additions(account, ...bodies.slice(1)).items))
  })

  it("has the items as they were sent, without what the service made of them", () => {
    const account = accountWith()
    const sent = [payment("P-1", { display_note: "Paid in cash" }), payment("P-2")]
    const view = openAccount({ lastClosingDate: dayOf("2025-01-31") })
    const { change: decided } = Result.getOrThrow(
      decideTransactions(
        sent.map((each) => transactionOf(each)),
        {
          checkPreviouslyAdded: true,
          forceAddToCurrentStatement: true,
          onDifference: "fail",
          today: dayOf("2025-06-01"),
          now: sampleTime
        }
      )(view)
    )
    expect(decided.transactions[0]?.movedFrom).toBe("2024-01-05")
    expect(decided.notes).toHaveLength(1)
    const stored: AddedItems = {
      ...nothingAdded,
      transactions: decided.transactions.map((each) => ({
        ...each,
        transaction: { ...each.transaction, tax_items: [] }
      })),
      notes: [...decided.notes, { body: "x", created_at: sampleTime, is_pinned: false }]
    }
    const local = additions(
      account,
      { transactions: sent },
      { notes: [note("x", { created_at: DateTime.formatIso(sampleTime) })] }
    )
    expect(entryOf(account, stored)).toBe(entryOf(account, local.items))
  })
})

describe("what was sent after the import", () => {
  it.each([
    [
      "a transaction",
      { transactions: [payment("P-1")] },
      { transactions: [payment("P-1", { amount: 1 })] }
    ],
    ["a note", { notes: [note("x")] }, { notes: [note("x", { is_pinned: true })] }],
    [
      "a statement",
      { statements: [statement("H", { number: "1" })] },
      { statements: [statement("H", { number: "2" })] }
    ]
  ])("adds %s once, and refuses it with other content", (_, body, other) => {
    const account = accountWith()
    const once = additions(account, body)
    const { accepted, items } = additions(account, body, body, other)
    expect(accepted).toEqual([true, true, false])
    expect(items).toEqual(once.items)
  })

  it("completes a statement of the payload, which then counts once", () => {
    const account = accountWith({ statements: [statement("S", { statement_path: "s.pdf" })] })
    const { items } = additions(account, { statements: [statement("S", { gross_amount: 5 })] })
    expect(items.statements).toMatchObject([{ statement_id: "S", statement_path: "s.pdf" }])
    expect(sumsOf(account, items).statements).toEqual([1, "500"])
  })

  it("refuses a note without the time that the service has answered", () => {
    const [{ created_at: _, ...untimed }] = [note("x")]
    expect(additions(accountWith(), { notes: [untimed] }).accepted).toEqual([false])
  })
})

describe("the tree of a book", () => {
  const accounts = Array.from({ length: 9 }, (_, at) =>
    accountWith({ external_account_number: `NL-${at}` })
  )

  it.each([1, 2, 3, 7, 8, 9])("does not depend on the order of %i accounts", (size) => {
    const some = accounts.slice(0, size)
    const root = rootOf(some)
    fc.assert(
      fc.property(fc.shuffledSubarray(some, { minLength: size }), (shuffled) => {
        expect(rootOf(shuffled)).toBe(root)
      }),
      { numRuns: 10 }
    )
  })

  it("sorts numbers by code points, beyond U+FFFF too, as their UTF-8 is sorted", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "~", "\u{ffee}", "\u{10000}", "\u{1f600}")
    })
    fc.assert(
      fc.property(text, text, (one, other) => {
        const bytes = Buffer.compare(Buffer.from(one), Buffer.from(other))
        expect(Math.sign(compareCodePoints(one, other))).toBe(bytes)
      })
    )
    const last = accountWith({ external_account_number: "\u{1f600}" })
    const first = accountWith({ external_account_number: "\u{ffee}" })
    const leaves = [first, last].map((each) => entryHash(hashing, entryOf(each)))
    const path = inclusionPath(hashing.digest, leaves, 0)
    const proof = { leaf: leaves[0] as Uint8Array, index: 0, size: 2, path }
    const root = Result.getOrThrow(Hex.decode(rootOf([last, first])))
    expect(isIncluded(hashing.digest, proof, root)).toBe(true)
  })
})

describe("the sums of accounts", () => {
  it("are exact, in the order of codes and kinds, beyond what a double holds", () => {
    const builder = new SumsBuilder()
    const account = accountWith({
      ledgers: [{ ledger_code: "GAS", last_statement_balance: 9999999999.99 }],
      transfer_balance: 9999999999.99
    })
    const { items } = additions(
      account,
      { transactions: [payment("P-1")] },
      { statements: [statement("H")] }
    )
    for (let count = 0; count < 10_000; count++) builder.add(sumsOf(account, items))
    expect(builder.sums()).toMatchObject({
      balance_as_imported: "99999999999900.00",
      balance_added: "125000.00",
      balance: "100000000124900.00",
      ledger_balances: [{ ledger_code: "GAS", ledgers: 10_000, balance: "99999999999900.00" }],
      transactions: [
        { type: "PAYMENT", reason: "ACCOUNT_CHARGE_PAYMENT", count: 10_000, amount: "125000.00" }
      ]
    })
  })
})
