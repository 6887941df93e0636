/**
 * Pages have the imports that match the filter, once and in order, and failed ones have the errors
 * of their latest attempt.
 */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Stream } from "effect"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import {
  errorsSampled,
  ImportSearch,
  type MoneyPart,
  type SearchFilter
} from "@data-import/domain/migrations/ImportSearch"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import type { CalendarDate } from "@data-import/domain/schema/Field"
import { sum, twoDecimals, zero } from "@data-import/domain/schema/Decimal"
import {
  freshSupplier,
  minimalAccount,
  newAccountFor,
  noon,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import { adding, changeAccount, creditOf } from "@data-import/domain/testing/importedAccounts"
import { claim, complete, fail, type Owner, stage } from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"

const invalidPhone = { code: "invalid", attr: "customers.0.mobile", detail: "No." } as const
const blankName = { code: "blank", attr: "billing_name", detail: "Blank." } as const

/** An import in each state; `b1` and `b2` have failed, and `d` breaks off a minute later. */
const arranged = Effect.gen(function* () {
  const owner = yield* freshSupplier
  const imports = yield* ImportProcesses
  const { caller, keyOf } = owner
  yield* stage(owner, ["a1", "a2", "b1", "b2"], "wave-1")
  yield* stage(owner, ["c", "d", "e", "f", "\u{1F600}"])
  yield* fail(owner, "b1", noonPlus(1), [invalidPhone])
  yield* fail(owner, "b2", noonPlus(1), [
    { ...invalidPhone, attr: "customers.12.mobile" },
    blankName
  ])
  yield* claim(keyOf("d"), caller, noon)
  const newAccount = yield* complete(owner, "c", noonPlus(2))
  yield* imports.setSkipped({ key: keyOf("e"), skipped: true, at: noon })
  const erasures = yield* Erasures
  yield* erasures.erase({ key: keyOf("f"), at: noonPlus(3) })
  return { owner, newAccount }
})

const failedPhone = { code: "invalid", attr: "customers.*.mobile" }

const filters: ReadonlyArray<readonly [SearchFilter, ReadonlyArray<string>]> = [
  [{}, ["a1", "a2", "b1", "b2", "c", "d", "e", "f", "\u{1F600}"]],
  [{ state: "PENDING" }, ["a1", "a2", "\u{1F600}"]],
  [{ state: "IN_PROGRESS" }, ["d"]],
  [{ state: "FAILED" }, ["b1", "b2"]],
  [{ state: "IMPORTED" }, ["c"]],
  [{ state: "SKIPPED" }, ["e"]],
  [{ state: "ERASED" }, ["f"]],
  [{ code: "blank" }, ["b2"]],
  [{ code: "account_failed_validation" }, ["b1", "b2"]],
  [{ code: "lease_expired" }, []],
  [failedPhone, ["b1", "b2"]],
  [{ ...failedPhone, search: "b2" }, ["b2"]],
  [{ attr: "customers.0.mobile" }, []],
  [{ cohort: "wave-1" }, ["a1", "a2", "b1", "b2"]],
  [{ cohort: "wave-1", state: "PENDING" }, ["a1", "a2"]],
  [{ cohort: null }, ["c", "d", "e", "f", "\u{1F600}"]],
  [{ cohort: null, state: "PENDING" }, ["\u{1F600}"]],
  [{ search: "a" }, ["a1", "a2"]],
  [{ search: "b2" }, ["b2"]],
  [{ search: "\u{1F600}" }, ["\u{1F600}"]],
  [{ search: "a\0" }, []],
  [{ search: "zz" }, []],
  [{ cohort: "wave-1", code: "blank", state: "PENDING" }, []],
  [{ money: "balance" }, ["c"]],
  [{ money: "balance", state: "FAILED" }, []],
  [{ ledger: "ELECTRICITY_LEDGER" }, ["c"]],
  [{ ledger: "ELECTRICITY_LEDGER", money: "without_ledger" }, []],
  [{ ledger: "NO_LEDGER" }, []],
  [{ ledger: "a\0" }, []],
  [{ numbers: ["b2", "f", "never", "b1"] }, ["b1", "b2", "f"]],
  [{ numbers: ["b2", "f"], state: "FAILED" }, ["b2"]],
  [{ numbers: [] }, []]
]

/** All pages of this size, one after the other. */
const paged = Effect.fnUntraced(function* (
  { supplier }: Owner,
  filter: SearchFilter,
  limit: number,
  seconds: number
) {
  const { page } = yield* ImportSearch
  const query = { supplier: supplier.code, filter, limit, at: noonPlus(seconds) }
  const numbers: Array<string> = []
  let after: string | null = null
  do {
    const found: Effect.Success<ReturnType<typeof page>> = yield* page({ ...query, after })
    expect(found.imports.length).toBeLessThanOrEqual(limit)
    numbers.push(...found.imports.map(({ number }) => number))
    after = found.next
  } while (after !== null)
  return numbers
})

const paging = (it: TestDatabase.It): void => {
  it.effect("has the imports that match every condition, on pages of any size", () =>
    Effect.gen(function* () {
      const { owner } = yield* arranged
      for (const [filter, numbers] of filters) {
        for (const limit of [1, 2, 100]) {
          const label = `${JSON.stringify(filter)} by ${limit}`
          expect(yield* paged(owner, filter, limit, 30), label).toEqual(numbers)
        }
      }
      expect(yield* paged(owner, { code: "lease_expired" }, 10, 90)).toEqual(["d"])
    })
  )

  it.effect("has the first error of a failed import that the list is of", () =>
    Effect.gen(function* () {
      const { owner } = yield* arranged
      const { page } = yield* ImportSearch
      const query = { supplier: owner.supplier.code, after: null, limit: 10, at: noonPlus(30) }
      for (const filter of [{ code: "blank" }, { attr: "billing_name" }]) {
        const { imports } = yield* page({ ...query, filter })
        expect(imports.map(({ failure }) => failure?.error)).toEqual([blankName])
      }
    })
  )

  it.effect("counts what a batch would take, and what may pass on another day", () =>
    Effect.gen(function* () {
      const { owner } = yield* arranged
      const { count } = yield* ImportSearch
      const parameters = { business_day: "2026-01-01" }
      const tooYoung = { code: "max_value", attr: "customers.0.date_of_birth", parameters } as const
      yield* fail(owner, "a1", noonPlus(1), [tooYoung])
      yield* fail(owner, "a2", noonPlus(1), [tooYoung, invalidPhone])
      yield* stage(owner, ["b1"], "wave-1")
      const counted = (filter: SearchFilter, today = "2026-01-02") =>
        count({
          supplier: owner.supplier.code,
          filter,
          today: today as CalendarDate,
          at: noonPlus(30)
        })
      const none = { accounts: 0, codes: [] }
      expect(yield* counted({})).toEqual({
        accounts: 5,
        failedByDay: { accounts: 1, codes: ["max_value"] }
      })
      expect((yield* counted({}, "2026-01-01")).failedByDay).toEqual(none)
      const filters: ReadonlyArray<readonly [SearchFilter, ReadonlyArray<string>]> = [
        [{ corrected: true }, ["b1"]],
        [{ state: "FAILED", corrected: true }, []],
        [{ state: "PENDING", code: "invalid" }, ["b1"]],
        [{ code: "invalid", cohort: "wave-1" }, ["a2", "b1", "b2"]],
        [{ attr: "customers.*.mobile" }, ["a2", "b1", "b2"]],
        [{ numbers: ["a2", "b1"] }, ["a2", "b1"]],
        [{ search: "a\0" }, []]
      ]
      for (const [filter, numbers] of filters) {
        const label = JSON.stringify(filter)
        expect(yield* paged(owner, filter, 10, 30), label).toEqual(numbers)
        const accounts = numbers.length
        expect(yield* counted(filter), label).toEqual({ accounts, failedByDay: none })
      }
      expect((yield* counted({ numbers: ["a1", "c", "d"] })).accounts).toBe(1)
    })
  )

  it.effect("has the accounts that belong to a sum of money", () =>
    Effect.gen(function* () {
      const { owner } = yield* arranged
      const { caller, keyOf } = owner
      const imports = yield* ImportProcesses
      const at = noonPlus(2)
      const plain = { ...newAccountFor(keyOf("a1"), at), account: minimalAccount(keyOf("a1")) }
      const { attempt } = yield* claim(keyOf("a1"), caller, at)
      yield* imports.complete({ key: keyOf("a1"), attempt, newAccount: plain, caller })
      const inSum = (money: MoneyPart) => paged(owner, { money }, 1, 30)
      expect(yield* inSum("balance")).toEqual(["a1", "c"])
      expect(yield* inSum("without_ledger")).toEqual(["a1"])
      expect(yield* inSum("added")).toEqual([])
      yield* changeAccount({ key: keyOf("c"), caller }, adding(creditOf("T-1")))
      expect(yield* inSum("added")).toEqual(["c"])
    })
  )

  it.effect("returns the fields of each import", () =>
    Effect.gen(function* () {
      const { newAccount, owner } = yield* arranged
      const { page } = yield* ImportSearch
      const { code: supplier } = owner.supplier
      const query = { supplier, after: null, limit: 10, at: noonPlus(90) }
      const told = (yield* page({ ...query, filter: {} })).imports
      const pending = { account: null, cohort: null, stagedAt: noon, failure: null }
      const number = (text: string) => owner.keyOf(text).external_account_number
      const failed = { ...pending, state: "FAILED" }
      const code = "account_failed_validation"
      const second = { ...invalidPhone, attr: "customers.12.mobile" }
      const { balance } = told[4]?.account ?? { balance: zero }
      expect(twoDecimals(balance)).toBe("50.00")
      expect(told.slice(0, 6)).toEqual([
        { ...pending, number: number("a1"), state: "PENDING", cohort: "wave-1" },
        { ...pending, number: number("a2"), state: "PENDING", cohort: "wave-1" },
        {
          ...failed,
          number: number("b1"),
          cohort: "wave-1",
          failure: { code, error: invalidPhone }
        },
        { ...failed, number: number("b2"), cohort: "wave-1", failure: { code, error: second } },
        {
          ...pending,
          number: number("c"),
          state: "IMPORTED",
          account: { number: newAccount.number, createdAt: newAccount.createdAt, balance }
        },
        { ...failed, number: number("d"), failure: { code: "lease_expired", error: null } }
      ])
    })
  )
}

const sampling = (it: TestDatabase.It): void => {
  it.effect("samples failed imports by code, each once", () =>
    Effect.gen(function* () {
      const { owner } = yield* arranged
      const { failed } = yield* ImportSearch
      const supplier = owner.supplier.code
      const ofCodes = [
        { code: "account_failed_validation", limit: 10 },
        { code: "invalid", limit: 10 }
      ]
      const outcome = "account_failed_validation"
      const told = (number: string, errors: ReadonlyArray<object>) => ({
        number: owner.keyOf(number).external_account_number,
        outcome,
        errors,
        hasMore: false
      })
      const both = [
        told("b1", [invalidPhone]),
        told("b2", [{ ...invalidPhone, attr: "customers.12.mobile" }, blankName])
      ]
      expect(yield* failed({ supplier, cohort: null, ofCodes })).toEqual(both)
      expect(yield* failed({ supplier, cohort: "wave-1", ofCodes })).toEqual(both)
      expect(yield* failed({ supplier, cohort: "wave-2", ofCodes })).toEqual([])
      expect(yield* failed({ supplier, cohort: null, ofCodes: [] })).toEqual([])
      const one = [{ code: "blank", limit: 1 }]
      expect(yield* failed({ supplier, cohort: null, ofCodes: one })).toEqual(both.slice(1))
      const many = Array.from({ length: errorsSampled + 1 }, (_, index) => ({
        ...invalidPhone,
        attr: `customers.${index}.mobile`
      }))
      yield* fail(owner, "b1", noonPlus(1), many)
      const [sampled] = yield* failed({ supplier, cohort: null, ofCodes })
      expect(sampled).toEqual({ ...told("b1", many.slice(0, errorsSampled)), hasMore: true })
    })
  )
}

/** The accounts of the cohort, or all: the number, or `erased`, with the balance. */
const balancesOf = ({ supplier }: Owner, cohort: string | null) =>
  Effect.gen(function* () {
    const { balances } = yield* ImportSearch
    const all = yield* Stream.runCollect(balances({ supplier: supplier.code, cohort }))
    return [...all].map(
      ({ account, balance }) => [account?.externalNumber ?? "erased", twoDecimals(balance)] as const
    )
  })

const balances = (it: TestDatabase.It): void => {
  it.effect("has the balance of each account once, and they sum up to the total", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { caller, keyOf, supplier } = owner
      yield* stage(owner, ["a", "b", "c"], "wave-1")
      yield* stage(owner, ["d", "pending", "\u{1F600}"])
      const accounts = ["a", "b", "c", "d", "\u{1F600}"]
      for (const number of accounts) yield* complete(owner, number, noon)
      for (const number of ["b", "c", "d", "\u{1F600}"]) {
        yield* changeAccount({ key: keyOf(number), caller }, adding(creditOf("T-1")))
      }
      const before = yield* balancesOf(owner, null)
      expect(before.map(([number]) => number)).toEqual(accounts)
      yield* (yield* Erasures).erase({ key: keyOf("c"), at: noonPlus(3) })
      const after = before.map(([number, balance]) => [number === "c" ? "erased" : number, balance])
      expect(yield* balancesOf(owner, null)).toEqual(after)
      expect(yield* balancesOf(owner, "wave-1")).toEqual(after.slice(0, 3))
      for (const cohort of ["wave-2", "a\0", "\ud800"]) {
        expect(yield* balancesOf(owner, cohort)).toEqual([])
      }
      const summaries = yield* SupplierSummaries
      for (const [cohort, shown] of [
        [null, after],
        ["wave-1", after.slice(0, 3)]
      ] as const) {
        const query = { supplier: supplier.code, cohort, at: yield* DateTime.now }
        const total = sum(shown.map(([, amount = ""]) => BigDecimal.fromStringUnsafe(amount)))
        expect(twoDecimals((yield* summaries.read(query)).balance)).toBe(twoDecimals(total))
      }
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "ImportSearch",
  (it) => {
    paging(it)
    sampling(it)
    balances(it)
  }
)
