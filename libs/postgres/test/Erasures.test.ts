/** What is erased, what stays, and what is refused afterwards. */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Option, Stream } from "effect"
import { detailedStateOf } from "@data-import/domain/imports/ImportDetails"
import { PayloadHash } from "@data-import/domain/imports/ImportProcess"
import { encodeDescription } from "@data-import/domain/testing/describedAccounts"
import { RequestId } from "@data-import/domain/suppliers/Organisation"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { EventLog } from "@data-import/domain/events/EventLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { decideRevert } from "@data-import/domain/imports/Revert"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { expectSame, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { detailsOf, erase, eraseAsOperator, erasedAt, rich } from "./erasedCustomers.ts"
import {
  adding,
  changeAccount,
  creditOf,
  descriptionOf
} from "@data-import/domain/testing/importedAccounts"
import {
  arrange,
  claim,
  importStates,
  noLimits,
  stagedPayload,
  stagedHash,
  stagedContent
} from "@data-import/domain/testing/importStates"
import { freshKeyed, keepAs, reserve } from "@data-import/domain/testing/keyedRequests"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { auditFault } from "../testing/auditLog.ts"

/** Money and dates of an account, without personal data. */
const moneyOf = Effect.fnUntraced(function* (number: Parameters<typeof descriptionOf>[0]) {
  const accounts = yield* Accounts
  const found = Option.getOrThrow(yield* Stream.runHead(accounts.describe([number])))
  return {
    balance: BigDecimal.format(found.balance),
    ledgers: found.ledgers,
    transactions: found.transactions.map(({ ledgerCode, movedFrom, transaction }) => ({
      ledgerCode,
      movedFrom,
      date: transaction.transaction_date,
      amount: transaction.amount,
      type: transaction.type,
      net: transaction.line_items?.map(({ net_amount, number_of_units }) => [
        net_amount,
        number_of_units
      ]),
      tax: transaction.tax_items
    })),
    statements: found.statements.map(({ origin, statement }) => ({
      origin,
      from: statement.bill_period_from_date,
      to: statement.bill_period_to_date,
      gross: statement.gross_amount
    }))
  }
})

