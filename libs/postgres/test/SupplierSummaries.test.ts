/**
 * After any history a summary equals a count of the imports, before and after the differences are
 * folded.
 */
import { expect, layer } from "@effect/vitest"
import { BigDecimal, DateTime, Effect, Exit, Option } from "effect"
import fc from "fast-check"
import { type Account, openingBalance } from "@data-import/domain/accounts/Account"
import { detailedStateOf, type DetailedState } from "@data-import/domain/imports/ImportDetails"
import type { AttemptId, ImportKey } from "@data-import/domain/imports/ImportProcess"
import { balanceOf } from "@data-import/domain/accounts/Ledger"
import {
  type CodeCount,
  type SupplierSummary,
  ties
} from "@data-import/domain/migrations/SupplierSummary"
import type { Code } from "@data-import/domain/codes/Code"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { decideRevert, type RevertView } from "@data-import/domain/imports/Revert"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { sum, twoDecimals } from "@data-import/domain/schema/Decimal"
import {
  expectSame,
  freshAttempt,
  freshSupplier,
  minimalAccount,
  newAccountFor,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import { adding, changeAccount, creditOf } from "@data-import/domain/testing/importedAccounts"
import { claim, stagedContent } from "@data-import/domain/testing/importStates"
import { domesticAccount } from "@data-import/domain/testing/samples"
import * as TestDatabase from "../testing/TestDatabase.ts"

const steps = [
  "stage",
  "claim",
  "release",
  "complete",
  "add",
  "revert",
  "skip",
  "unskip",
  "erase",
  "fold"
] as const

interface Step {
  readonly kind: (typeof steps)[number]
  readonly number: number
  readonly cohort: string | null
  readonly code: Code
  readonly seconds: number
}

const codes = [
  "account_failed_validation",
  "path_does_not_exist_in_file_store",
  "service_unavailable",
  "dry_run_successful"
] as const

const only = (kind: Step["kind"]): ReadonlyArray<Step["kind"]> => [kind]

/** The steps to an account, which may be reverted later. */
const toAccount: ReadonlyArray<Step["kind"]> = ["stage", "claim", "complete"]

const histories: fc.Arbitrary<ReadonlyArray<Step>> = fc
  .array(
    fc.record({
      kinds: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...steps.map(only)) },
        { weight: 1, arbitrary: fc.constant(toAccount) }
      ),
      number: fc.integer({ min: 1, max: 5 }),
      cohort: fc.constantFrom(null, "wave-1", "wave-2"),
      code: fc.constantFrom(...codes),
      seconds: fc.integer({ min: 0, max: 45 })
    }),
    { minLength: 10, maxLength: 60 }
  )
  .map((all) => all.flatMap(({ kinds, ...rest }) => kinds.map((kind) => ({ kind, ...rest }))))

const foldAll = (at: DateTime.Utc) =>
  Effect.flatMap(SupplierSummaries, (port) =>
    Effect.repeat(port.fold({ limit: 7, at }), { while: (count) => count > 0 })
  )

/** What a test knows about an import besides what the ports return. */
interface Known {
  readonly cohort: string | null
  /** The present account, and how many credits were added to it. */
  readonly account: Account | null
  readonly credits: number
  /** How many of its accounts were reverted. */
  readonly reverted: number
}

const unknown: Known = {
  cohort: null,
  account: null,
  credits: 0,
  reverted: 0
}

interface World {
  readonly supplier: SupplierCode
  readonly caller: Caller
  readonly keyOf: (number: string) => ImportKey
  /** In the order in which they were staged first. */
  readonly known: Map<string, Known>
  readonly attempts: Map<string, AttemptId>
}

const freshWorld = Effect.map(freshSupplier, ({ caller, keyOf, supplier }): World => ({
  supplier: supplier.code,
  caller,
  keyOf,
  known: new Map(),
  attempts: new Map()
}))

const accountWithoutLedgers = (key: ImportKey): Account => ({
  ...minimalAccount(key),
  transfer_balance: BigDecimal.make(-1_250n, 2)
})

const complete = Effect.fnUntraced(function* (world: World, key: ImportKey, at: DateTime.Utc) {
  const imports = yield* ImportProcesses
  const { caller } = world
  const number = key.external_account_number
  const attempt = world.attempts.get(number) ?? freshAttempt()
  const account = number === "n2" ? accountWithoutLedgers(key) : domesticAccount(key)
  const newAccount = { ...newAccountFor(key, at), account }
  const done = yield* imports.complete({ key, attempt, newAccount, caller })
  const known = world.known.get(number)
  if (done._tag !== "Completed" || known === undefined) return
  world.known.set(number, { ...known, account, credits: 0 })
})

const addCredit = Effect.fnUntraced(function* (world: World, key: ImportKey, at: DateTime.Utc) {
  const known = world.known.get(key.external_account_number) ?? unknown
  const { caller } = world
  const added = yield* changeAccount({ key, caller }, adding(creditOf("c")), { at })
  if (Option.isNone(added)) return
  world.known.set(key.external_account_number, { ...known, credits: known.credits + 1 })
})

