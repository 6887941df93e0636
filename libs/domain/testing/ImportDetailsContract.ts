/**
 * The details of imports, and the conditions of lists: one part of the contract of
 * `ImportProcesses`.
 */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import {
  type AttemptError,
  detailedStateOf,
  type ImportFilter,
  recordOfAttempt
} from "../src/imports/ImportDetails.ts"
import { type ImportKey, PayloadHash } from "../src/imports/ImportProcess.ts"
import type { Code } from "../src/codes/Code.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import type { SupplierCode } from "../src/suppliers/Supplier.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { type ImportListKind, ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { expectSame, freshSupplier, newAccountFor, noon, noonPlus } from "./freshNames.ts"
import { arrange, auditEntry, claim, stagedPayload, tracesOf, stagedHash } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const payload = stagedPayload
const hash = PayloadHash.make("c".repeat(64))

const errors = [
  {
    code: "max_length",
    attr: "customers.0.given_name",
    detail: 'At most 10 "characters" Ærø \u{1F600}',
    parameters: { limit: 10, actual: 12 }
  },
  { code: "invalid", attr: "non_field_errors", detail: "", parameters: { allowed: ["a", "b"] } },
  { code: "required", attr: "a.b" }
] as const satisfies ReadonlyArray<AttemptError & { readonly code: Code }>

const detailsOf = (key: ImportKey, attempts = 10) =>
  Effect.flatMap(ImportProcesses, (imports) =>
    Effect.map(imports.details(key, attempts), Option.getOrThrow)
  )

interface Ending {
  readonly outcome?: Code
  readonly dryRun?: boolean
  readonly errors?: ReadonlyArray<AttemptError & { readonly code: Code }>
}

/** An attempt at noon that ends without an account five seconds later. */
const tried = Effect.fnUntraced(function* (
  key: ImportKey,
  caller: Caller,
  { dryRun = false, errors: found = [], outcome = "account_failed_validation" }: Ending = {}
) {
  const imports = yield* ImportProcesses
  const { attempt } = yield* claim(key, caller, noon, { dryRun })
  const at = noonPlus(5)
  yield* imports.release({ key, attempt, outcome, errors: found, dryRun, caller, at })
  return attempt
})

const stateOf = (key: ImportKey, seconds = 30) =>
  Effect.map(detailsOf(key), (details) => detailedStateOf(details, noonPlus(seconds)))

const ofOneImport = (it: It): void => {
  it.effect("returns what is staged, how often and when", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("none")
      expect(yield* imports.details(key, 10)).toEqual(Option.none())
      const process = {
        key,
        skipped: false,
        erased: false,
        lease: null,
        account: null,
        revertedAt: null
      }
      const told = { process, cohort: null, hasFailed: false, attempts: [], reverted: [] }
      yield* imports.stage({ key, payload, hash: stagedHash, caller, at: noon })
      expectSame(yield* detailsOf(key), { ...told, stagedAt: noon, stagings: 1, hash: stagedHash })
      yield* imports.stage({ key, payload, hash, caller, at: noonPlus(1) })
      expectSame(yield* detailsOf(key), { ...told, stagedAt: noonPlus(1), stagings: 2, hash })
    })
  )

  it.effect("keeps the cohort when it is staged again without one", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("none")
      const staged = Effect.fnUntraced(function* (cohort?: string) {
        yield* imports.stage({
          key,
          payload,
          hash: stagedHash,
          cohort: cohort ?? null,
          caller,
          at: noon
        })
        return (yield* detailsOf(key)).cohort
      })
      expect(yield* staged()).toBe(null)
      expect(yield* staged("wave 1")).toBe("wave 1")
      expect(yield* staged()).toBe("wave 1")
      expect(yield* staged("Wave 2")).toBe("Wave 2")
    })
  )

  const dryRun = { dryRun: true }
  it.effect.each([
    { before: "PENDING", real: null },
    { before: "FAILED", real: "ended" },
    { before: "FAILED", real: "broke off" }
  ] as const)("of $before stay so after dry runs, however they end", ({ before, real }) =>
    Effect.gen(function* () {
      const { caller, key } = yield* arrange("pending")
      const start = real === "broke off" ? 600 : 0
      if (real === "ended") yield* tried(key, caller)
      if (real === "broke off") yield* claim(key, caller, noon)
      const { release } = yield* ImportProcesses
      for (const [place, outcome] of (["dry_run_successful", "error"] as const).entries()) {
        const at = noonPlus(start + place)
        const { attempt } = yield* claim(key, caller, at, dryRun)
        expect(yield* stateOf(key, start + place)).toBe("IN_PROGRESS")
        yield* release({ key, attempt, outcome, errors: [], ...dryRun, caller, at })
        expect(yield* stateOf(key, start + place)).toBe(before)
      }
      yield* claim(key, caller, noonPlus(start + 2), dryRun)
      expect(yield* stateOf(key, start + 600)).toBe(before)
    })
  )

  it.effect("returns the errors with which an attempt ended, in full", () =>
    Effect.gen(function* () {
      const { caller, key } = yield* arrange("pending")
      const id = yield* tried(key, caller, { errors })
      const { attempts, hasFailed } = yield* detailsOf(key)
      expect(hasFailed).toBe(true)
      const outcome = "account_failed_validation"
      const ended = { startedAt: noon, endedAt: noonPlus(5), outcome, errors }
      expectSame(attempts, [{ id, dryRun: false, ...ended }])
    })
  )
}

