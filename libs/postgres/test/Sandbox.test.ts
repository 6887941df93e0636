import { describe, expect, layer } from "@effect/vitest"
import { BigDecimal, Duration, Effect, Option, Stream } from "effect"
import { makeEventUpkeep } from "@data-import/domain/events/EventUpkeep"
import { Accounts } from "@data-import/domain/accounts/Accounts"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { Batches } from "@data-import/domain/batches/Batches"
import { EventLog } from "@data-import/domain/events/EventLog"
import { IdempotencyKeys } from "@data-import/domain/idempotency/IdempotencyKeys"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { type Deleted, Sandbox } from "@data-import/domain/sandbox/Sandbox"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import {
  Fingerprint,
  IdempotencyKey,
  ReservationToken
} from "@data-import/domain/idempotency/IdempotencyKey"
import {
  begun,
  cancelled,
  endOf,
  finish,
  found,
  started,
  taken
} from "@data-import/domain/testing/begunBatches"
import {
  freshHash,
  freshSupplier,
  hex,
  newAccountFor,
  noon,
  noonPlus,
  sandboxOf
} from "@data-import/domain/testing/freshNames"
import {
  auditEntry,
  claim,
  stageAll,
  stagedContent
} from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { auditFault } from "../testing/auditLog.ts"

type Owner = Effect.Success<typeof freshSupplier>

const freshSandbox = Effect.flatMap(freshSupplier, sandboxOf)

const imported = Effect.fnUntraced(function* ({ caller, keyOf }: Owner, number: string) {
  const imports = yield* ImportProcesses
  const key = keyOf(number)
  yield* imports.stage({
    key,
    ...stagedContent,
    caller,
    at: noon,
    cohort: "wave"
  })
  const { attempt } = yield* claim(key, caller, noon)
  const newAccount = newAccountFor(key, noonPlus(1))
  yield* imports.complete({ key, attempt, newAccount, caller })
  return newAccount.number
})

const failed = Effect.fnUntraced(function* ({ caller, keyOf }: Owner, number: string) {
  const imports = yield* ImportProcesses
  const key = keyOf(number)
  yield* imports.stage({ key, ...stagedContent, caller, at: noon })
  const { attempt } = yield* claim(key, caller, noon)
  const outcome = "account_failed_validation"
  const errors = [{ attr: "x", code: "required" as const }]
  yield* imports.release({ key, attempt, outcome, errors, dryRun: false, caller, at: noon })
})

/** A batch whose one line was refused. */
const refused = Effect.fnUntraced(function* (owner: Owner) {
  const batch = yield* started(["refused"], { of: owner })
  const chunk = yield* taken()
  yield* finish(chunk, chunk.lines.map(endOf("FAILED")))
  return batch
}, Effect.scoped)

const assignAll = Effect.flatMap(
  EventLog,
  (log) => makeEventUpkeep(log, Duration.days(90)).assignAll
)

const reserved = Effect.fnUntraced(function* ({ caller: { organisation } }: Owner) {
  const keys = yield* IdempotencyKeys
  const token = ReservationToken.make(hex(16))
  const key = IdempotencyKey.make(hex(16))
  const request = { organisation, key, fingerprint: Fingerprint.make(freshHash()) }
  const lease = Duration.seconds(60)
  yield* keys.reserve({ request, token, lease, at: noon })
  const recorder = { reservation: { organisation, key, token }, textOf }
  const again = keys.reserve({ request, token: ReservationToken.make(hex(16)), lease, at: noon })
  return { recorder, again, keys }
})

const textOf = function* (answer: unknown) {
  return JSON.stringify(answer)
}

const deleteSlice = ({ caller }: Owner, limit = 100, at = noonPlus(5)) =>
  Effect.flatMap(Sandbox, (sandbox) => sandbox.deleteSlice({ caller, at, limit }))

/** Deletes until nothing is left; returns the slices. */
const deleteAll = Effect.fnUntraced(function* (owner: Owner, limit?: number) {
  const slices: Array<Deleted> = []
  for (;;) {
    const slice = yield* deleteSlice(owner, limit)
    if (slice._tag !== "Deleted") throw new Error(slice._tag)
    slices.push(slice.deleted)
    if (slice.isEmpty) return slices
    expect(slice.hasDeleted).toBe(true)
  }
})

const numbersOf = Effect.fnUntraced(function* ({ supplier }: Owner) {
  const imports = yield* ImportProcesses
  const all = { supplier: supplier.code, kind: "all", after: null, limit: null } as const
  const listed = yield* Stream.runCollect(imports.list(all))
  return listed.map(({ external_account_number }) => external_account_number)
})

