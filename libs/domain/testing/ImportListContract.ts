/** Imports that are found and listed: one part of the contract of ImportProcesses. */
import { type Vitest, expect } from "@effect/vitest"
import { Effect, Stream, Option } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { type ImportListKind, ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { type SupplierCode, type Supplier, WireCode, wireCode } from "../src/suppliers/Supplier.ts"
import {
  expectSame,
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus,
  callerOf,
  sandboxOf,
  freshOrganisationName,
  supplierOf
} from "./freshNames.ts"
import { claim, stageAll, stagedHash } from "./importStates.ts"
import { ExternalAccountNumber } from "../src/accounts/Account.ts"
import type { OrganisationName } from "../src/suppliers/Organisation.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const kinds = ["all", "pending", "imported"] as const

const listOf = Effect.fnUntraced(function* (
  supplier: SupplierCode,
  kind: ImportListKind,
  page?: { readonly after?: string; readonly limit?: number }
) {
  const imports = yield* ImportProcesses
  const query = { supplier, kind, after: page?.after ?? null, limit: page?.limit ?? null }
  return yield* Stream.runCollect(imports.list(query))
})

const numbersOf = (...query: Parameters<typeof listOf>) =>
  Effect.map(listOf(...query), (entries) => entries.map((each) => each.external_account_number))

/** One import in every state; their names sort in this order. */
const oneOfEach = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const { caller, keyOf, supplier } = yield* freshSupplier
  const keys = ["1 pending", "2 skipped", "3 running", "4 expired", "5 imported"].map(keyOf)
  yield* stageAll(keys, caller)
  yield* imports.setSkipped({ key: keyOf("2 skipped"), skipped: true, at: noon })
  yield* claim(keyOf("3 running"), caller, noonPlus(3600))
  yield* claim(keyOf("4 expired"), caller, noon)
  const key = keyOf("5 imported")
  const { attempt } = yield* claim(key, caller, noon)
  const account = newAccountFor(key, noonPlus(20))
  yield* imports.complete({ key, attempt, newAccount: account, caller })
  return { supplier: supplier.code, account }
})

const kindsOfList = (it: It): void => {
  const staged = (external_account_number: string) => ({
    external_account_number,
    kraken_account_number: null,
    account_created_at: null
  })
  it.effect.each(kinds)("contains the imports of its kind: %s", (kind) =>
    Effect.gen(function* () {
      const { account, supplier } = yield* oneOfEach
      const imported = {
        external_account_number: "5 imported",
        kraken_account_number: account.number,
        account_created_at: account.createdAt
      }
      const pending = [staged("1 pending"), staged("3 running"), staged("4 expired")]
      const expected = {
        all: [
          staged("1 pending"),
          staged("2 skipped"),
          staged("3 running"),
          staged("4 expired"),
          imported
        ],
        pending,
        imported: [imported]
      }
      expectSame(yield* listOf(supplier, kind), expected[kind])
    })
  )

  it.effect("contains no imports of another supplier", () =>
    Effect.gen(function* () {
      const one = yield* oneOfEach
      const other = yield* freshSupplier
      yield* stageAll([other.keyOf("1 pending"), other.keyOf("6 other")], other.caller)
      expectSame(yield* numbersOf(other.supplier.code, "all"), ["1 pending", "6 other"])
      expect(yield* listOf(one.supplier, "all")).toHaveLength(5)
    })
  )
}

// A locale would sort these differently, and so would UTF-16: the units of the last four begin with
// D83D and DBFF, which are less than E000, FF5E and FFFD.
const inOrder = [
  "!",
  "-1",
  "10",
  "100",
  "9",
  "A",
  "Z",
  "a",
  "a b",
  "a-b",
  "ab",
  "b",
  "z",
  "ä",
  "\u{E000}",
  "\u{FF5E}",
  "\u{FFFD}",
  "\u{1F600}",
  "\u{1F600}a",
  "\u{1F601}",
  "\u{10FFFD}"
]

const stagedInDisorder = Effect.gen(function* () {
  const { caller, keyOf, supplier } = yield* freshSupplier
  yield* stageAll(inOrder.toReversed().map(keyOf), caller)
  return supplier.code
})