const revert = Effect.fnUntraced(function* (world: World, key: ImportKey, at: DateTime.Utc) {
  const { caller, known } = world
  const external = key.external_account_number
  const { account = null } = Option.getOrNull(yield* (yield* ImportProcesses).find(key)) ?? {}
  if (account === null) return
  const { number } = account
  const decide = (view: RevertView) => decideRevert(key, view, { number, withAdditions: true })
  const command = { key, number, reason: "wrong", dryRun: false, decide, caller, at }
  const done = yield* Effect.exit((yield* Reverts).revert(command))
  if (Exit.isFailure(done) || Option.getOrThrow(done.value).account === null) return
  const before = known.get(external) ?? unknown
  known.set(external, { ...before, account: null, reverted: before.reverted + 1 })
})

const take = Effect.fnUntraced(function* (world: World, step: Step, at: DateTime.Utc) {
  const imports = yield* ImportProcesses
  const { attempts, caller, known } = world
  const { code: outcome, cohort } = step
  const key = world.keyOf(`n${step.number}`)
  const number = key.external_account_number
  const dryRun = outcome === "dry_run_successful"
  switch (step.kind) {
    case "stage": {
      const staged = yield* imports.stage({
        key,
        ...stagedContent,
        cohort,
        caller,
        at
      })
      const before = known.get(number) ?? unknown
      if (staged._tag === "Refused") return
      return known.set(number, { ...before, cohort: cohort ?? before.cohort })
    }
    case "claim": {
      const attempt = freshAttempt()
      const { claim: claimed } = yield* claim(key, caller, at, { attempt, dryRun })
      if (claimed._tag === "Claimed") attempts.set(number, attempt)
      return
    }
    case "release": {
      const attempt = attempts.get(number) ?? freshAttempt()
      const errors = [outcome, outcome].map((code) => ({ code, attr: "account", detail: "" }))
      return yield* imports.release({ key, attempt, outcome, errors, dryRun, caller, at })
    }
    case "complete":
      return yield* complete(world, key, at)
    case "add":
      return yield* addCredit(world, key, at)
    case "revert":
      return yield* revert(world, key, at)
    case "skip":
    case "unskip":
      return yield* imports.setSkipped({ key, skipped: step.kind === "skip", at })
    case "erase":
      return yield* (yield* Erasures).erase({ key, at })
    case "fold":
      return yield* foldAll(at)
  }
})

interface Seen extends Known {
  readonly external: string
  readonly state: DetailedState
  readonly codes: ReadonlyArray<string>
  readonly stagedAt: DateTime.Utc
}

/** Every import, read singly. */
const seenIn = Effect.fnUntraced(function* ({ keyOf, known }: World, at: DateTime.Utc) {
  const imports = yield* ImportProcesses
  return yield* Effect.forEach([...known], ([external, each]) =>
    Effect.map(imports.details(keyOf(external), 1), (found): Seen => {
      const details = Option.getOrThrow(found)
      const state = detailedStateOf(details, at)
      const last = details.attempts.at(-1)
      const told = [last?.outcome ?? "lease_expired", ...(last?.errors ?? []).map((e) => e.code)]
      const { stagedAt } = details
      return { ...each, external, state, stagedAt, codes: state === "FAILED" ? told : [] }
    })
  )
})

const hasNoLedger = ({ ledgers }: Account): boolean => (ledgers ?? []).length === 0

const ledgersOf = (accounts: ReadonlyArray<Account>) => {
  const ledgers = accounts.flatMap((account) => account.ledgers ?? [])
  const codes = [...new Set(ledgers.map(({ ledger_code: code }) => code))]
  return codes.toSorted().map((code) => {
    const ofCode = ledgers.filter((ledger) => ledger.ledger_code === code)
    const balance = twoDecimals(sum(ofCode.map(balanceOf)))
    return { code, ledgers: ofCode.length, balance }
  })
}

const countOf = (seen: ReadonlyArray<Seen>, importedLastHour: number) => {
  const byCode = new Map<string, number>()
  for (const each of seen) {
    for (const code of new Set(each.codes)) byCode.set(code, (byCode.get(code) ?? 0) + 1)
  }
  const inState = (state: DetailedState) => seen.filter((each) => each.state === state)
  const [oldest] = inState("PENDING")
  const accounts = seen.flatMap(({ account }) => account ?? [])
  const credits = seen.reduce((count, each) => count + (each.account ? each.credits : 0), 0)
  const added = BigDecimal.make(1_000n * BigInt(credits), 2)
  return {
    states: {
      PENDING: inState("PENDING").length,
      FAILED: inState("FAILED").length,
      IN_PROGRESS: inState("IN_PROGRESS").length,
      SKIPPED: inState("SKIPPED").length,
      IMPORTED: inState("IMPORTED").length,
      ERASED: inState("ERASED").length
    },
    reverted: seen.reduce((count, { reverted }) => count + reverted, 0),
    linesRefused: 0,
    importedLastHour,
    oldestPending: oldest ? { number: oldest.external, stagedAt: oldest.stagedAt } : null,
    codes: [...byCode]
      .toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .map(([code, imports]) => ({ code, imports })),
    balance: twoDecimals(sum([...accounts.map(openingBalance), added])),
    withoutLedger: twoDecimals(sum(accounts.filter(hasNoLedger).map(openingBalance))),
    added: twoDecimals(added),
    ledgers: ledgersOf(accounts)
  }
}

