/** What every storage of batches must do before workers run lines. The store may be shared. */
import { describe, expect, type Vitest, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option, Result } from "effect"
import * as Batch from "../src/batches/Batch.ts"
import { ApiKeys } from "../src/access/ApiKeys.ts"
import { serviceFor } from "../src/access/Operator.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import { type Appending, Batches } from "../src/batches/Batches.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { type IdempotencyKeys, ReservationLost } from "../src/idempotency/IdempotencyKeys.ts"
import type { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import {
  append,
  begun,
  cancelled,
  createdIn,
  createFor,
  found,
  linesOf,
  newId,
  settingsOf,
  start,
  started
} from "./begunBatches.ts"
import { expectSame, freshApiKey, freshSupplier, noon, noonPlus } from "./freshNames.ts"
import { batchSources } from "./BatchSourcesContract.ts"
import { freshKeyed, keepAs, reserve } from "./keyedRequests.ts"

type Ports = ApiKeys | AuditLog | Batches | Configuration | IdempotencyKeys | ImportProcesses
type It = Vitest.MethodsNonLive<Ports>

const creating = (it: It): void => {
  it.effect("keeps the settings of a batch, and shows it to its organisation only", () =>
    Effect.gen(function* () {
      const batch = yield* begun()
      const batches = yield* Batches
      const stored = yield* found(batch)
      expectSame(stored.settings, settingsOf(batch.supplier))
      expect(Batch.stateOf(stored)).toBe("OPEN")
      const { caller: stranger } = yield* freshSupplier
      expect(yield* batches.find(stranger.organisation, batch.id)).toEqual(Option.none())
    })
  )

  it.effect("refuses a batch beyond the organisation's limit of unfinished ones", () =>
    Effect.gen(function* () {
      const first = yield* begun()
      const refused = { _tag: "LimitExceeded", of: "batches" } as const
      expectSame(yield* createFor(first, { limit: 1 }), refused)
      yield* cancelled(first)
      const second = yield* createFor(first, { limit: 1 })
      yield* cancelled({ ...first, id: createdIn(second).id })
    })
  )

  it.effect("lists the batches of a supplier, newest first and page by page", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const first = yield* begun()
      const second = yield* begun({ of: first })
      const third = yield* begun({ of: first })
      const listed = (after: Batch.BatchId | null, limit: number) =>
        Effect.map(batches.list({ supplier: first.supplier.code, after, limit }), (page) =>
          page.map(({ id }) => id)
        )
      expect(yield* listed(null, 2)).toEqual([third.id, second.id])
      expect(yield* listed(second.id, 2)).toEqual([first.id])
      expect(yield* listed(newId(), 2)).toEqual([])
    })
  )
}

const overseeing = (it: It): void => {
  it.effect("lists the batches of all suppliers, optionally without those that have ended", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const first = yield* begun()
      const second = yield* begun()
      const ids = [first.id, second.id]
      const listed = (isUnfinished: boolean) =>
        Effect.map(batches.list({ supplier: null, isUnfinished, after: null, limit: 2 }), (page) =>
          page.map(({ id }) => id)
        )
      expect(yield* listed(false)).toEqual(ids.toReversed())
      expect(yield* listed(true)).toEqual(ids.toReversed())
      yield* cancelled(second)
      expect(yield* listed(false)).toEqual(ids.toReversed())
      expect((yield* listed(true))[0]).toBe(first.id)
      const third = yield* begun()
      yield* cancelled(third)
      const after = { supplier: null, isUnfinished: true, after: third.id, limit: 1 }
      expect((yield* batches.list(after)).map(({ id }) => id)).toEqual([first.id])
      const ofSecond = { supplier: second.supplier.code, isUnfinished: true, after: null, limit: 2 }
      expect(yield* batches.list(ofSecond)).toEqual([])
    })
  )
}

