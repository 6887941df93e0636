/**
 * What every storage of idempotency keys must do, together with the ports whose writes record their
 * answers under them. The store may be shared and have data. All instants are arguments, so no test
 * clock is needed.
 */
import { describe, expect, type Vitest, layer as withLayer } from "@effect/vitest"
import { DateTime, Effect, Exit, type Layer } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { IdempotencyKeys, ReservationLost } from "../src/idempotency/IdempotencyKeys.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { answersKeptFor, type Reservation } from "../src/idempotency/IdempotencyKey.ts"
import type { ResponseRecorder } from "../src/idempotency/IdempotencyKey.ts"
import { expectSame, freshOrganisationName, noon, noonPlus, times } from "./freshNames.ts"
import {
  adding,
  changeAccount,
  changedAt,
  creditOf,
  descriptionOf,
  imported
} from "./importedAccounts.ts"
import { arrange, tracesOf, stagedHash } from "./importStates.ts"
import {
  freshFingerprint,
  freshKeyed,
  inOneStep,
  keepAs,
  keyLease,
  reserve
} from "./keyedRequests.ts"
import { reservationContract } from "./ReservationContract.ts"

type Ports = IdempotencyKeys | Accounts | ImportProcesses | AuditLog | Configuration
type It = Vitest.MethodsNonLive<Ports>

const leaseEnd = DateTime.addDuration(noon, keyLease)

const reserving = (it: It): void => {
  it.effect("reserves a key for one request, and reports its state to others", () =>
    Effect.gen(function* () {
      const request = freshKeyed()
      expectSame((yield* reserve(request)).reserving, { _tag: "Reserved" })
      expectSame((yield* reserve(request, noonPlus(59))).reserving, { _tag: "InUse" })
      const other = { ...request, fingerprint: freshFingerprint() }
      expectSame((yield* reserve(other, noonPlus(59))).reserving, { _tag: "Reused" })
    })
  )

  it.effect("reserves a key again exactly when its lease expires", () =>
    Effect.gen(function* () {
      const request = freshKeyed()
      yield* reserve(request)
      const just = DateTime.subtract(leaseEnd, { milliseconds: 1 })
      expectSame((yield* reserve(request, just)).reserving, { _tag: "InUse" })
      const other = { ...request, fingerprint: freshFingerprint() }
      expectSame((yield* reserve(other, leaseEnd)).reserving, { _tag: "Reserved" })
      expectSame((yield* reserve(request, leaseEnd)).reserving, { _tag: "Reused" })
    })
  )

  it.effect("reserves a key separately for each organisation, and each key separately", () =>
    Effect.gen(function* () {
      const request = freshKeyed()
      const ofOther = { ...request, organisation: freshOrganisationName() }
      const another = freshKeyed(request.organisation)
      for (const each of [request, ofOther, another]) {
        expectSame((yield* reserve(each)).reserving, { _tag: "Reserved" })
      }
    })
  )

  it.effect("distinguishes keys by every character", () =>
    Effect.gen(function* () {
      const { fingerprint, organisation } = freshKeyed()
      const texts = ["a", "A", "a ", " a", "a,a", '"a"', "%", "_", "\\", "a".repeat(255)]
      for (const text of texts) {
        const request = { organisation, fingerprint, key: text as never }
        expectSame((yield* reserve(request)).reserving, { _tag: "Reserved" }, text)
      }
    })
  )

  it.effect.each([
    ["new", noon],
    ["expired", leaseEnd]
  ] as const)("reserves a key for one of many concurrent requests: %s", ([what, at]) =>
    Effect.gen(function* () {
      const request = freshKeyed()
      if (what === "expired") yield* reserve(request)
      const all = yield* Effect.replicateEffect(reserve(request, at), 32, {
        concurrency: "unbounded"
      })
      const tags = all.map((each) => each.reserving._tag).toSorted()
      expect(tags).toEqual([...times(31, "InUse"), "Reserved"])
    })
  )
}

const releasing = (it: It): void => {
  it.effect("frees the key at once, for a different request too", () =>
    Effect.gen(function* () {
      const { release } = yield* IdempotencyKeys
      const request = freshKeyed()
      yield* release((yield* reserve(request)).reservation)
      const other = { ...request, fingerprint: freshFingerprint() }
      expectSame((yield* reserve(other)).reserving, { _tag: "Reserved" })
    })
  )

  it.effect("changes nothing without the reservation", () =>
    Effect.gen(function* () {
      const { release } = yield* IdempotencyKeys
      const request = freshKeyed()
      const first = yield* reserve(request)
      yield* release((yield* reserve(request)).reservation)
      expectSame((yield* reserve(request)).reserving, { _tag: "InUse" })
      yield* reserve(request, leaseEnd)
      yield* release(first.reservation)
      expectSame((yield* reserve(request, leaseEnd)).reserving, { _tag: "InUse" })
    })
  )
}

