/** The result of lookups, and its limits: one part of the contract of `Accounts`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { itemBytes, type Lookup, sizeOf, transactionBytes } from "../src/accounts/AccountChange.ts"
import { formatInstant } from "../src/schema/Field.ts"
import { StatementId } from "../src/accounts/Statement.ts"
import { encodeTransaction, TransactionId } from "../src/accounts/Transaction.ts"
import { expectSame, noonPlus, times } from "./freshNames.ts"
import {
  noteTimesOf,
  accountWith,
  adding,
  changeAccount,
  creditOf,
  idsOf,
  imported,
  importedAt,
  mayStatement,
  noteOf,
  normalized,
  viewOf
} from "./importedAccounts.ts"

type It = Vitest.MethodsNonLive<Accounts | ImportProcesses | AuditLog | Configuration>

const ids = (...texts: ReadonlyArray<string>) => texts.map((text) => TransactionId.make(text))
const statementIds = (...texts: ReadonlyArray<string>) =>
  texts.map((text) => StatementId.make(text))

const lookingAtEach = (it: It): void => {
  const looks: ReadonlyArray<readonly [string, Lookup, ReadonlyArray<string>]> = [
    ["nothing", {}, []],
    ["empty lists", { notes: [], transactionIds: [], statementIds: [] }, []],
    ["a note", { notes: [{ body: "b" }] }, ["note 0"]],
    ["notes, one of them unknown", { notes: [{ body: "B" }, { body: "b" }] }, ["note 1"]],
    ["transactions", { transactionIds: ids("t1", "t9", "T2") }, ["t1"]],
    ["statements", { statementIds: statementIds("s2", "S1", "s9") }, ["s2"]],
    [
      "everything",
      {
        notes: [{ body: "b" }],
        transactionIds: ids("t2", "t1"),
        statementIds: statementIds("s1")
      },
      ["note 0", "t1", "t2", "s1"]
    ]
  ]

  it.effect.each(looks)("returns exactly the named items: %s", ([, lookup, names]) =>
    Effect.gen(function* () {
      const account = yield* imported(
        accountWith({ notes: [{ body: "b" }], statements: [mayStatement("s1")] })
      )
      yield* changeAccount(account, () => ({
        transactions: ["t1", "t2"].map((id) => ({ transaction: creditOf(id), movedFrom: null })),
        statements: [mayStatement("s2")]
      }))
      const view = normalized(yield* viewOf(account.key, lookup))
      expect(view.noteTimes).toHaveLength(lookup.notes?.length ?? 0)
      expect([
        ...view.noteTimes.flatMap((time, index) => (time === null ? [] : [`note ${index}`])),
        ...[...view.transactions, ...view.statements].map(({ id }) => id)
      ]).toEqual(names)
    })
  )
}

const on = (...paths: ReadonlyArray<string>) => ({
  document_paths: paths.map((document_path) => ({ document_path }))
})

const early = "2024-02-29T23:59:59Z"
const late = noonPlus(40.75)
const long = "\u{1F600}".repeat(10_000)

/** A looked-up note, and the time of creation of the first equal one; null if there is none. */
const noteLookups: ReadonlyArray<readonly [string, object, DateTime.Utc | null]> = [
  ["the first that came of a body, not the earliest", { body: "same" }, importedAt],
  ["the one of this second", { body: "same", created_at: early }, DateTime.makeUnsafe(early)],
  ["one of a part of this second", { body: "same", created_at: formatInstant(late) }, late],
  ["none of the second after", { body: "same", created_at: "2024-03-01T00:00:00Z" }, null],
  ["none of the second before", { body: "same", created_at: "2024-02-29T23:59:58Z" }, null],
  ["none in another case", { body: "Same" }, null],
  ["a long body", { body: long }, importedAt],
  ["none of a body that is longer", { body: `${long.slice(2)}a` }, null],
  ["a body with backslashes", { body: "\\x41 \\\\ \\" }, importedAt],
  ["none of a body that these would spell", { body: "A \\ \\" }, null],
  ["the same documents", on("1.pdf", "/2.pdf"), importedAt],
  ["the same documents at this second", { ...on("1.pdf"), created_at: formatInstant(late) }, late],
  ["none of other documents at this second", { ...on("1.pdf"), created_at: early }, null],
  ["none of the documents in another order", on("2.pdf", "1.pdf"), null],
  ["none of one of the documents", on("2.pdf"), null],
  ["none of documents beside a body", on("b.pdf"), null],
  ["none of a body that spells the documents", { body: '["1.pdf","2.pdf"]' }, null]
]