const appending = (it: It): void => {
  const table: ReadonlyArray<readonly [string, number, ReadonlyArray<string>, Appending]> = [
    ["the lines that follow", 3, ["c"], { _tag: "Appended", received: 3 }],
    ["the same lines again", 1, ["a", "b"], { _tag: "Appended", received: 2 }],
    ["lines that overlap and go on", 2, ["b", "c", "d"], { _tag: "Appended", received: 4 }],
    ["a line that differs", 1, ["a", "x", "c"], { _tag: "Differs", line: 2 }],
    ["lines behind a gap", 4, ["d"], { _tag: "Gap", received: 2 }]
  ]
  it.effect.each(table)("answers %s", ([, from, numbers, expected]) =>
    Effect.gen(function* () {
      const batch = yield* begun()
      yield* append(batch, linesOf("a", "b"))
      expectSame(yield* append(batch, linesOf(...numbers), { from }), expected)
      const received = expected._tag === "Appended" ? expected.received : 2
      expect((yield* found(batch)).counts.received).toBe(received)
    })
  )

  it.effect("stores nothing of an upload that a later one has superseded", () =>
    Effect.gen(function* () {
      const batch = yield* begun()
      const batches = yield* Batches
      const earlier = yield* batches.beginUpload(batch.id)
      yield* append(batch, linesOf("a"))
      expectSame(yield* append(batch, linesOf("a", "b"), { upload: earlier }), {
        _tag: "Superseded"
      })
      expect((yield* found(batch)).counts.received).toBe(1)
    })
  )

  it.effect("takes no line once the batch is started", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a"])
      const { _tag } = yield* append(batch, linesOf("b"), { from: 2 })
      expect(_tag).toBe("NotOpen")
    })
  )
}

const changing = (it: It): void => {
  it.effect("keeps the response with the change, and frees the key if nothing changes", () =>
    Effect.gen(function* () {
      const batch = yield* begun()
      const { organisation } = batch.caller
      const first = freshKeyed(organisation)
      const { reservation } = yield* reserve(first)
      yield* start(batch, 0, keepAs(reservation, "started"))
      expectSame((yield* reserve(first)).reserving, { _tag: "Kept", answer: "started" })
      const second = freshKeyed(organisation)
      const again = yield* reserve(second)
      yield* start(batch, 0, keepAs(again.reservation, "started"))
      expectSame((yield* reserve(second)).reserving, { _tag: "Reserved" })
    })
  )

  it.effect("keeps the response with the creation, and creates nothing without the key", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const { caller, supplier } = yield* freshSupplier
      const request = freshKeyed(caller.organisation)
      const { reservation } = yield* reserve(request)
      const recorder = keepAs(reservation, "created")
      yield* begun({ of: { caller, supplier }, recorder })
      expectSame((yield* reserve(request)).reserving, { _tag: "Kept", answer: "created" })
      const lost = yield* Effect.flip(createFor({ caller, supplier }, { recorder }))
      expect(lost).toBeInstanceOf(ReservationLost)
      const page = { supplier: supplier.code, after: null, limit: 9 }
      expect((yield* batches.list(page)).length).toBe(1)
    })
  )

  it.effect("returns the existing batch with the id, and stores nothing", () =>
    Effect.gen(function* () {
      const batches = yield* Batches
      const owner = yield* freshSupplier
      const batch = yield* begun({ of: owner, operation: "PROCESS", pending: {} })
      const settings = settingsOf(owner.supplier)
      const command = { id: batch.id, settings, limit: 1, caller: owner.caller, at: noonPlus(1) }
      const again = createdIn(yield* batches.create(command))
      expectSame(again, yield* found(batch))
      const page = { supplier: owner.supplier.code, after: null, limit: 9 }
      expect((yield* batches.list(page)).length).toBe(1)
    })
  )
}

