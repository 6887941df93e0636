/** A summary counts the imports as they are, before and after the differences are folded. */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, type DateTime, Effect } from "effect"
import type { AccountNumber } from "@data-import/domain/accounts/Account"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { noCounts } from "@data-import/domain/migrations/Migrations"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { ties } from "@data-import/domain/migrations/SupplierSummary"
import { twoDecimals } from "@data-import/domain/schema/Decimal"
import {
  expectSame,
  freshSupplier,
  minimalAccount,
  newAccountFor,
  noon,
  noonPlus,
  times
} from "@data-import/domain/testing/freshNames"
import { adding, changeAccount, creditOf } from "@data-import/domain/testing/importedAccounts"
import { claim, complete, fail, type Owner, stage } from "@data-import/domain/testing/importStates"
import { reverting } from "@data-import/domain/testing/RevertsContract"
import * as TestDatabase from "../testing/TestDatabase.ts"

const foldAt = (seconds: number) =>
  Effect.flatMap(SupplierSummaries, ({ fold }) =>
    Effect.repeat(fold({ limit: 7, at: noonPlus(seconds) }), { while: (count) => count > 0 })
  )

const summaryOf = Effect.fnUntraced(function* (
  { supplier }: Owner,
  cohort: string | null,
  seconds: number
) {
  const { read } = yield* SupplierSummaries
  const found = yield* read({ supplier: supplier.code, cohort, at: noonPlus(seconds) })
  expect(ties(found)).toBe(true)
  return {
    ...found,
    codes: found.codes.map(({ code, examples, imports }) => [code, imports, examples.toSorted()]),
    ledgers: found.ledgers.map((each) => [each.code, each.ledgers, twoDecimals(each.balance)]),
    balance: twoDecimals(found.balance),
    withoutLedger: twoDecimals(found.withoutLedger),
    added: twoDecimals(found.added)
  }
})

const zero = "0.00"

const nothing = {
  states: noCounts,
  reverted: 0,
  linesRefused: 0,
  importedLastHour: 0,
  oldestPending: null,
  codes: [],
  balance: zero,
  withoutLedger: zero,
  added: zero,
  ledgers: []
}

type Expected = Partial<Record<keyof typeof nothing, unknown>>

/** By cohort, or null for all; attempts at `c` and `e` run for a minute and break off. */
type Expectations = ReadonlyArray<readonly [string | null, Expected, afterwards?: Expected]>

/** Expects the summaries at these seconds and two minutes later, folded or not. */
const expectCounted = Effect.fnUntraced(function* (
  owner: Owner,
  seconds: number,
  expectations: Expectations
) {
  for (const fold of [Effect.void, foldAt(seconds)]) {
    yield* fold
    for (const [cohort, expected, afterwards = {}] of expectations) {
      const label = `of ${cohort} after ${seconds} s`
      expectSame(yield* summaryOf(owner, cohort, seconds), { ...nothing, ...expected }, label)
      const later = { ...nothing, ...expected, ...afterwards }
      expectSame(yield* summaryOf(owner, cohort, seconds + 120), later, label)
    }
  }
})

const completeWithoutLedger = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  at: DateTime.Utc
) {
  const key = keyOf(number)
  const { attempt } = yield* claim(key, caller, at)
  const account = { ...minimalAccount(key), transfer_balance: BigDecimal.make(-1_250n, 2) }
  const newAccount = { ...newAccountFor(key, at), account }
  yield* (yield* ImportProcesses).complete({ key, attempt, newAccount, caller })
  return newAccount
})

const addCredit = ({ caller, keyOf }: Owner, number: string) =>
  changeAccount({ key: keyOf(number), caller }, adding(creditOf("c")))

const revert = ({ caller, keyOf }: Owner, external: string, number: AccountNumber) =>
  reverting({ key: keyOf(external), caller, number }, { at: noonPlus(6) })

const invalid = { code: "invalid", attr: "a", detail: "" } as const
const blank = { code: "blank", attr: "b", detail: "" } as const
const outcome = "account_failed_validation"

/** While `c` is rehearsed, which leaves it as it was. */
const codesOfSecond = [
  [outcome, 1, ["b"]],
  ["invalid", 1, ["b"]]
]
const codes = [
  [outcome, 2, ["b", "c"]],
  ["blank", 1, ["c"]],
  ["invalid", 1, ["b"]]
]
const codesOfThird = [
  [outcome, 1, ["c"]],
  ["blank", 1, ["c"]]
]
const brokenOff = ["lease_expired", 1, ["e"]]
const ofFirst = { added: "10.00", ledgers: [["ELECTRICITY_LEDGER", 1, "50.00"]] }
const ofWave = { ...ofFirst, balance: "60.00", importedLastHour: 1 }