const whatStays = (it: TestDatabase.It): void => {
  it.effect("erases the customer of an account and keeps the money", () =>
    Effect.gen(function* () {
      const { key, number } = yield* rich
      const before = yield* moneyOf(number)
      expect(yield* erase(key)).toEqual({
        _tag: "Erased",
        isRepeated: false,
        documents: ["zq/a.pdf", "zq/b.pdf", "zq/c.pdf", "zq/d.pdf"],
        instructions: [{ vendor: "STRIPE", reference: "zqpm", type: "CARD" }],
        lines: 0
      })
      expectSame(yield* moneyOf(number), before)
      const accounts = yield* Accounts
      const left = JSON.stringify(
        encodeDescription(Option.getOrThrow(yield* Stream.runHead(accounts.describe([number]))))
      )
      expect(left).toContain("-10.00")
      expect(left.match(/\w*zq\w*/i)).toBeNull()
      expect(left).not.toContain("BRAILLE")
      expect(yield* accounts.locate(number)).toEqual(Option.none())
      expect(yield* accounts.view(key, {})).toEqual(Option.none())
      const stored = Option.getOrThrow(yield* Stream.runHead(accounts.read([number])))
      expect([stored.payload, stored.documents]).toEqual([null, []])
      expect([stored.added.transactions, stored.added.statements]).toMatchObject([
        [{ transaction: { type: "SUPPLY_CHARGE" } }, { transaction: { type: "CREDIT" } }],
        [{ bill_period_from_date: "2025-01-01" }, { bill_period_from_date: "2025-05-01" }]
      ])
    })
  )

  it.effect("leaves nothing that a revert could take back", () =>
    Effect.gen(function* () {
      const { caller, key, number } = yield* rich
      yield* erase(key)
      const refused = yield* Reverts.use((reverts) =>
        reverts.revert({
          ...{ key, number, caller, at: erasedAt, reason: "Wrong sign", dryRun: false },
          decide: (view) => decideRevert(key, view, { number, withAdditions: true })
        })
      ).pipe(Effect.flip)
      expect(refused).toMatchObject({ _tag: "ImportErased" })
    })
  )

  it.effect("keeps a record that the import existed", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("none")
      const hash = PayloadHash.make("d".repeat(64))
      yield* imports.stage({ key, payload: stagedPayload, hash, cohort: "w", caller, at: noon })
      const { attempt } = yield* claim(key, caller, noon)
      const errors = [{ code: "unknown_field" as const, attr: "zqErika", detail: "zqErika" }]
      const outcome = "account_failed_validation"
      yield* imports.release({ key, attempt, outcome, errors, dryRun: false, caller, at: noon })
      const before = yield* detailsOf(key)
      yield* erase(key)
      const after = yield* detailsOf(key)
      expectSame(after, {
        ...before,
        process: {
          key,
          skipped: false,
          erased: true,
          lease: null,
          account: null,
          revertedAt: null
        },
        hash: null,
        hasFailed: false,
        attempts: before.attempts.map((each) => ({
          ...each,
          errors: [{ code: "unknown_field", attr: "non_field_errors" }]
        }))
      })
      expect(detailedStateOf(after, erasedAt)).toBe("ERASED")
      expect(yield* imports.isStaged({ key, hash })).toBe(false)
    })
  )

  it.effect("writes one event, and deletes those before", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const events = yield* EventLog
      const { caller, key } = yield* rich
      yield* Effect.repeat(events.assignPositions(2), { while: (count) => count > 0 })
      const all = { organisation: caller.organisation, limit: 100, supplier: null, name: null }
      const page = yield* events.read({ ...all, after: null })
      const before = page._tag === "Page" ? page.nextAfter : 0
      expect(before).toBeGreaterThan(1)
      yield* erase(key)
      const [only, ...more] = yield* auditLog.events(key)
      expect([only?.name, more]).toEqual(["data_import.import_process.erased-v1", []])
      yield* Effect.repeat(events.assignPositions(2), { while: (count) => count > 0 })
      expect(yield* events.read({ ...all, after: null })).toMatchObject({
        nextAfter: before + 1,
        events: [
          {
            position: before + 1,
            name: "data_import.import_process.erased-v1",
            externalAccountNumber: key.external_account_number,
            accountNumber: null
          }
        ]
      })
    })
  )

  it.effect("frees the keys with kept answers about it", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("none")
      const stagings = [freshKeyed(caller.organisation), freshKeyed(caller.organisation)]
      const other = freshKeyed(caller.organisation)
      const otherKey = {
        ...key,
        external_account_number: `${key.external_account_number}9` as never
      }
      for (const [request, of] of [
        [stagings[0], key],
        [stagings[1], key],
        [other, otherKey]
      ] as const) {
        const { reservation } = yield* reserve(request as never)
        const recorder = keepAs(reservation, "201")
        yield* imports.stage({
          key: of,
          ...stagedContent,
          caller,
          at: noon,
          recorder
        })
      }
      yield* erase(key)
      for (const request of stagings) {
        expect((yield* reserve(request)).reserving._tag).toBe("Reserved")
      }
      expect((yield* reserve(other)).reserving._tag).not.toBe("Reserved")
    })
  )
}