const ofAttempts = (it: It): void => {
  it.effect("is FAILED until it is staged again, even at the same instant", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("pending")
      yield* tried(key, caller)
      expect(yield* stateOf(key)).toBe("FAILED")
      yield* imports.stage({ key, payload, hash: stagedHash, caller, at: noon })
      expect(yield* stateOf(key)).toBe("PENDING")
      yield* tried(key, caller, { outcome: "dry_run_successful", dryRun: true })
      expect(yield* stateOf(key)).toBe("PENDING")
      yield* tried(key, caller)
      expect(yield* stateOf(key)).toBe("FAILED")
      yield* claim(key, caller, noonPlus(10))
      expect(yield* stateOf(key)).toBe("IN_PROGRESS")
    })
  )

  it.effect("is FAILED after its attempt broke off, also if a skip closed it", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { key, now } = yield* arrange("lease expired")
      const told = Effect.gen(function* () {
        const details = yield* detailsOf(key)
        const [attempt] = details.attempts
        if (attempt === undefined) throw new Error("There is no attempt")
        const { ended_at, outcome } = recordOfAttempt(details, attempt, now)
        return [detailedStateOf(details, now), outcome, ended_at]
      })
      expectSame(yield* told, ["FAILED", "BROKEN_OFF", now])
      yield* imports.setSkipped({ key, skipped: true, at: now })
      expectSame(yield* told, ["SKIPPED", "BROKEN_OFF", now])
      yield* imports.setSkipped({ key, skipped: false, at: now })
      expectSame(yield* told, ["FAILED", "BROKEN_OFF", now])
    })
  )
}

const cohorts = (it: It): void => {
  it.effect("records a change of the cohort, or that nothing changed", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key, now } = yield* arrange("pending")
      const before = yield* tracesOf(key)
      for (const cohort of ["north", "north", null]) {
        yield* imports.setCohort({ key, cohort, caller, at: now })
        expect((yield* detailsOf(key)).cohort).toBe(cohort)
      }
      const entry = (outcome: string) => auditEntry(caller, now, "change_import", outcome)
      const written = ["changed", "unchanged", "changed"].map(entry)
      expectSame(yield* tracesOf(key), { ...before, audit: [...before.audit, ...written] })
    })
  )
}

/** One import in every state; their names sort in this order. */
const oneOfEach = Effect.gen(function* () {
  const imports = yield* ImportProcesses
  const { caller, keyOf, supplier } = yield* freshSupplier
  const numbers = ["1 pending", "2 failed", "3 skipped", "4 running", "5 expired", "6 imported"]
  for (const [index, number] of numbers.entries()) {
    const cohort = index < 2 ? "north" : null
    const command = { payload, hash, cohort, caller, at: noonPlus(index - 10) }
    yield* imports.stage({ ...command, key: keyOf(number) })
  }
  yield* tried(keyOf("2 failed"), caller, { errors })
  yield* imports.setSkipped({ key: keyOf("3 skipped"), skipped: true, at: noon })
  yield* claim(keyOf("4 running"), caller, noonPlus(3600))
  yield* claim(keyOf("5 expired"), caller, noon)
  const imported = keyOf("6 imported")
  const { attempt } = yield* claim(imported, caller, noon)
  const newAccount = newAccountFor(imported, noonPlus(20))
  yield* imports.complete({ key: imported, attempt, newAccount, caller })
  return { caller, keyOf, supplier: supplier.code }
})

