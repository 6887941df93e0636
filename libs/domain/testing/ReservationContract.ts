/**
 * When a write checks the reservation of its key: one part of the contract of idempotency keys. A
 * change of an account decides before the check. A staging or a completion checks first.
 */
import { expect, type Vitest } from "@effect/vitest"
import { Effect, Exit, Option, Result } from "effect"
import { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { type IdempotencyKeys, ReservationLost } from "../src/idempotency/IdempotencyKeys.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { ResponseRecorder } from "../src/idempotency/IdempotencyKey.ts"
import { expectSame, noonPlus } from "./freshNames.ts"
import {
  adding,
  changeAccount,
  changedAt,
  creditOf,
  imported,
  type Whose
} from "./importedAccounts.ts"
import { arrange, tracesOf, stagedHash } from "./importStates.ts"
import { freshKeyed, keepAs, reserve } from "./keyedRequests.ts"

type Ports = IdempotencyKeys | Accounts | ImportProcesses | AuditLog | Configuration
type It = Vitest.MethodsNonLive<Ports>

const leaseEnd = noonPlus(60)

/** Changes the account by `decide`, which may fail or throw. */
const changeBy = Effect.fnUntraced(function* (
  { caller, key }: Whose,
  recorder: ResponseRecorder<unknown>,
  decide: () => Result.Result<never, string>
) {
  const accounts = yield* Accounts
  const command = { key, caller, lookup: {}, action: "create_notes", at: changedAt } as const
  return yield* accounts.change({ ...command, recorder, decide })
})

const refuse = () => Result.fail("refused")
const breakDown = () => {
  throw new Error("broken")
}

/** A key that another request has taken over: the lost reservation, and the present one. */
const takenOver = Effect.gen(function* () {
  const request = freshKeyed()
  const { reservation: lost } = yield* reserve(request)
  const { reservation: present } = yield* reserve(request, leaseEnd)
  return { request, lost: keepAs(lost, "201 lost"), present: keepAs(present, "201 won") }
})

const decidingFirst = (it: It): void => {
  it.effect.each([
    ["refuses", refuse],
    ["throws", breakDown]
  ] as const)("a decision that %s leaves the key reserved and usable", ([, decide]) =>
    Effect.gen(function* () {
      const account = yield* imported()
      const request = freshKeyed()
      const { reservation } = yield* reserve(request)
      const recorder = keepAs(reservation, "201 kept")
      const before = yield* tracesOf(account.key)
      const exit = yield* Effect.exit(changeBy(account, recorder, decide))
      expect(Exit.isFailure(exit)).toBe(true)
      expect(exit).not.toEqual(Exit.fail(new ReservationLost()))
      expectSame(yield* tracesOf(account.key), before)
      expectSame((yield* reserve(request)).reserving, { _tag: "InUse" })
      yield* changeAccount(account, adding(creditOf("a")), { recorder })
      expectSame((yield* reserve(request)).reserving, { _tag: "Kept", answer: "201 kept" })
    })
  )

  it.effect("a refused decision is reported before a lost reservation", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const { lost, present, request } = yield* takenOver
      expect(yield* Effect.flip(changeBy(account, lost, refuse)), "taken over").toBe("refused")
      const exit = yield* Effect.exit(changeBy(account, lost, breakDown))
      expect(Exit.isFailure(exit) && !Exit.hasFails(exit)).toBe(true)
      yield* changeAccount(account, adding(creditOf("a")), { recorder: present })
      expect(yield* Effect.flip(changeBy(account, lost, refuse)), "answered").toBe("refused")
      const { reserving } = yield* reserve(request, leaseEnd)
      expectSame(reserving, { _tag: "Kept", answer: "201 won" })
    })
  )

  it.effect("a missing account is reported before a lost reservation", () =>
    Effect.gen(function* () {
      const { caller, key } = yield* arrange("pending")
      const { lost, request } = yield* takenOver
      expect(Option.isNone(yield* changeBy({ caller, key }, lost, breakDown))).toBe(true)
      expectSame((yield* reserve(request, leaseEnd)).reserving, { _tag: "InUse" })
    })
  )

  it.effect("an empty change releases the key, or reports that it is lost", () =>
    Effect.gen(function* () {
      const account = yield* imported()
      const request = freshKeyed()
      const { reservation } = yield* reserve(request)
      yield* changeAccount(account, () => ({}), { recorder: keepAs(reservation, "") })
      expectSame((yield* reserve(request)).reserving, { _tag: "Reserved" })
      const before = yield* tracesOf(account.key)
      const again = changeAccount(account, () => ({}), { recorder: keepAs(reservation, "") })
      expect(yield* Effect.exit(again)).toEqual(Exit.fail(new ReservationLost()))
      expectSame(yield* tracesOf(account.key), before, "what is refused is not on record")
    })
  )
}

const reservedFirst = (it: It): void => {
  it.effect.each(["in progress", "skipped", "imported"] as const)(
    "a lost reservation is reported before a refused staging: %s",
    (state) =>
      Effect.gen(function* () {
        const { stage } = yield* ImportProcesses
        const { caller, key, now: at } = yield* arrange(state)
        const before = yield* tracesOf(key)
        const { lost } = yield* takenOver
        const exit = yield* Effect.exit(
          stage({ key, payload: "{}", hash: stagedHash, caller, at, recorder: lost })
        )
        expect(exit).toEqual(Exit.fail(new ReservationLost()))
        expectSame(yield* tracesOf(key), before)
      })
  )

  it.effect("a lost reservation is reported before a lost lease and a taken number", () =>
    Effect.gen(function* () {
      const { complete } = yield* ImportProcesses
      const taken = yield* arrange("imported")
      const running = yield* arrange("in progress")
      const pending = yield* arrange("pending")
      const { account, attempt, caller } = running
      const { lost } = yield* takenOver
      for (const [key, number] of [
        [pending.key, account.number],
        [running.key, taken.account.number]
      ] as const) {
        const newAccount = { ...account, number }
        const exit = yield* Effect.exit(
          complete({ key, attempt, newAccount, caller, recorder: lost })
        )
        expect(exit).toEqual(Exit.fail(new ReservationLost()))
      }
    })
  )
}

export const reservationContract = (it: It): void => {
  decidingFirst(it)
  reservedFirst(it)
}