const reviewing = (it: It): void => {
  const seen = ({ id }: { readonly id: Batch.BatchId }) =>
    Effect.gen(function* () {
      const batches = yield* Batches
      let circumstances: Batch.Circumstances | null = null
      const decide = (batch: Batch.Batch, present: Batch.Circumstances) => {
        if (batch.id === id) circumstances = present
        return batch
      }
      yield* batches.review({ decide, at: noon })
      return circumstances
    })

  it.effect("reports the state of supplier and key", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const configuration = yield* Configuration
      const owner = yield* freshSupplier
      const { organisation } = owner.caller
      const key = freshApiKey(organisation, { id: owner.caller.apiKey })
      yield* keys.issue(key)
      const batch = yield* begun({ of: owner })
      yield* append(batch, linesOf("a"))
      yield* start(batch, 1)
      expectSame(yield* seen(batch), { supplierStatus: "Ongoing", isKeyValid: true })
      yield* keys.revoke(key.id, noon)
      yield* configuration.changeSupplierStatus(owner.supplier.code, () =>
        Result.succeed("Paused" as const)
      )
      expectSame(yield* seen(batch), { supplierStatus: "Paused", isKeyValid: false })
    })
  )

  it.effect("stores the decision, and who made it", () =>
    Effect.gen(function* () {
      const batch = yield* begun()
      const batches = yield* Batches
      yield* append(batch, linesOf("a"))
      yield* start(batch, 1)
      const reviewed = (decision: (each: Batch.Batch) => Result.Result<Batch.Batch, unknown>) =>
        batches.review({
          decide: (each) =>
            each.id === batch.id ? Result.getOrElse(decision(each), () => each) : each,
          at: noon
        })
      const { apiKey } = batch.caller
      yield* reviewed((each) => Batch.pause(each, "SUPPLIER"))
      yield* reviewed((each) => Batch.resume(each, ["SUPPLIER"], apiKey))
      yield* reviewed((each) => Batch.cancel(each, noon))
      expect(Batch.stateOf(yield* found(batch))).toBe("CANCELLED")
      const { ofRequest } = yield* AuditLog
      const entries = yield* ofRequest(serviceFor({ ...batch.caller, id: batch.id }).requestId)
      expect(
        entries.map(({ action, apiKey, outcome }) => `${apiKey} ${action} ${outcome}`)
      ).toEqual([
        "service pause_batch SUPPLIER",
        "service resume_batch SUPPLIER",
        "service cancel_batch FORGOTTEN"
      ])
    })
  )

  it.effect("takes no line from a revoked key", () =>
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const owner = yield* freshSupplier
      const key = freshApiKey(owner.caller.organisation, { id: owner.caller.apiKey })
      yield* keys.issue(key)
      const batch = yield* begun({ of: owner })
      yield* keys.revoke(key.id, noon)
      expectSame(yield* append(batch, linesOf("a")), { _tag: "KeyInvalid" })
    })
  )

  it.effect("sums up the started batches, and returns the oldest waiting one", () =>
    Effect.gen(function* () {
      const { overview } = yield* Batches
      const before = yield* overview
      yield* append(yield* begun(), linesOf("a"))
      const batch = yield* started(["a", "b"])
      const queued = yield* overview
      expect(queued.counts.received).toBe(before.counts.received + 2)
      expect(queued.queuedSince).toEqual(noon)
      expect(queued.unfinishedSince).toEqual(noon)
      yield* cancelled(batch)
      const after = yield* overview
      expect(after.counts.cancelled).toBe(before.counts.cancelled + 2)
      expect(after.queuedSince).toBeNull()
      expect(after.unfinishedSince).toBeNull()
    })
  )

  it.effect("counts the workers that were seen recently", () =>
    Effect.gen(function* () {
      const { reportWorker, workersAlive } = yield* Batches
      const later = noonPlus(1_000_000)
      yield* reportWorker({ id: crypto.randomUUID(), at: noon })
      yield* reportWorker({ id: crypto.randomUUID(), at: later })
      expect(yield* workersAlive(later)).toBe(1)
      expect(yield* workersAlive(noonPlus(1_000_001))).toBe(0)
    })
  )
}

/** Runs the suite on the ports of the layer. */
export const batchesContract = (name: string, ports: Layer.Layer<Ports>): void => {
  withLayer(ports)(`Batches, ${name}`, (it) => {
    describe("create", () => creating(it))
    describe("findOfAny and list", () => overseeing(it))
    describe("append", () => appending(it))
    describe("change", () => changing(it))
    describe("sources", () => batchSources(it))
    describe("review", () => reviewing(it))
  })
}
