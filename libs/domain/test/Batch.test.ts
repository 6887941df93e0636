import { describe, expect, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import fc from "fast-check"
import * as Batch from "../src/batches/Batch.ts"
import { eventsBetween } from "../src/batches/BatchEvent.ts"
import * as Counts from "../src/batches/Counts.ts"
import { ApiKeyId, OrganisationName } from "../src/suppliers/Organisation.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"

const at = DateTime.makeUnsafe("2026-11-22T10:00:00Z")
const by = { at, apiKey: ApiKeyId.make("key-1") }

const openBatch = (maxFailures: number | null = null): Batch.Batch =>
  Batch.open({
    id: Batch.BatchId.make("1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d"),
    organisation: OrganisationName.make("nordlys"),
    settings: {
      ...Batch.defaultSettings,
      supplier: SupplierCode.make("NORDLYS"),
      operation: "IMPORT",
      operationsTeam: "Migration Team",
      maxFailures
    },
    createdAt: at
  })

const queued = (lines: number, maxFailures?: number): Batch.Batch => {
  const received = Result.getOrThrow(Batch.receive(openBatch(maxFailures), lines))
  return Result.getOrThrow(Batch.start(received, lines, by))
}

type Step = (batch: Batch.Batch) => Batch.Batch

/** Applies the decision; a refused one leaves the batch unchanged. */
const orSame =
  <E>(decide: (batch: Batch.Batch) => Result.Result<Batch.Batch, E>): Step =>
  (batch) =>
    Result.getOrElse(decide(batch), () => batch)

const outcome = fc.constantFrom<Counts.LineOutcome>("SUCCEEDED", "ALREADY", "FAILED", "CANCELLED")
const reason = fc.constantFrom(...Batch.PauseReason.literals)

/** Any request of a caller, and any ends of lines that storage could report. */
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.nat(5).map((lines) => orSame((batch) => Batch.receive(batch, lines))),
  fc.constant(orSame((batch) => Batch.start(batch, batch.counts.received, by))),
  reason.map((each) => orSame((batch) => Batch.pause(batch, each))),
  reason.map((each) => orSame((batch) => Batch.resume(batch, [each], by.apiKey))),
  fc.constant(orSame((batch) => Batch.cancel(batch, at))),
  fc.array(outcome, { minLength: 1, maxLength: 5 }).map((outcomes): Step => (batch) => {
    const ended = outcomes.slice(0, Counts.remaining(batch.counts))
    return batch.started === null || ended.length === 0 ? batch : Batch.end(batch, ended, at)
  })
)

const histories = fc.tuple(fc.option(fc.nat(3)), fc.array(step, { maxLength: 30 }))

const sumOf = (counts: Counts.Counts): number =>
  counts.succeeded + counts.already + counts.failed + counts.cancelled + Counts.remaining(counts)

describe("a batch", () => {
  it("has counts that add up after any history", () => {
    fc.assert(
      fc.property(histories, ([maxFailures, steps]) => {
        let batch = openBatch(maxFailures)
        for (const apply of steps) {
          batch = apply(batch)
          expect(sumOf(batch.counts)).toBe(batch.counts.received)
          expect(Counts.remaining(batch.counts)).toBeGreaterThanOrEqual(0)
        }
      })
    )
  })

  it("never leaves a final state, and finishes exactly when no line remains", () => {
    fc.assert(
      fc.property(histories, ([maxFailures, steps]) => {
        let batch = openBatch(maxFailures)
        for (const apply of steps) {
          const before = Batch.stateOf(batch)
          const wasFinal = Batch.isFinal(batch)
          batch = apply(batch)
          if (wasFinal) expect(Batch.stateOf(batch)).toBe(before)
          const isClosed = batch.started !== null || batch.isCancelled
          const isDone = isClosed && Counts.remaining(batch.counts) === 0
          expect(batch.finishedAt !== null).toBe(isDone)
        }
      })
    )
  })

  it("is never called completed while a line has failed", () => {
    const failed = Batch.end(queued(2), ["SUCCEEDED", "FAILED"], at)
    expect(Batch.stateOf(failed)).toBe("COMPLETED_WITH_FAILURES")
    expect(Batch.stateOf(Batch.end(queued(2), ["SUCCEEDED", "ALREADY"], at))).toBe("COMPLETED")
  })

  it("is unchanged by a second start", () => {
    const later = { at: DateTime.add(at, { hours: 1 }), apiKey: ApiKeyId.make("key-2") }
    expect(Batch.start(queued(3), 3, later)).toEqual(Result.succeed(queued(3)))
  })

  it("continues when the last pause is lifted", () => {
    const paused = ["CALLER", "SUPPLIER"] as const
    const both = paused.reduce<Batch.Batch>(
      (batch, each) => Result.getOrThrow(Batch.pause(batch, each)),
      queued(1)
    )
    const one = Result.getOrThrow(Batch.resume(both, ["CALLER"], by.apiKey))
    expect(Batch.stateOf(one)).toBe("PAUSED")
    expect(Batch.stateOf(Result.getOrThrow(Batch.resume(one, ["SUPPLIER"], by.apiKey)))).toBe(
      "QUEUED"
    )
  })

  it("pauses when too many lines have failed, and counts from zero after it is resumed", () => {
    const within = Batch.end(queued(9, 1), ["FAILED"], at)
    expect([...within.pausedBy]).toEqual([])
    const over = Batch.end(within, ["FAILED"], at)
    expect([...over.pausedBy]).toEqual(["FAILURES"])
    const resumed = Result.getOrThrow(Batch.resume(over, ["CALLER", "FAILURES"], by.apiKey))
    expect([...Batch.end(resumed, ["FAILED"], at).pausedBy]).toEqual([])
    expect([...Batch.end(resumed, ["FAILED", "FAILED"], at).pausedBy]).toEqual(["FAILURES"])
  })

  it("is cancelled at once, and finishes when the lines in hand have ended", () => {
    const cancelled = Result.getOrThrow(Batch.cancel(queued(3), at))
    expect(Batch.stateOf(cancelled)).toBe("CANCELLED")
    expect(cancelled.finishedAt).toBeNull()
    const ended = Batch.end(cancelled, ["SUCCEEDED", "CANCELLED", "CANCELLED"], at)
    expect(Batch.stateOf(ended)).toBe("CANCELLED")
    expect(ended.finishedAt).toEqual(at)
  })

  it("is started without lines, and then filled, if its lines are the pending imports", () => {
    const open = openBatch()
    const source = { ...open, settings: { ...open.settings, pending: {} } }
    expect(Batch.takesLines(source)).toBe(false)
    const started = Result.getOrThrow(Batch.start(source, 0, by))
    expect(Batch.isToBeFilled(started)).toBe(true)
    expect(Batch.stateOf(Batch.filled(started, 0, at))).toBe("COMPLETED")
    const filled = Batch.filled(started, 3, at)
    expect(Batch.stateOf(filled)).toBe("QUEUED")
    expect(Batch.start(filled, 0, by)).toEqual(Result.succeed(filled))
  })
})