/** One write of a port: it can be done once, and has a visible effect. */
interface Write {
  /** The time of the write. */
  readonly at: DateTime.Utc
  readonly run: (to: ResponseRecorder<unknown> | null) => Effect.Effect<unknown, unknown, Ports>
  /** All data that it could change. */
  readonly traces: Effect.Effect<unknown, unknown, Ports>
}

/** Every write that keeps its answer, each on an import of its own. */
const writes: Readonly<Record<string, Effect.Effect<Write, unknown, Ports>>> = {
  "a first staging": Effect.gen(function* () {
    const { stage } = yield* ImportProcesses
    const { caller, key, now: at } = yield* arrange("none")
    return {
      at,
      run: (recorder) => stage({ key, payload: "{}", hash: stagedHash, caller, at, recorder }),
      traces: tracesOf(key)
    }
  }),
  "a later staging": Effect.gen(function* () {
    const { stage } = yield* ImportProcesses
    const { caller, key, now: at } = yield* arrange("pending")
    return {
      at,
      run: (recorder) => stage({ key, payload: "{}", hash: stagedHash, caller, at, recorder }),
      traces: tracesOf(key)
    }
  }),
  "a completion": Effect.gen(function* () {
    const { complete } = yield* ImportProcesses
    const { account: newAccount, attempt, caller, key } = yield* arrange("in progress")
    return {
      at: newAccount.createdAt,
      run: (recorder) => complete({ key, attempt, newAccount, caller, recorder }),
      traces: tracesOf(key)
    }
  }),
  "a change of an account": Effect.gen(function* () {
    const account = yield* imported()
    const { key, number } = account
    return {
      at: changedAt,
      run: (recorder) => changeAccount(account, adding(creditOf("a")), { recorder }),
      traces: Effect.all([tracesOf(key), descriptionOf(number)])
    }
  })
}

const expectLost = (exit: Exit.Exit<unknown, unknown>): void => {
  expect(exit).toEqual(Exit.fail(new ReservationLost()))
}

const keeping = (it: It): void => {
  it.effect.each(Object.entries(writes))("is stored with its effect: %s", ([, write]) =>
    Effect.gen(function* () {
      const { at, run, traces } = yield* write
      const before = yield* traces
      const request = freshKeyed()
      // Expired by now, but not taken over.
      const { reservation } = yield* reserve(request, DateTime.subtract(at, { minutes: 5 }))
      const answer = `201 {"a":"Ærø \\u0000 ' \\" 漢 😀"}`
      yield* run(keepAs(reservation, answer))
      expect(yield* traces).not.toEqual(before)
      const kept = { _tag: "Kept", answer }
      const end = DateTime.addDuration(at, answersKeptFor)
      for (const time of [
        at,
        DateTime.add(at, { minutes: 2 }),
        DateTime.subtract(end, { seconds: 1 })
      ]) {
        expectSame((yield* reserve(request, time)).reserving, kept)
        const other = { ...request, fingerprint: freshFingerprint() }
        expectSame((yield* reserve(other, time)).reserving, { _tag: "Reused" })
      }
      const { release } = yield* IdempotencyKeys
      yield* release(reservation)
      expectSame((yield* reserve(request, at)).reserving, kept, "an answer is not given back")
      expectSame((yield* reserve(request, end)).reserving, { _tag: "Reserved" }, "a day later")
    })
  )

  it.effect.each(Object.entries(writes))(
    "is not stored, nor is its effect, if the reservation is lost: %s",
    ([, write]) =>
      Effect.gen(function* () {
        const { release } = yield* IdempotencyKeys
        const losses: ReadonlyArray<(lost: Reservation) => Effect.Effect<unknown, unknown, Ports>> =
          [release, () => Effect.void]
        for (const lose of losses) {
          const { run, traces } = yield* write
          const before = yield* traces
          const request = freshKeyed()
          const { reservation } = yield* reserve(request)
          yield* lose(reservation)
          const next = yield* reserve(request, leaseEnd)
          expectSame(next.reserving, { _tag: "Reserved" })
          expectLost(yield* Effect.exit(run(keepAs(reservation, "lost"))))
          expect(yield* traces).toEqual(before)
          yield* run(keepAs(next.reservation, "201 won"))
          expectSame((yield* reserve(request, leaseEnd)).reserving, {
            _tag: "Kept",
            answer: "201 won"
          })
          expectLost(yield* Effect.exit(run(keepAs(reservation, "lost"))))
          expectLost(yield* Effect.exit(run(keepAs(next.reservation, "201 again"))))
        }
      })
  )

  it.effect("differs between a first and a later staging", () =>
    Effect.gen(function* () {
      const { stage } = yield* ImportProcesses
      const { caller, key } = yield* arrange("none")
      for (const tag of ["Created", "Replaced"]) {
        const request = freshKeyed()
        const { reservation } = yield* reserve(request)
        const recorder = {
          reservation,
          textOf: inOneStep(({ _tag }: { readonly _tag: string }) => _tag)
        }
        yield* stage({ key, payload: "{}", hash: stagedHash, caller, at: noon, recorder })
        expectSame((yield* reserve(request)).reserving, { _tag: "Kept", answer: tag })
      }
    })
  )
}