const before = { ...noCounts, IMPORTED: 2, PENDING: 1, SKIPPED: 1, ERASED: 1 }
const atFirst: Expectations = [
  [
    null,
    {
      ...{ ...ofFirst, states: { ...before, FAILED: 1, IN_PROGRESS: 2 }, codes: codesOfSecond },
      ...{ balance: "47.50", withoutLedger: "-12.50", reverted: 1, importedLastHour: 2 },
      oldestPending: { number: "h", stagedAt: noon }
    },
    { states: { ...before, FAILED: 3 }, codes: [...codes, brokenOff] }
  ],
  [
    "wave-1",
    {
      ...{ ...ofWave, codes: codesOfSecond },
      states: { ...noCounts, FAILED: 1, IN_PROGRESS: 1, IMPORTED: 1 }
    },
    { states: { ...noCounts, FAILED: 2, IMPORTED: 1 }, codes }
  ],
  ["unknown", {}]
]

const after = { ...noCounts, IMPORTED: 1, PENDING: 3, ERASED: 2 }
const oldestPending = { number: "b", stagedAt: noonPlus(20) }
const inTheEnd: Expectations = [
  [
    null,
    {
      ...{ states: { ...after, IN_PROGRESS: 2 }, reverted: 2, importedLastHour: 2, oldestPending },
      ...{ balance: "110.00", added: "10.00", ledgers: [["ELECTRICITY_LEDGER", 2, "100.00"]] }
    },
    { states: { ...after, FAILED: 2 }, codes: [...codesOfThird, brokenOff] }
  ],
  [
    "wave-1",
    { ...ofWave, states: { ...noCounts, IN_PROGRESS: 1, ERASED: 1 } },
    { states: { ...noCounts, FAILED: 1, ERASED: 1 }, codes: codesOfThird }
  ],
  ["wave-2", { states: { ...noCounts, PENDING: 1 }, oldestPending }]
]

const counting = (it: TestDatabase.It): void => {
  it.effect("equals a count of the imports after each kind of change", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { caller, keyOf } = owner
      const { setSkipped } = yield* ImportProcesses
      const { erase } = yield* Erasures
      yield* expectCounted(owner, 0, [[null, {}]])
      yield* stage(owner, ["a", "b", "c"], "wave-1")
      yield* stage(owner, ["d", "e", "f", "g", "h"])
      yield* complete(owner, "a", noonPlus(1))
      yield* addCredit(owner, "a")
      yield* fail(owner, "b", noonPlus(2), [invalid, invalid])
      yield* fail(owner, "c", noonPlus(2), [blank])
      const { number } = yield* completeWithoutLedger(owner, "d", noonPlus(3))
      yield* claim(keyOf("e"), caller, noonPlus(4))
      yield* claim(keyOf("c"), caller, noonPlus(4), { dryRun: true })
      yield* setSkipped({ key: keyOf("f"), skipped: true, at: noonPlus(4) })
      yield* erase({ key: keyOf("g"), at: noonPlus(4) })
      const reverted = yield* complete(owner, "h", noonPlus(5))
      yield* addCredit(owner, "h")
      yield* revert(owner, "h", reverted.number)
      yield* expectCounted(owner, 10, atFirst)
      yield* stage(owner, ["b"], "wave-2", { at: noonPlus(20) })
      yield* setSkipped({ key: keyOf("f"), skipped: false, at: noonPlus(21) })
      yield* erase({ key: keyOf("a"), at: noonPlus(22) })
      yield* revert(owner, "d", number)
      yield* complete(owner, "h", noonPlus(23))
      yield* expectCounted(owner, 30, inTheEnd)
    })
  )
}

const atOnce = (it: TestDatabase.It): void => {
  it.effect("counts all of many concurrent writes, whenever they are folded", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const through = Effect.fnUntraced(function* (_: unknown, index: number) {
        const number = `n${index}`
        yield* stage(owner, [number])
        if (index % 2 === 0) yield* complete(owner, number, noon)
        else yield* fail(owner, number, noon, [invalid])
        yield* foldAt(0)
      })
      yield* Effect.forEach(times(40, null), through, { concurrency: 8, discard: true })
      const { balance, states } = yield* summaryOf(owner, null, 1)
      expect(states).toEqual({ ...noCounts, IMPORTED: 20, FAILED: 20 })
      expect(balance).toBe("1000.00")
    })
  )

  it.effect("counts accounts of the last hour, by the minute", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, ["a"])
      yield* complete(owner, "a", noonPlus(59))
      const seconds = [60, 3_659, 3_660]
      const counted = yield* Effect.forEach(seconds, (each) => summaryOf(owner, null, each))
      expect(counted.map(({ importedLastHour }) => importedLastHour)).toEqual([1, 1, 0])
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "SupplierSummaries",
  (it) => {
    counting(it)
    atOnce(it)
  }
)