const summaryOf = ({ supplier }: Owner, cohort: string | null = null) =>
  Effect.flatMap(SupplierSummaries, (summaries) =>
    summaries.read({ supplier: supplier.code, cohort, at: noonPlus(5) })
  )

const eventsOf = ({ caller: { organisation } }: Owner, after: number | null = null) =>
  Effect.flatMap(EventLog, (log) =>
    log.read({ organisation, after, limit: 100, supplier: null, name: null })
  )

const emptying = (it: TestDatabase.It): void => {
  it.effect("deletes all data of the test organisation, and none of its live one", () =>
    Effect.gen(function* () {
      const live = yield* freshSupplier
      const owner = yield* sandboxOf(live)
      for (const each of [live, owner]) {
        yield* stageAll([each.keyOf("pending")], each.caller)
        yield* failed(each, "failed")
      }
      const number = yield* imported(owner, "imported")
      const kept = yield* imported(live, "imported")
      const batch = yield* refused(owner)
      yield* refused(owner)
      expect((yield* summaryOf(owner)).linesRefused).toBe(1)
      yield* assignAll
      const before = yield* eventsOf(owner)
      yield* failed(owner, "later")
      const eventsOfLive = yield* eventsOf(live)
      const summaryOfLive = yield* summaryOf(live)
      const deleted = yield* deleteAll(owner)
      const sum = (name: keyof Deleted) => deleted.reduce((total, each) => total + each[name], 0)
      expect([sum("imports"), sum("accounts"), sum("batches")]).toEqual([4, 1, 2])
      expect(sum("events")).toBeGreaterThan(5)
      const accounts = yield* Accounts
      expect(yield* numbersOf(owner)).toEqual([])
      expect(Option.isNone(yield* accounts.locate(number))).toBe(true)
      const batches = yield* Batches
      expect(Option.isNone(yield* batches.find(owner.caller.organisation, batch.id))).toBe(true)
      for (const cohort of [null, "wave"]) {
        const { balance, codes, linesRefused, states } = yield* summaryOf(owner, cohort)
        expect([Object.values(states), codes]).toEqual([[0, 0, 0, 0, 0, 0], []])
        expect(linesRefused).toBe(0)
        expect(BigDecimal.isZero(balance)).toBe(true)
      }
      const newest = before._tag === "Page" ? before.nextAfter : 0
      expect(yield* eventsOf(owner, 0)).toEqual({ _tag: "Pruned", oldestAfter: newest })
      expect(yield* eventsOf(owner)).toEqual({ _tag: "Page", events: [], nextAfter: newest })
      expect(yield* numbersOf(live)).toEqual(["failed", "imported", "pending"])
      expect(Option.isSome(yield* accounts.locate(kept))).toBe(true)
      expect(yield* eventsOf(live)).toEqual(eventsOfLive)
      expect(yield* summaryOf(live)).toEqual(summaryOfLive)
    }).pipe(Effect.scoped)
  )

  it.effect("ends the chain of each import, which stays valid and can continue", () =>
    Effect.gen(function* () {
      const owner = yield* freshSandbox
      const { caller, keyOf } = owner
      yield* imported(owner, "a")
      const auditLog = yield* AuditLog
      const before = yield* auditLog.audit(keyOf("a"))
      yield* deleteAll(owner)
      const emptied = auditEntry(caller, noonPlus(5), "empty_sandbox", "emptied")
      expect(yield* auditLog.audit(keyOf("a"))).toEqual([...before, emptied])
      yield* stageAll([keyOf("a")], caller)
      yield* assignAll
      expect(yield* auditLog.audit(keyOf("a"))).toMatchObject([
        ...before,
        emptied,
        { action: "stage", outcome: "created" }
      ])
      expect((yield* eventsOf(owner))._tag).toBe("Page")
      expect((yield* summaryOf(owner)).states).toMatchObject({ PENDING: 1, IMPORTED: 0 })
      expect(yield* auditFault).toBeNull()
    })
  )

  it.effect("deletes in slices, and nothing the second time", () =>
    Effect.gen(function* () {
      const owner = yield* freshSandbox
      const numbers = ["1", "2", "3", "4", "5"]
      yield* stageAll(numbers.map(owner.keyOf), owner.caller)
      yield* assignAll
      const deleted = yield* deleteAll(owner, 2)
      expect(Math.max(...deleted.map(({ imports }) => imports))).toBe(2)
      expect(deleted.reduce((total, { imports }) => total + imports, 0)).toBe(5)
      expect(yield* deleteAll(owner)).toEqual([{ imports: 0, accounts: 0, batches: 0, events: 0 }])
    })
  )
}