const whatIsRefused = (it: TestDatabase.It): void => {
  it.effect.each(importStates)("an import that is %s", (state) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { found, key } = yield* arrange(state)
      const at = state === "in progress" ? noonPlus(30) : erasedAt
      const erasing = yield* (yield* Erasures).erase({ key, at })
      if (state === "none" || state === "in progress") {
        return expectSame(erasing, { _tag: "Refused", found })
      }
      expect(erasing).toMatchObject({ _tag: "Erased", isRepeated: false })
      expectSame(Option.getOrThrow(yield* imports.find(key)), {
        key,
        skipped: false,
        erased: true,
        lease: null,
        account: null,
        revertedAt: null
      })
    })
  )

  it.effect.each(["pending", "skipped", "lease expired", "imported"] as const)(
    "nothing brings back what was %s",
    (state) =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { account, attempt, caller, key } = yield* arrange(state)
        yield* erase(key)
        const before = yield* detailsOf(key)
        const refused = { _tag: "Refused", found: { _tag: "Erased" } }
        const at = DateTime.add(erasedAt, { hours: 1 })
        for (const createOnly of [false, true]) {
          const staging = { key, payload: "{}", hash: stagedHash, createOnly, caller, at }
          expect(yield* imports.stage(staging)).toEqual(refused)
        }
        expect((yield* claim(key, caller, at)).claim).toEqual(refused)
        const limited = { ...noLimits, supplier: 5 }
        const lease = "1 minute"
        expect(
          yield* imports.claim({
            key,
            attempt,
            dryRun: false,
            lease,
            limits: limited,
            caller,
            at
          } as never)
        ).toEqual(refused)
        for (const skipped of [true, false]) {
          expect(yield* imports.setSkipped({ key, skipped, at })).toEqual(refused)
        }
        expect(yield* imports.setCohort({ key, cohort: "x", caller, at })).toEqual(refused)
        expect(yield* imports.renew({ key, attempt, at, until: at })).toBe(false)
        expect(yield* imports.complete({ key, attempt, newAccount: account, caller })).toEqual({
          _tag: "LeaseLost"
        })
        const change = changeAccount({ key, caller }, adding(creditOf("T-9")))
        expect(yield* change).toEqual(Option.none())
        expectSame(yield* detailsOf(key), before)
      })
  )

  it.effect("is listed as erased, and neither as pending nor as imported", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("imported")
      const supplier = key.import_supplier
      yield* imports.stage({
        key: { ...key, external_account_number: "another" as never },
        ...stagedContent,
        caller,
        at: noon
      })
      yield* erase(key)
      const numbers = (kind: "all" | "pending" | "imported", filter: object = {}) =>
        Stream.runCollect(
          imports.list({
            supplier,
            kind,
            detailed: { filter, details: "none", at: erasedAt },
            after: null,
            limit: null
          })
        ).pipe(Effect.map((found) => found.map((each) => each.external_account_number)))
      const own = [key.external_account_number]
      expect(yield* numbers("all", { state: "ERASED" })).toEqual(own)
      expect(yield* numbers("all", { state: "SKIPPED" })).toEqual([])
      expect(yield* numbers("pending")).toEqual(["another"])
      expect(yield* numbers("imported")).toEqual([])
      expect((yield* numbers("all")).toSorted()).toEqual([...own, "another"].toSorted())
    })
  )
}

const inTheLog = (it: TestDatabase.It): void => {
  it.effect("the number can no longer be read in the log, and is not written again", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, key } = yield* rich
      const number = key.external_account_number
      const entry = { key, action: "stage", caller, at: erasedAt } as const
      const outcome = "account_import_process_skipped"
      yield* auditLog.recordRefusal({ ...entry, outcome })
      const { entries } = yield* eraseAsOperator(key)
      expect(entries).toMatchObject([
        { action: "erase_import", outcome: "erased", apiKey: "operator:Ada" }
      ])
      const requestId = RequestId.make(crypto.randomUUID())
      const later = { ...entry, caller: { ...caller, requestId } }
      yield* auditLog.recordRefusal({ ...later, outcome })
      yield* auditLog.recordRead({ ...later, action: "read_import" })
      const ofLater = yield* auditLog.ofRequest(requestId)
      expect(ofLater.map((each) => [each.action, each.external_account_number])).toEqual([
        ["stage", null],
        ["read_import", null]
      ])
      const earlier = yield* auditLog.ofRequest(caller.requestId)
      expect(earlier.length).toBeGreaterThan(2)
      const written = [...entries, ...earlier, ...ofLater].map(
        (each) => each.external_account_number
      )
      expect(written).not.toContain(number)
      expect(yield* auditLog.audit(key)).toEqual([])
      expect(yield* auditFault).toBeNull()
    })
  )

  it.effect("erasing again reports that it was erased before, and records that", () =>
    Effect.gen(function* () {
      const { key } = yield* rich
      yield* erase(key)
      const before = yield* detailsOf(key)
      const { entries, erasing } = yield* eraseAsOperator(key)
      expect(erasing).toEqual({
        _tag: "Erased",
        isRepeated: true,
        documents: [],
        instructions: [],
        lines: 0
      })
      expect(entries).toMatchObject([
        { action: "erase_import", outcome: "unchanged", external_account_number: null }
      ])
      expectSame(yield* detailsOf(key), before)
      expect(yield* (yield* AuditLog).events(key)).toHaveLength(1)
    })
  )

  it.effect("a rehearsal returns the same and changes nothing", () =>
    Effect.gen(function* () {
      const { key, number } = yield* rich
      const before = [yield* detailsOf(key), yield* descriptionOf(number)]
      const rehearsed = yield* erase(key, true)
      expectSame([yield* detailsOf(key), yield* descriptionOf(number)], before)
      expect(yield* (yield* AuditLog).events(key)).toHaveLength(3)
      expect(yield* erase(key)).toEqual(rehearsed)
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "Erasures",
  (it) => {
    whatStays(it)
    whatIsRefused(it)
    inTheLog(it)
  }
)
