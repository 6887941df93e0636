/** The contract of `Reverts`: what one step changes, and what the next life of an import is. */
import { describe, expect, type Vitest, layer as withLayer } from "@effect/vitest"
import { type DateTime, Duration, Effect, type Layer, Option, Result, Stream } from "effect"
import { type AccountNumber, accountTextInSteps } from "../src/accounts/Account.ts"
import { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { twoDecimals } from "../src/schema/Decimal.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { ResponseRecorder } from "../src/idempotency/IdempotencyKey.ts"
import type { IdempotencyKeys } from "../src/idempotency/IdempotencyKeys.ts"
import { type ImportKey, statusOf, stateAt } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { RevertView } from "../src/imports/Revert.ts"
import { Reverts } from "../src/imports/Reverts.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { finish } from "../src/support/Steps.ts"
import {
  expectSame,
  freshAccountNumber,
  freshAttempt,
  minimalAccount,
  newAccountFor,
  noon,
  noonPlus
} from "./freshNames.ts"
import { adding, card, changeAccount, creditOf, imported } from "./importedAccounts.ts"
import { auditEntry, claim, lease, noLimits, stagedContent, tracesOf } from "./importStates.ts"
import { freshKeyed, keepAs, reserve } from "./keyedRequests.ts"

type Ports = Reverts | ImportProcesses | Accounts | AuditLog | Configuration | IdempotencyKeys

const revertedAt = noonPlus(120)

interface Whose {
  readonly key: ImportKey
  readonly caller: Caller
  readonly number: AccountNumber
}

export const reverting = Effect.fnUntraced(function* (
  { caller, key, number }: Whose,
  options: {
    readonly decide?: (view: RevertView) => boolean
    readonly dryRun?: boolean
    readonly recorder?: ResponseRecorder<unknown> | null
    readonly at?: DateTime.Utc
    readonly reason?: string
  } = {}
) {
  const { at = revertedAt, decide = () => true, dryRun = false, recorder = null } = options
  const { reason = "The balances had the wrong sign." } = options
  return yield* (yield* Reverts).revert({
    key,
    number,
    caller,
    at,
    reason,
    dryRun,
    recorder,
    decide: (view) => Result.succeed(decide(view))
  })
})

/** Processes the import again. */
const importedAgain = Effect.fnUntraced(function* ({ caller, key }: Whose) {
  const imports = yield* ImportProcesses
  const { attempt } = yield* claim(key, caller, noonPlus(180))
  const account = newAccountFor(key, noonPlus(181))
  const completion = yield* imports.complete({ key, attempt, newAccount: account, caller })
  expect(completion).toStrictEqual({ _tag: "Completed" })
  return { key, caller, number: account.number }
})

/** Reverts the account under a key that keeps its answer for long, as that of a line. */
const revertedOnce = Effect.fnUntraced(function* (whose: Whose) {
  const request = { ...freshKeyed(whose.caller.organisation), keptFor: Duration.days(400) }
  const { reservation } = yield* reserve(request, noonPlus(50))
  const recorder = keepAs({ ...reservation, keptFor: request.keptFor }, "reverted")
  yield* reverting(whose, { recorder })
  return request
})

const reverts = (it: Vitest.MethodsNonLive<Ports>): void => {
  it.effect("end the account and make its import pending with its payload and history", () =>
    Effect.gen(function* () {
      const whose = yield* imported()
      const { caller, key, number } = whose
      const reverted = Option.getOrThrow(yield* reverting(whose))
      const imports = yield* ImportProcesses
      const found = Option.getOrThrow(yield* imports.find(key))
      expect(statusOf(stateAt(found, noonPlus(121)))).toBe("UNKNOWN")
      expectSame(found, { ...found, account: null, revertedAt })
      expectSame(reverted.details.reverted, [
        { number, createdAt: noonPlus(20), revertedAt, reason: "The balances had the wrong sign." }
      ])
      expectSame(reverted.details, Option.getOrThrow(yield* imports.details(key, 10)))
      const { audit, events } = yield* tracesOf(key)
      expectSame(audit.at(-1), auditEntry(caller, revertedAt, "revert_import", "reverted"))
      expect(events.map(({ name }) => name).at(-1)).toBe("data_import.import_process.reverted-v1")
      const claimed = yield* claim(key, caller, noonPlus(180))
      const payload = finish(accountTextInSteps(minimalAccount(key)))
      expect(claimed.claim).toStrictEqual({ _tag: "Claimed", payload })
    })
  )

  it.effect("keep the account with its money, to be read by its number", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const whose = yield* imported()
      yield* changeAccount(whose, adding(creditOf("late")))
      yield* reverting(whose)
      expectSame(yield* accounts.locate(whose.number), Option.some(whose.key))
      const [read] = yield* Stream.runCollect(accounts.read([whose.number]))
      expect(read && twoDecimals(read.balance)).toBe("10.00")
      expectSame(read?.revertedAt, revertedAt)
      expect(yield* accounts.view(whose.key, {})).toEqual(Option.none())
      const late = changeAccount(whose, adding(creditOf("later")))
      expect(yield* late).toEqual(Option.none())
    })
  )

  it.effect("tell what was added, and end the active payment instruction", () =>
    Effect.gen(function* () {
      const accounts = yield* Accounts
      const whose = yield* imported()
      yield* changeAccount(whose, (view) => ({
        ...adding(creditOf("a"), creditOf("b"))(view),
        instruction: card
      }))
      const reverted = Option.getOrThrow(yield* reverting(whose))
      expect(reverted.account).toMatchObject({
        additions: { transactions: 2, notes: 0, statements: 0, payment_instructions: 1 },
        active: card.instruction
      })
      const described = yield* Stream.runHead(accounts.describe([whose.number]))
      const { instructions } = Option.getOrThrow(described)
      expectSame(
        instructions.map(({ endedAt }) => endedAt),
        [revertedAt]
      )
    })
  )

  it.effect("leave the next account alone, also with the same ids", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const first = yield* imported()
      yield* changeAccount(first, adding(creditOf("same id")))
      yield* reverting(first)
      const second = yield* importedAgain(first)
      yield* changeAccount(second, (view) => ({
        ...adding(creditOf("same id"))(view),
        instruction: card
      }))
      const repeated = yield* reverting(first, {
        decide: (view) => view.named?.isReverted !== true
      })
      expect(Option.getOrThrow(repeated).account).toBe(null)
      const found = Option.getOrThrow(yield* imports.find(first.key))
      expect(found.account?.number).toBe(second.number)
      const { audit } = yield* tracesOf(first.key)
      expect(audit.at(-1)?.outcome).toBe("unchanged")
      const unknown = yield* reverting(
        { ...first, number: freshAccountNumber() },
        {
          decide: ({ named }) => {
            expect(named).toBe(null)
            return false
          }
        }
      )
      expect(Option.isSome(unknown)).toBe(true)
    })
  )

  it.effect("store nothing in a dry run, or if the decision says no", () =>
    Effect.gen(function* () {
      const whose = yield* imported()
      const before = yield* tracesOf(whose.key)
      const told = Option.getOrThrow(yield* reverting(whose, { dryRun: true }))
      expect(told.account?.isReverted).toBe(false)
      expectSame(yield* tracesOf(whose.key), before)
    })
  )

  it.effect("refuse the work of batches that began before", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const whose = yield* imported()
      yield* reverting(whose)
      const { caller, key } = whose
      const at = noonPlus(180)
      const staging = { key, ...stagedContent, caller, at }
      const claiming = { key, attempt: freshAttempt(), dryRun: false, lease, caller, at }
      const refused = { _tag: "Refused", found: { _tag: "Reverted" } }
      for (const since of [noon, revertedAt]) {
        expect(yield* imports.stage({ ...staging, since })).toStrictEqual(refused)
        for (const limits of [noLimits, { deployment: null, supplier: 5 }]) {
          expect(yield* imports.claim({ ...claiming, since, limits })).toStrictEqual(refused)
        }
      }
      expect(yield* imports.stage({ ...staging, since: noonPlus(121) })).toStrictEqual({
        _tag: "Replaced"
      })
    })
  )

  it.effect("delete the answers about the account, whose keys say so", () =>
    Effect.gen(function* () {
      const whose = yield* imported()
      const request = freshKeyed(whose.caller.organisation)
      // The request began before the account was there.
      const at = noonPlus(10)
      const { reservation } = yield* reserve(request, at)
      const recorder = keepAs(reservation, "kept")
      yield* changeAccount(whose, adding(creditOf("kept")), { at, recorder })
      yield* reverting(whose)
      const again = yield* reserve(request, noonPlus(180))
      expect(again.reserving).toStrictEqual({ _tag: "Reverted" })
      const aDayLater = yield* reserve(request, noonPlus(120 + 24 * 3_600))
      expect(aDayLater.reserving).toStrictEqual({ _tag: "Reserved" })
    })
  )

  it.effect("name the accounts as they came, whatever the clocks of the reverts say", () =>
    Effect.gen(function* () {
      const first = yield* imported()
      yield* reverting(first)
      const second = yield* importedAgain(first)
      yield* reverting(second, { at: noonPlus(119) })
      const details = Option.getOrThrow(yield* (yield* ImportProcesses).details(first.key, 0))
      const numbers = [first.number, second.number]
      expect(details.reverted.map(({ number }) => number)).toEqual(numbers)
    })
  )

  it.effect("keep the answer to an earlier revert", () =>
    Effect.gen(function* () {
      const first = yield* imported()
      const request = yield* revertedOnce(first)
      yield* reverting(yield* importedAgain(first))
      const again = yield* reserve(request, noonPlus(200))
      expect(again.reserving).toStrictEqual({ _tag: "Kept", answer: "reverted" })
    })
  )
}

export const revertsContract = <E>(name: string, storage: Layer.Layer<Ports, E>): void => {
  describe(`reverts ${name}`, () => withLayer(storage)(reverts))
}