const lookingAtNotes = (it: It): void => {
  const account = Effect.gen(function* () {
    const whose = yield* imported(
      accountWith({
        notes: [
          { body: "same" },
          { body: "same", created_at: early },
          { body: "same", created_at: early },
          { body: long },
          { body: "\\x41 \\\\ \\" },
          on("/1.pdf", "2.pdf"),
          { body: "b", ...on("b.pdf") }
        ]
      })
    )
    const added = [{ body: "same" }, on("1.pdf")]
    yield* changeAccount(whose, () => ({
      notes: added.map((values) => ({ ...noteOf(values), created_at: late }))
    }))
    return whose
  })

  it.effect("finds many notes in the order of the lookup", () =>
    Effect.gen(function* () {
      const { key } = yield* account
      const all = [...noteLookups, ...noteLookups.toReversed()]
      const notes = all.map(([, asked]) => noteOf(asked))
      expectSame(
        noteTimesOf(yield* viewOf(key, { notes })),
        all.map(([, , time]) => time)
      )
    })
  )
}

const lookingAtItems = (it: It): void => {
  const tax = {
    amount: "0.01",
    tax_type: "VAT",
    value_taxed: 1,
    rate: "0.2",
    unit_type: "PROPORTION"
  }
  const line = {
    start_date: "2025-05-01",
    end_date: "2025-05-31",
    number_of_units: 1,
    net_amount: 1
  }
  const charge = (id: string, lines: number, taxes: number) =>
    creditOf(id, {
      type: "SUPPLY_CHARGE",
      line_items: times(lines, line),
      tax_items: times(taxes, tax)
    })

  it.effect.each<[limit: number, read: ReadonlyArray<string>, unread: string | null]>([
    [0, ["c", "none", "a", "b"], null],
    [-1, ["c", "none", "a"], "b"],
    [-3 * itemBytes - transactionBytes, ["c", "none", "a"], "b"],
    [-3 * itemBytes - transactionBytes - 1, ["c", "none"], "a"],
    [-Infinity, [], "c"]
  ])(
    "reads transactions in the order of the lookup, up to their size and %i",
    ([more, read, unread]) =>
      Effect.gen(function* () {
        const account = yield* imported()
        const list = [charge("a", 1, 1), charge("b", 0, 3), charge("c", 4, 0), creditOf("none")]
        yield* changeAccount(account, adding(...list, charge("not named", 50, 50)))
        // If an id was added again, the first one counts.
        yield* changeAccount(account, adding(charge("none", 20, 20)))
        const transactionIds = ids("unknown", "c", "none", "a", "unknown too", "b")
        const byteLimit = list.map(sizeOf).reduce((one, other) => one + other) + more
        const view = yield* viewOf(account.key, { transactionIds, byteLimit })
        expect([...view.transactions.keys()].toSorted()).toEqual(read.toSorted())
        expect(view.unreadTransaction).toBe(unread)
        for (const each of list.filter(({ transaction_id: id }) => read.includes(id))) {
          const there = view.transactions.get(each.transaction_id)
          expect(there && encodeTransaction(there)).toEqual(encodeTransaction(each))
        }
      })
  )

  it.effect("reads all items of large transactions in order", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const numbered = <Item extends object>(item: Item, member: string, count: number) =>
        Array.from({ length: count }, (_, index) => ({ ...item, [member]: index }))
      const large = ["a", "b"].map((id) =>
        creditOf(id, {
          type: "SUPPLY_CHARGE",
          line_items: numbered(line, "number_of_units", 2_501),
          tax_items: numbered(tax, "value_taxed", 1_999)
        })
      )
      yield* changeAccount(account, adding(...large))
      const { transactions } = yield* viewOf(account.key, { transactionIds: idsOf(large) })
      expect([...transactions.values()].map((each) => encodeTransaction(each))).toEqual(
        large.map((each) => encodeTransaction(each))
      )
    })
  )
}

/** Declares the tests of `view` with a lookup. */
export const accountLookupContract = (it: It): void => {
  lookingAtEach(it)
  lookingAtNotes(it)
  lookingAtItems(it)
}