const withoutEffect = (it: It): void => {
  it.effect("a refused staging keeps no response", () =>
    Effect.gen(function* () {
      const { stage } = yield* ImportProcesses
      const { caller, found, key, now: at } = yield* arrange("in progress")
      const request = freshKeyed()
      const { reservation } = yield* reserve(request)
      const recorder = keepAs(reservation, "")
      const staging = yield* stage({ key, payload: "{}", hash: stagedHash, caller, at, recorder })
      expectSame(staging, { _tag: "Refused", found })
      expectSame((yield* reserve(request)).reserving, { _tag: "InUse" })
    })
  )

  it.effect("a completion without the lease, or with a taken number, keeps no response", () =>
    Effect.gen(function* () {
      const { complete } = yield* ImportProcesses
      const taken = yield* arrange("imported")
      const { account, attempt, caller, key } = yield* arrange("in progress")
      const pending = yield* arrange("pending")
      const newAccount = { ...account, number: taken.account.number }
      const request = freshKeyed()
      const { reservation } = yield* reserve(request)
      const recorder = keepAs(reservation, "")
      expectSame(yield* complete({ key, attempt, newAccount, caller, recorder }), {
        _tag: "NumberTaken"
      })
      const lost = { key: pending.key, attempt, newAccount: account, caller, recorder }
      expectSame(yield* complete(lost), { _tag: "LeaseLost" })
      expectSame((yield* reserve(request)).reserving, { _tag: "InUse" })
      yield* complete({ key, attempt, newAccount: account, caller, recorder })
      expectSame((yield* reserve(request)).reserving, { _tag: "Kept", answer: "" })
    })
  )
}

const concurrency = 24

const atOnce = (it: It): void => {
  it.effect.each(Object.entries(writes))(
    "without a key or with a lost one do not affect the others: %s",
    ([, write]) =>
      Effect.gen(function* () {
        const { release } = yield* IdempotencyKeys
        const all = yield* Effect.forEach(
          Array.from({ length: concurrency }, (_, index) => index % 3),
          (kind) =>
            Effect.gen(function* () {
              const { at, run, traces } = yield* write
              const request = freshKeyed()
              const { reservation } = yield* reserve(request, at)
              if (kind === 2) yield* release(reservation)
              const recorder = kind === 0 ? null : keepAs(reservation, `kept of ${reservation.key}`)
              return { at, before: yield* traces, kind, request, traces, writing: run(recorder) }
            }),
          { concurrency: 8 }
        )
        const exits = yield* Effect.forEach(all, ({ writing }) => Effect.exit(writing), {
          concurrency: "unbounded"
        })
        for (const [index, { at, before, kind, request, traces }] of all.entries()) {
          const exit = exits[index] ?? Exit.void
          if (kind === 2) {
            expectLost(exit)
            expect(yield* traces).toEqual(before)
            continue
          }
          expect(Exit.isSuccess(exit)).toBe(true)
          expect(yield* traces).not.toEqual(before)
          const { reserving } = yield* reserve(request, at)
          const answer = `kept of ${request.key}`
          expectSame(reserving, kind === 1 ? { _tag: "Kept", answer } : { _tag: "InUse" })
        }
      })
  )

  it.effect.each(Object.entries(writes))(
    "succeed for exactly one of a late write and the request that takes over its key: %s",
    ([, write]) =>
      Effect.gen(function* () {
        for (let round = 0; round < 10; round++) {
          const { run } = yield* write
          const request = freshKeyed()
          const { reservation } = yield* reserve(request)
          const [late, next] = yield* Effect.all(
            [Effect.exit(run(keepAs(reservation, "late"))), reserve(request, leaseEnd)],
            { concurrency: "unbounded" }
          )
          if (Exit.isSuccess(late)) {
            expectSame(next.reserving, { _tag: "Kept", answer: "late" })
          } else {
            expectLost(late)
            expectSame(next.reserving, { _tag: "Reserved" })
          }
        }
      })
  )
}

/** Declares the suite under `name`; the layer is built once for all of it. */
export const idempotencyKeysContract = <E>(name: string, layer: Layer.Layer<Ports, E>): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `IdempotencyKeys, ${name}`,
    (it) => {
      describe("reserve", () => reserving(it))
      describe("release", () => releasing(it))
      describe("the response of a write", () => keeping(it))
      describe("a write without effect", () => withoutEffect(it))
      describe("the reservation", () => reservationContract(it))
      describe("concurrent requests with a key", () => atOnce(it))
    }
  )
