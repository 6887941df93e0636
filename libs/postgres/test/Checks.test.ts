/**
 * The storage of the scheduled checks returns accounts, batches and events as they are, gives a
 * turn to one instance, and keeps differences until they are seen resolved. Data that the ports
 * have written never has a difference.
 */
import { expect, layer, type Vitest } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import fc from "fast-check"
import { makeScheduledChecks } from "@data-import/domain/checks/ScheduledChecks"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { Checks, type Difference, ofEachCheck, walks } from "@data-import/domain/checks/Checks"
import { EventLog } from "@data-import/domain/events/EventLog"
import { Hashing } from "@data-import/domain/requests/Hashing"
import { layerMemory as hashing } from "@data-import/domain/testing/memory/Hashing"
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import {
  begun,
  cancelled,
  endOf,
  finish,
  started,
  taken
} from "@data-import/domain/testing/begunBatches"
import { freshSupplier, noon, noonPlus } from "@data-import/domain/testing/freshNames"
import { importedFrom } from "@data-import/domain/testing/hashedAccounts"
import {
  adding,
  changeAccount,
  creditOf,
  mayStatement
} from "@data-import/domain/testing/importedAccounts"
import { sealAll } from "../testing/auditLog.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const storage = Layer.merge(TestDatabase.deployedWithTeam, hashing)

type It = Vitest.MethodsNonLive<Layer.Success<typeof storage>>

const scheduled = Effect.gen(function* () {
  const ports = {
    accounts: yield* Accounts,
    checks: yield* Checks,
    hashing: yield* Hashing,
    sealed: yield* SealedAuditLog
  }
  return makeScheduledChecks(ports)
})

/** All numbers of a walk, a few at a time. */
const walked = <A extends { readonly subject: bigint }, E>(
  read: (slice: {
    readonly after: bigint
    readonly limit: number
  }) => Effect.Effect<ReadonlyArray<A>, E>
) =>
  Stream.runCollect(
    Stream.paginate(0n, (after: bigint) =>
      Effect.map(read({ after, limit: 2 }), (found) => {
        expect(found.length).toBeLessThanOrEqual(2)
        const last = found.at(-1)
        return [found, last === undefined ? Option.none() : Option.some(last.subject)] as const
      })
    )
  )

const differenceOf = (subject: bigint, detail = "1 and 2"): Difference => ({
  check: "balance",
  subject,
  supplier: "S",
  detail
})

/** Numbers that no account has. */
const far = 10n ** 15n

const all = { walk: null, limit: Infinity } as const

const standing = Effect.gen(function* () {
  const found = yield* (yield* Checks).differences(all)
  return found.map(({ detail, foundAt, subject }) => [
    Number(subject - far),
    detail,
    foundAt.epochMilliseconds - noon.epochMilliseconds
  ])
})

const conclude = Effect.fnUntraced(function* (
  after: bigint,
  through: bigint | null,
  differences: ReadonlyArray<Difference>,
  seconds: number = 0
) {
  const at = noonPlus(seconds)
  const stretch = {
    walk: "accounts",
    after: far + after,
    through: through && far + through
  } as const
  const { found } = yield* (yield* Checks).conclude({ ...stretch, differences, at, moves: false })
  return found.map(({ subject }) => Number(subject - far))
})

/** Moves the walk of the accounts; false if it was not there. */
const move = Effect.fnUntraced(function* (after: bigint, through: bigint | null, seconds: number) {
  const stretch = { walk: "accounts", after, through } as const
  const conclusion = { ...stretch, differences: [], at: noonPlus(seconds), moves: true }
  return (yield* (yield* Checks).conclude(conclusion)).moved
})

const none = ofEachCheck(() => 0)

const shows = (it: It): void => {
  it.effect("returns batches with their counts and those of their lines", () =>
    Effect.gen(function* () {
      const { batches } = yield* Checks
      const worked = yield* started(["a", "b", "c"])
      yield* Effect.gen(function* () {
        const chunk = yield* taken()
        const [line, failed] = chunk.lines
        if (!line || !failed) throw new Error("A line is missing")
        yield* finish(chunk, [endOf("SUCCEEDED")(line), endOf("FAILED")(failed)])
      }).pipe(Effect.scoped)
      const open = yield* begun()
      const shown = Effect.map(walked(batches), (all) =>
        [worked, open].map(({ id }) => {
          const batch = all.find((each) => each.id === id)
          return batch && { stored: batch.stored, counted: batch.counted }
        })
      )
      const zero = { received: 0, succeeded: 0, already: 0, failed: 0, cancelled: 0 }
      const counts = { ...zero, received: 3, succeeded: 1, failed: 1 }
      expect(yield* shown).toEqual([
        { stored: counts, counted: { ...counts, remaining: 1 } },
        { stored: zero, counted: { ...zero, remaining: 0 } }
      ])
      yield* cancelled(worked)
      const ended = { ...counts, cancelled: 1 }
      expect((yield* shown)[0]).toEqual({ stored: ended, counted: { ...ended, remaining: 0 } })
    }).pipe(Effect.scoped)
  )
}