const orderAndPages = (it: It): void => {
  it.effect("starts after the given number, which need not exist", () =>
    Effect.gen(function* () {
      const supplier = yield* stagedInDisorder
      for (const [index, after] of inOrder.entries()) {
        const rest = inOrder.slice(index + 1)
        expectSame(yield* numbersOf(supplier, "all", { after }), rest, `after ${after}`)
      }
      const from = (number: string) => inOrder.slice(inOrder.indexOf(number))
      expectSame(yield* numbersOf(supplier, "all", { after: "" }), inOrder)
      expectSame(yield* numbersOf(supplier, "all", { after: "aa" }), from("ab"))
      expectSame(yield* numbersOf(supplier, "all", { after: "\u{FFFE}" }), from("\u{1F600}"))
      expectSame(
        yield* numbersOf(supplier, "all", { after: "\u{1F600}\u{E000}" }),
        from("\u{1F601}")
      )
      expectSame(yield* numbersOf(supplier, "all", { after: "\u{10FFFF}" }), [])
    })
  )

  it.effect("stops at the limit, and its pages join without a gap", () =>
    Effect.gen(function* () {
      const supplier = yield* stagedInDisorder
      expectSame(yield* numbersOf(supplier, "all", { limit: 3 }), inOrder.slice(0, 3))
      expectSame(yield* numbersOf(supplier, "all", { limit: 10_000 }), inOrder)
      const pages: Array<string> = []
      for (;;) {
        const after = pages.at(-1)
        const page = yield* numbersOf(supplier, "pending", {
          limit: 4,
          ...(after === undefined ? {} : { after })
        })
        if (page.length === 0) break
        expect(page.length).toBeLessThanOrEqual(4)
        pages.push(...page)
      }
      expectSame(pages, inOrder)
    })
  )

  it.effect("applies the limit after the selection by kind", () =>
    Effect.gen(function* () {
      const { supplier } = yield* oneOfEach
      expectSame(yield* numbersOf(supplier, "pending", { limit: 2 }), ["1 pending", "3 running"])
      const page = { after: "1 pending", limit: 1 }
      expectSame(yield* numbersOf(supplier, "pending", page), ["3 running"])
      expectSame(yield* numbersOf(supplier, "imported", { limit: 1 }), ["5 imported"])
    })
  )
}

/** Declares the tests of `list`. */
export const importListContract = (it: It): void => {
  kindsOfList(it)
  orderAndPages(it)
}

const number = ExternalAccountNumber.make("n")

const staged = Effect.fnUntraced(function* ({ code, organisation }: Supplier) {
  const imports = yield* ImportProcesses
  const key = { import_supplier: code, external_account_number: number }
  yield* imports.stage({
    key,
    payload: "{}",
    hash: stagedHash,
    caller: callerOf(organisation),
    at: noon
  })
  return yield* imports.find(key)
})

const found = (organisation: OrganisationName, supplier: WireCode, of = number) =>
  Effect.flatMap(ImportProcesses, (imports) =>
    imports.findOwn({ organisation, supplier, number: of })
  )

export const ownImportContract = (it: It): void => {
  it.effect("finds no import of another organisation's supplier", () =>
    Effect.gen(function* () {
      const { supplier } = yield* freshSupplier
      const { supplier: other } = yield* freshSupplier
      yield* staged(supplier)
      yield* staged(other)
      const code = wireCode(supplier.code)
      for (const organisation of [other.organisation, freshOrganisationName()]) {
        expectSame(yield* found(organisation, code), Option.none())
      }
    })
  )

  it.effect("finds the import of the organisation's mode if both modes have the code", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { supplier: live } = owner
      const { supplier: test } = yield* sandboxOf(owner)
      const code = wireCode(live.code)
      const ofLive = yield* staged(live)
      expectSame(yield* found(test.organisation, code), Option.none())
      const ofTest = yield* staged(test)
      expectSame(yield* found(test.organisation, code), ofTest)
      expectSame(yield* found(live.organisation, code), ofLive)
    })
  )

  it.effect("finds the right import for each of several concurrent requests", () =>
    Effect.gen(function* () {
      const suppliers = yield* Effect.forEach([1, 2, 3], () => freshSupplier)
      const processes = yield* Effect.forEach(suppliers, ({ supplier }) => staged(supplier))
      const sought = suppliers.map(({ supplier: { code, organisation } }) =>
        found(organisation, wireCode(code))
      )
      const unknown = supplierOf(freshOrganisationName())
      const none = found(unknown.organisation, wireCode(unknown.code))
      const all = yield* Effect.all([none, ...sought, none], { concurrency: "unbounded" })
      expectSame(all, [Option.none(), ...processes, Option.none()])
    })
  )

  it.effect("finds nothing for values that cannot be stored", () =>
    Effect.gen(function* () {
      const { supplier } = yield* freshSupplier
      const nul = ExternalAccountNumber.make("\0", { disableChecks: true })
      const code = wireCode(supplier.code)
      expectSame(yield* found(supplier.organisation, code, nul), Option.none())
      const noCode = WireCode.make("\ud800", { disableChecks: true })
      expectSame(yield* found(supplier.organisation, noCode), Option.none())
    })
  )
}