describe("the review of a batch", () => {
  const fine: Batch.Circumstances = { supplierStatus: "Ongoing", isKeyValid: true }
  const reviewed = (batch: Batch.Batch, circumstances: Partial<typeof fine>, when = at) =>
    Batch.review(batch, { ...fine, ...circumstances }, when)

  it("changes nothing while nothing has changed", () => {
    const batch = queued(1)
    expect(reviewed(batch, {})).toBe(batch)
  })

  it("pauses while the supplier is not ongoing, but not a validation", () => {
    const paused = reviewed(queued(1), { supplierStatus: "Paused" })
    expect([...paused.pausedBy]).toEqual(["SUPPLIER"])
    expect([...reviewed(paused, {}).pausedBy]).toEqual([])
    const { settings, ...batch } = queued(1)
    const validation = { ...batch, settings: { ...settings, operation: "VALIDATE" as const } }
    expect(reviewed(validation, { supplierStatus: "Paused" })).toBe(validation)
  })

  it("pauses for a revoked key until another one resumes it", () => {
    const paused = reviewed(queued(1), { isKeyValid: false })
    expect([...paused.pausedBy]).toEqual(["KEY"])
    expect(reviewed(paused, {})).toBe(paused)
    const other = ApiKeyId.make("key-2")
    const resumed = Result.getOrThrow(Batch.resume(paused, ["KEY"], other))
    expect(resumed.started?.apiKey).toBe(other)
    expect(Batch.stateOf(resumed)).toBe("QUEUED")
  })

  it("cancels a batch that is open for seven days", () => {
    const almost = DateTime.add(at, { days: 7, seconds: -1 })
    expect(Batch.stateOf(reviewed(openBatch(), {}, almost))).toBe("OPEN")
    expect(Batch.stateOf(reviewed(openBatch(), {}, DateTime.add(at, { days: 7 })))).toBe(
      "CANCELLED"
    )
  })
})

describe("the events of a batch", () => {
  const paused = Result.getOrThrow(Batch.pause(queued(2), "CALLER"))
  const table: ReadonlyArray<readonly [string, Batch.Batch, Batch.Batch, ReadonlyArray<string>]> = [
    ["a start", openBatch(), queued(2), ["started"]],
    ["the start of an empty batch", openBatch(), queued(0), ["started", "completed"]],
    ["a pause", queued(2), paused, ["paused"]],
    ["its end", paused, queued(2), ["started"]],
    ["the end of some lines", queued(2), Batch.end(queued(2), ["FAILED"], at), []],
    ["the end of all", queued(1), Batch.end(queued(1), ["FAILED"], at), ["completed"]],
    ["a cancellation", queued(1), Result.getOrThrow(Batch.cancel(queued(1), at)), ["cancelled"]]
  ]
  it.each(table)("are written for %s", (_name, before, after, expected) => {
    const events = eventsBetween(before, after)
    expect(events).toEqual(expected.map((name) => `data_import.batch.${name}-v1`))
  })

  it("are two when a rehearsal has completed", () => {
    const settings = { ...queued(1).settings, dryRun: true }
    const completed = "data_import.batch.completed-v1"
    const before = { ...queued(1), settings }
    const events = eventsBetween(before, Batch.end(before, ["FAILED"], at))
    expect(events).toEqual([completed, "data_import.rehearsal.completed-v1"])
  })
})