const expectExamples = ({ code, examples, imports }: CodeCount, seen: ReadonlyArray<Seen>) => {
  expect(examples, code).toHaveLength(Math.min(3, imports))
  expect(new Set(examples).size, code).toBe(examples.length)
  for (const example of examples) {
    expect(seen.find(({ external }) => external === example)?.codes).toContain(code)
  }
}

/** Expects that the summary equals a count of these imports. */
const expectCounted = (
  summary: SupplierSummary,
  seen: ReadonlyArray<Seen>,
  importedLastHour: number,
  label: string
) => {
  const { added, balance, codes, ledgers, withoutLedger, ...told } = summary
  const plain = {
    ...told,
    codes: codes.map(({ code, imports }) => ({ code, imports })),
    balance: twoDecimals(balance),
    withoutLedger: twoDecimals(withoutLedger),
    added: twoDecimals(added),
    ledgers: ledgers.map((each) => ({ ...each, balance: twoDecimals(each.balance) }))
  }
  expectSame(plain, countOf(seen, importedLastHour), label)
  expect(ties(summary), label).toBe(true)
  for (const each of codes) expectExamples(each, seen)
}

const summaryAt = (world: World, cohort: string | null, at: DateTime.Utc) =>
  Effect.flatMap(SupplierSummaries, (port) => port.read({ supplier: world.supplier, cohort, at }))

const cohorts = [null, "wave-1", "wave-2", "unknown"]

/** Expects that every summary is right, now and after the leases have expired. */
const expectEverySummary = Effect.fnUntraced(function* (
  world: World,
  now: DateTime.Utc,
  history: ReadonlyArray<Step>
) {
  for (const at of [now, DateTime.add(now, { minutes: 2 })]) {
    const seen = yield* seenIn(world, at)
    for (const cohort of cohorts) {
      const ofCohort = seen.filter((each) => cohort === null || each.cohort === cohort)
      const label = `cohort ${cohort} after ${JSON.stringify(history)}`
      const { length } = ofCohort.filter(({ account }) => account !== null)
      expectCounted(yield* summaryAt(world, cohort, at), ofCohort, length, label)
    }
  }
})

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "SupplierSummaries",
  (it) => {
    it.effect("is zero for a supplier without imports", () =>
      Effect.gen(function* () {
        expectCounted(yield* summaryAt(yield* freshWorld, null, noonPlus(0)), [], 0, "none")
      })
    )

    it.effect("equals a count of the imports after any history", () =>
      Effect.gen(function* () {
        for (const history of fc.sample(histories, 10)) {
          const world = yield* freshWorld
          let seconds = 0
          for (const step of history) {
            seconds += step.seconds
            yield* take(world, step, noonPlus(seconds))
          }
          yield* expectEverySummary(world, noonPlus(seconds), history)
          yield* foldAll(noonPlus(seconds))
          yield* expectEverySummary(world, noonPlus(seconds), history)
        }
      })
    )

    it.effect("counts all of many concurrent writes, whenever they are folded", () =>
      Effect.gen(function* () {
        const world = yield* freshWorld
        const numbers = Array.from({ length: 40 }, (_, index) => `n${index}`)
        const code = "service_unavailable"
        const through = Effect.fnUntraced(function* (number: string, index: number) {
          const step = { number: index, cohort: null, code, seconds: 0 } as const
          const kinds = ["stage", "claim", index % 2 === 0 ? "complete" : "release"] as const
          for (const kind of kinds) yield* take(world, { ...step, kind }, noonPlus(0))
          yield* foldAll(noonPlus(0))
          expect(world.known.has(number)).toBe(true)
        })
        yield* Effect.forEach(numbers, through, { concurrency: 8, discard: true })
        const { states } = yield* summaryAt(world, null, noonPlus(1))
        expect(states).toMatchObject({ IMPORTED: 20, FAILED: 20, PENDING: 0 })
      })
    )

    it.effect("counts accounts of the last hour, by the minute", () =>
      Effect.gen(function* () {
        const world = yield* freshWorld
        const step = { number: 1, cohort: null, code: codes[0], seconds: 0 } as const
        for (const kind of ["stage", "claim", "complete"] as const) {
          yield* take(world, { ...step, kind }, noonPlus(59))
        }
        const countedAt = (seconds: number) =>
          Effect.map(
            summaryAt(world, null, noonPlus(seconds)),
            ({ importedLastHour }) => importedLastHour
          )
        expect(yield* countedAt(60)).toBe(1)
        expect(yield* countedAt(3_659)).toBe(1)
        expect(yield* countedAt(3_660)).toBe(0)
      })
    )
  }
)