const findsNothing = (it: It): void => {
  it.effect("finds no fault in entries that the ports have written, and counts them", () =>
    Effect.gen(function* () {
      const supplier = yield* freshSupplier
      const payloads = accountPayload({ supplier: supplier.supplier.code })
      const made = yield* Effect.forEach(fc.sample(payloads, 10), (payload) =>
        importedFrom(payload, supplier)
      )
      for (const account of made.slice(0, 10)) {
        yield* changeAccount(account, adding(creditOf("added 1"), creditOf("added 2")))
        yield* changeAccount(account, () => ({ statements: [mayStatement("added")] }))
      }
      yield* (yield* EventLog).assignPositions(10_000)
      yield* sealAll
      const { checked, differences } = yield* (yield* scheduled).checkAll
      expect(differences).toEqual([])
      expect(checked.accounts).toBeGreaterThanOrEqual(made.length)
      expect(checked.audit_log).toBeGreaterThan(0)
    })
  )
}

const keeps = (it: It): void => {
  it.effect("gives a turn once in a pause, and continues where the last one was concluded", () =>
    Effect.gen(function* () {
      const { begin } = yield* Checks
      const pause = Duration.minutes(1)
      const turn = (seconds: number) => begin({ walk: "accounts", at: noonPlus(seconds), pause })
      const given = yield* Effect.all([turn(0), turn(0), turn(0)], { concurrency: 3 })
      expect(given.toSorted()).toEqual([0n, null, null])
      expect(yield* turn(59)).toBeNull()
      // The turn was not concluded.
      expect(yield* turn(60)).toBe(0n)
      expect(yield* move(0n, far, 60)).toBe(true)
      expect(yield* turn(120)).toBe(far)
      yield* conclude(0n, 9n, [])
      expect(yield* turn(180)).toBe(far)
      expect(yield* move(far, null, 180)).toBe(true)
      expect(yield* turn(240)).toBe(0n)
      for (const walk of walks.filter((each) => each !== "accounts")) {
        expect(yield* begin({ walk, at: noon, pause }), walk).toBe(0n)
      }
    })
  )

  it.effect("gives no turn while another one moves on, and does not move a walk back", () =>
    Effect.gen(function* () {
      const { begin } = yield* Checks
      const pause = Duration.minutes(1)
      const turn = (seconds: number) => begin({ walk: "accounts", at: noonPlus(seconds), pause })
      expect(yield* turn(1_000)).toBe(0n)
      expect(yield* move(0n, far, 1_050)).toBe(true)
      expect(yield* turn(1_070)).toBeNull()
      expect(yield* turn(1_110)).toBe(far)
      expect(yield* move(far, far + 9n, 1_120)).toBe(true)
      // The slow instance, whose turn was taken over.
      expect(yield* move(far, far + 5n, 1_130)).toBe(false)
      expect(yield* turn(1_180)).toBe(far + 9n)
      expect(yield* move(far + 9n, null, 1_180)).toBe(true)
    })
  )

  it.effect(
    "gives a turn although one was begun in the future, before the clock was set back",
    () =>
      Effect.gen(function* () {
        const { begin } = yield* Checks
        const pause = Duration.minutes(1)
        const turn = (seconds: number) => begin({ walk: "accounts", at: noonPlus(seconds), pause })
        expect(yield* turn(10_000)).toBe(0n)
        // Clocks of instances differ a little.
        expect(yield* turn(9_941)).toBeNull()
        expect(yield* turn(9_000)).toBe(0n)
      })
  )

  it.effect("keeps a difference and its time until its stretch is concluded without it", () =>
    Effect.gen(function* () {
      const { differences, standing: counts } = yield* Checks
      const ends = [1n, 5n].map((each) => differenceOf(far + each))
      expect(yield* conclude(0n, 5n, ends)).toEqual([1, 5])
      expect(yield* conclude(5n, 9n, [differenceOf(far + 6n)], 1)).toEqual([6])
      const both = [differenceOf(far + 1n, "3 and 4"), differenceOf(far + 2n)]
      expect(yield* conclude(0n, 4n, both, 2)).toEqual([2])
      expect(yield* standing).toEqual([
        [1, "3 and 4", 0],
        [5, "1 and 2", 0],
        [6, "1 and 2", 1_000],
        [2, "1 and 2", 2_000]
      ])
      expect(yield* counts).toEqual({ ...none, balance: 4 })
      const [oldest] = yield* differences({ walk: "accounts", limit: 1 })
      expect(oldest?.subject).toBe(far + 1n)
      expect(yield* differences({ walk: "batches", limit: 1 })).toEqual([])
      yield* conclude(0n, 5n, [])
      expect(yield* standing).toEqual([[6, "1 and 2", 1_000]])
      yield* conclude(5n, null, [])
      expect(yield* standing).toEqual([])
      expect(yield* counts).toEqual(none)
    })
  )
}

layer(storage, { excludeTestServices: true, timeout: "1 minute" })("Checks", (it) => {
  shows(it)
  findsNothing(it)
  keeps(it)
})