const at = noonPlus(3600)

const selected = Effect.fnUntraced(function* (
  supplier: SupplierCode,
  filter: ImportFilter,
  kind: ImportListKind = "all",
  page: { readonly after?: string; readonly limit?: number } = {}
) {
  const imports = yield* ImportProcesses
  const { after = null, limit = null } = page
  const detailed = { filter, details: "none", at } as const
  const entries = yield* Stream.runCollect(imports.list({ supplier, kind, after, limit, detailed }))
  return entries.map((entry) => entry.external_account_number)
})

const conditions: ReadonlyArray<readonly [ImportFilter, ReadonlyArray<string>]> = [
  [{ state: "PENDING" }, ["1 pending"]],
  [{ state: "FAILED" }, ["2 failed", "5 expired"]],
  [{ failed: true }, ["2 failed", "5 expired"]],
  [{ failed: false }, ["1 pending", "3 skipped", "4 running", "6 imported"]],
  [{ state: "SKIPPED" }, ["3 skipped"]],
  [{ state: "IN_PROGRESS" }, ["4 running"]],
  [{ state: "IMPORTED" }, ["6 imported"]],
  [{ state: "ERASED" }, []],
  [{ code: "account_failed_validation" }, ["2 failed"]],
  [{ code: "required" }, ["2 failed"]],
  [{ code: "lease_expired" }, ["5 expired"]],
  [{ code: "blank" }, []],
  [{ state: "PENDING", failed: true }, []],
  [{ stagedAfter: noonPlus(-8) }, ["4 running", "5 expired", "6 imported"]],
  [{ stagedAfter: noonPlus(-8), failed: true }, ["5 expired"]],
  [{ cohort: "north" }, ["1 pending", "2 failed"]],
  [{ cohort: "north", failed: true }, ["2 failed"]],
  [{ cohort: "North" }, []],
  [{}, ["1 pending", "2 failed", "3 skipped", "4 running", "5 expired", "6 imported"]]
]

const pendingOnes = new Set(["1 pending", "2 failed", "4 running", "5 expired"])

const inLists = (it: It): void => {
  it.effect.each(conditions)("has the imports that match all conditions: %j", ([filter, numbers]) =>
    Effect.gen(function* () {
      const { supplier } = yield* oneOfEach
      expectSame(yield* selected(supplier, filter), numbers)
      const pending = numbers.filter((number) => pendingOnes.has(number))
      expectSame(yield* selected(supplier, filter, "pending"), pending)
      const imported = numbers.filter((number) => number === "6 imported")
      expectSame(yield* selected(supplier, filter, "imported"), imported)
      const paged: Array<string> = []
      for (;;) {
        const after = paged.at(-1) ?? ""
        const page = yield* selected(supplier, filter, "all", { after, limit: 1 })
        expect(page.length).toBeLessThanOrEqual(1)
        if (page.length === 0) break
        paged.push(...page)
      }
      expectSame(paged, numbers)
    })
  )

  it.effect("has the details, and the latest attempt", () =>
    Effect.gen(function* () {
      const { caller, keyOf, supplier } = yield* oneOfEach
      const imports = yield* ImportProcesses
      const key = keyOf("2 failed")
      yield* tried(key, caller, { errors: Array.from({ length: 150 }, () => errors[0]) })
      const query = { supplier, kind: "all", after: "1 pending", limit: 1 } as const
      const listed = (details: "without attempts" | "with attempts") =>
        Stream.runCollect(imports.list({ ...query, detailed: { filter: {}, details, at } }))
      const [without] = yield* listed("without attempts")
      expectSame(without?.details, yield* detailsOf(key, 0))
      const [withOne] = yield* listed("with attempts")
      const { attempts } = yield* detailsOf(key, 1)
      expectSame(
        withOne?.details?.attempts,
        attempts.map((attempt) => ({ ...attempt, errors: attempt.errors.slice(0, 100) }))
      )
    })
  )
}

/** Declares the tests of `details` and `setCohort`, and of `list` with details and conditions. */
export const importDetailsContract = (it: It): void => {
  ofOneImport(it)
  ofAttempts(it)
  cohorts(it)
  inLists(it)
}