const refusals = (it: TestDatabase.It): void => {
  it.effect("is refused for a live organisation, and deletes nothing", () =>
    Effect.gen(function* () {
      const live = yield* freshSupplier
      yield* sandboxOf(live)
      yield* imported(live, "a")
      expect(yield* deleteSlice(live)).toEqual({ _tag: "Live" })
      expect(yield* numbersOf(live)).toEqual(["a"])
    })
  )

  it.effect("is refused while a batch is open or running", () =>
    Effect.gen(function* () {
      const owner = yield* freshSandbox
      yield* stageAll([owner.keyOf("a")], owner.caller)
      for (const beginning of [begun({ of: owner }), started(["b"], { of: owner })]) {
        const batch = yield* beginning
        expect(yield* deleteSlice(owner)).toEqual({ _tag: "BatchesUnfinished" })
        expect(yield* numbersOf(owner)).toEqual(["a"])
        expect((yield* found(batch)).finishedAt).toBeNull()
        yield* cancelled(batch)
      }
      yield* deleteAll(owner)
      expect(yield* numbersOf(owner)).toEqual([])
    }).pipe(Effect.scoped)
  )

  it.effect("keeps an import while an attempt holds it", () =>
    Effect.gen(function* () {
      const owner = yield* freshSandbox
      yield* stageAll([owner.keyOf("a"), owner.keyOf("b")], owner.caller)
      yield* claim(owner.keyOf("a"), owner.caller, noon)
      expect(yield* deleteSlice(owner)).toMatchObject({ deleted: { imports: 1 }, isEmpty: false })
      expect(yield* numbersOf(owner)).toEqual(["a"])
      const waiting = yield* deleteSlice(owner)
      expect(waiting).toMatchObject({ hasDeleted: false, isEmpty: false })
      const afterLease = yield* deleteSlice(owner, 100, noonPlus(60))
      expect(afterLease).toMatchObject({ deleted: { imports: 1 } })
    })
  )
}

const answers = (it: TestDatabase.It): void => {
  const nothing = { imports: 0, accounts: 0, batches: 0, events: 0 }

  it.effect("deletes kept answers, but no key of a running request", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const owner = yield* freshSandbox
      const { caller } = owner
      const earlier = yield* reserved(owner)
      const own = yield* reserved(owner)
      const record = { caller, at: noonPlus(1), deleted: nothing }
      yield* sandbox.recordEmptied({ ...record, recorder: earlier.recorder })
      expect((yield* earlier.again)._tag).toBe("Kept")
      yield* deleteAll(owner)
      expect((yield* earlier.again)._tag).toBe("Reserved")
      expect((yield* own.again)._tag).toBe("InUse")
      yield* sandbox.recordEmptied({ ...record, recorder: own.recorder })
      expect(yield* own.again).toEqual({ _tag: "Kept", answer: JSON.stringify(nothing) })
    })
  )

  it.effect("records that it was emptied for each supplier, unless the reservation is lost", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const auditLog = yield* AuditLog
      const owner = yield* freshSandbox
      const { caller, supplier } = owner
      const { recorder, keys } = yield* reserved(owner)
      yield* keys.release(recorder.reservation)
      const command = { caller, at: noonPlus(1), deleted: { ...nothing, events: 1 } }
      const lost = yield* Effect.flip(sandbox.recordEmptied({ ...command, recorder }))
      expect(lost._tag).toBe("ReservationLost")
      expect(yield* auditLog.ofRequest(caller.requestId)).toEqual([])
      yield* sandbox.recordEmptied({ ...command, recorder: null })
      const recorded = yield* auditLog.ofRequest(caller.requestId)
      expect(recorded.map((entry) => [entry.import_supplier, entry.action])).toEqual([
        [null, "empty_sandbox"],
        [supplier.code, "empty_sandbox"]
      ])
    })
  )

  it.effect("records once an hour that there was nothing to empty", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox
      const auditLog = yield* AuditLog
      const { caller } = yield* freshSandbox
      const recorded = Effect.map(auditLog.ofRequest(caller.requestId), (entries) =>
        entries.map((entry) => [entry.import_supplier, entry.action, entry.outcome])
      )
      const unchanged = [null, "empty_sandbox", "unchanged"]
      const reset = (seconds: number) =>
        sandbox.recordEmptied({ caller, at: noonPlus(seconds), deleted: nothing, recorder: null })
      for (const seconds of [1, 2, 3]) yield* reset(seconds)
      expect(yield* recorded).toEqual([unchanged])
      yield* reset(3_601)
      expect(yield* recorded).toEqual([unchanged, unchanged])
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "Sandbox",
  (it) => {
    describe("deleteSlice", () => {
      emptying(it)
      refusals(it)
    })
    describe("kept answers", () => answers(it))
  }
)
