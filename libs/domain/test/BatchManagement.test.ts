/**
 * Batches are created, started, paused, resumed and cancelled by their own organisation only.
 * Source: docs/contract/batches.md#creating-a-batch, docs/contract/batches.md#states.
 */
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option, Stream } from "effect"
import { BatchManagement, layer as managementLayer } from "../src/batches/BatchManagement.ts"
import { BatchUpload, layer as uploadLayer } from "../src/batches/BatchUpload.ts"
import { BatchLimits } from "../src/batches/BatchLimits.ts"
import { batchLimits, type EndedLine } from "../src/batches/BatchLine.ts"
import type { LineOutcome } from "../src/batches/Counts.ts"
import { Batches } from "../src/batches/Batches.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { layerMemory } from "../testing/memory/Batches.ts"
import type { Failure } from "../src/requests/Failure.ts"
import { sampleTime } from "../testing/samples.ts"
import type { Wire } from "../testing/wire.ts"
import { begin, demo, errorsOf, keyOf, rival, supplierCode, team } from "./importPrograms.ts"
import { world as imports } from "./postImportPrograms.ts"
import { stagedHash } from "../testing/importStates.ts"

const world = Layer.mergeAll(managementLayer, uploadLayer).pipe(
  Layer.provideMerge(Layer.mergeAll(imports, layerMemory))
)

const bodyOf = (values: Wire = {}) => ({
  payload: {
    import_supplier: supplierCode,
    operation: "IMPORT",
    operations_team_name: team,
    ...values
  }
})

const import_supplier = supplierCode

const total = (total_lines: number) => ({ payload: { total_lines } })

/** A batch with two lines. */
const withLines = Effect.gen(function* () {
  yield* begin()
  const management = yield* BatchManagement
  const { batch_id: id } = yield* management.create(demo, bodyOf())
  const upload = yield* BatchUpload
  yield* upload.receive(demo, id, 1, Stream.succeed(new TextEncoder().encode("{}\n{}\n")))
  return { id, management }
})

describe("a batch", () => {
  it.effect("is refused with all errors of its request", () =>
    Effect.gen(function* () {
      yield* begin()
      const management = yield* BatchManagement
      const values = { operation: "STAGE", dry_run: true, max_failures: -1 }
      const refused = yield* Effect.flip(management.create(demo, bodyOf(values)))
      expect(errorsOf(refused).toSorted()).toEqual([
        "dry_run unknown_field",
        "max_failures min_value"
      ])
      const noTeam = yield* Effect.flip(
        management.create(demo, bodyOf({ operations_team_name: "Nobody" }))
      )
      expect(noTeam).toMatchObject({ code: "operations_team_name_does_not_exist" })
    }).pipe(Effect.provide(world))
  )

  it.effect("does not exist for another organisation", () =>
    Effect.gen(function* () {
      const { id, management } = yield* withLines
      const missing: ReadonlyArray<Effect.Effect<unknown, Failure>> = [
        management.find(rival, id),
        management.start(rival, id, total(2)),
        management.pause(rival, id),
        management.resume(rival, id),
        management.cancel(rival, id),
        management.problems(rival, id),
        management.list(rival, supplierCode, { after: null, limit: 1 }),
        management.find(demo, "no id")
      ]
      for (const refused of missing) {
        expect(yield* Effect.flip(refused)).toMatchObject({ code: "not_found" })
      }
    }).pipe(Effect.provide(world))
  )

  it.effect("starts only with the number of its lines, and a second start changes nothing", () =>
    Effect.gen(function* () {
      const { id, management } = yield* withLines
      expect(yield* Effect.flip(management.start(demo, id, total(3)))).toMatchObject({
        code: "batch_line_count_mismatch",
        total: 3,
        received: 2
      })
      const started = yield* management.start(demo, id, total(2))
      expect(started.state).toBe("QUEUED")
      expect(yield* management.start(demo, id, total(2))).toEqual(started)
    }).pipe(Effect.provide(world))
  )

  it.effect("is paused, resumed and cancelled, each twice", () =>
    Effect.gen(function* () {
      const { id, management } = yield* withLines
      expect(yield* Effect.flip(management.pause(demo, id))).toMatchObject({
        code: "batch_state_conflict",
        state: "OPEN"
      })
      yield* management.start(demo, id, total(2))
      const states: Array<string> = []
      for (const change of [management.pause, management.resume, management.cancel]) {
        const once = yield* change(demo, id)
        states.push(once.state)
        expect(yield* change(demo, id)).toEqual(once)
      }
      expect(states).toEqual(["PAUSED", "QUEUED", "CANCELLED"])
      expect(yield* Effect.flip(management.resume(demo, id))).toMatchObject({
        code: "batch_state_conflict",
        state: "CANCELLED"
      })
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused if the organisation has reached the limit of unfinished ones", () =>
    Effect.gen(function* () {
      yield* begin()
      const management = yield* BatchManagement
      for (let made = 0; made < batchLimits.unfinishedBatches; made++) {
        yield* management.create(demo, bodyOf())
      }
      expect(yield* Effect.flip(management.create(demo, bodyOf()))).toMatchObject({
        code: "batch_limit_exceeded",
        of: "batches"
      })
    }).pipe(Effect.provide(world))
  )

  it.effect("takes pending imports up to the limit of lines", () =>
    Effect.gen(function* () {
      yield* begin()
      const { stage } = yield* ImportProcesses
      for (const number of ["c", "a", "b"]) {
        yield* stage({
          key: keyOf(number),
          payload: "{}",
          hash: stagedHash,
          cohort: null,
          caller: demo,
          at: sampleTime
        })
      }
      const management = yield* BatchManagement
      const pending = bodyOf({ operation: "PROCESS", source: "PENDING" })
      const { batch_id: id } = yield* management.create(demo, pending)
      expect(yield* management.start(demo, id, total(0))).toMatchObject({ counts: { received: 2 } })
    }).pipe(
      Effect.provide(Layer.provide(world, Layer.succeed(BatchLimits, { ...batchLimits, lines: 2 })))
    )
  )

  it.effect("is retried with the settings of the old one, except those that are sent", () =>
    Effect.gen(function* () {
      const { management, old } = yield* endedBatch
      const retry = { operation: "STAGE", retry_of: old }
      const same = yield* management.create(demo, { payload: { import_supplier, ...retry } })
      expect(same).toMatchObject({
        retry_of: old,
        cohort: "wave",
        counts: { received: 1 },
        lines_left_out: 0
      })
      const other = { import_supplier, ...retry, cohort: "next" }
      expect(yield* management.create(demo, { payload: other })).toMatchObject({ cohort: "next" })
      const upload = yield* BatchUpload
      const sent = upload.receive(demo, same.batch_id, 2, Stream.empty)
      expect(yield* Effect.flip(sent)).toMatchObject({ code: "batch_state_conflict" })
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused as a retry of another operation, an unfinished or an unknown batch", () =>
    Effect.gen(function* () {
      const { management, old } = yield* endedBatch
      const open = yield* management.create(demo, bodyOf())
      const retryOf = (values: Wire) =>
        Effect.flip(
          management.create(demo, { payload: { import_supplier, operation: "STAGE", ...values } })
        )
      expect(errorsOf(yield* retryOf({ operation: "VALIDATE", retry_of: old }))).toEqual([
        "operation invalid"
      ])
      expect(yield* retryOf({ retry_of: open.batch_id })).toMatchObject({
        code: "batch_state_conflict",
        state: "OPEN"
      })
      const unknown = "1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d"
      expect(yield* retryOf({ retry_of: unknown })).toMatchObject({ code: "not_found" })
    }).pipe(Effect.provide(world))
  )

  it.effect("is refused as a revert of what a batch has not created, creates, or is unknown", () =>
    Effect.gen(function* () {
      const { management, old } = yield* endedBatch
      const { batch_id: open } = yield* management.create(demo, bodyOf({ operation: "PROCESS" }))
      const reverting = { ...demo, scopes: [...demo.scopes, "import:revert" as const] }
      const refusalOf = (batch_id: string) => {
        const filter = { batch_id }
        const body = { operation: "REVERT", reason: "Wrong", source: "IMPORTED", filter }
        return Effect.flip(management.create(reverting, { payload: { import_supplier, ...body } }))
      }
      expect(errorsOf(yield* refusalOf(old))).toEqual(["filter.batch_id invalid"])
      expect(yield* refusalOf(open)).toMatchObject({ code: "batch_state_conflict", state: "OPEN" })
      const unknown = "1f0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d"
      expect(yield* refusalOf(unknown)).toMatchObject({ code: "not_found" })
    }).pipe(Effect.provide(world))
  )
})

/** A batch that has ended, with one of its two lines failed. */
const endedBatch = Effect.gen(function* () {
  yield* begin()
  const management = yield* BatchManagement
  const settings = { operation: "STAGE", cohort: "wave" }
  const { batch_id: old } = yield* management.create(demo, {
    payload: { import_supplier, ...settings }
  })
  const upload = yield* BatchUpload
  yield* upload.receive(demo, old, 1, Stream.succeed(new TextEncoder().encode("{}\n{}\n")))
  yield* management.start(demo, old, total(2))
  const batches = yield* Batches
  const at = yield* DateTime.now
  const chunk = Option.getOrThrow(yield* batches.take({ last: null, at }))
  const problem = { code: "required", attr: "customers", detail: "Required." } as const
  const endOf = (
    line: number,
    outcome: LineOutcome,
    problems: EndedLine["problems"]
  ): EndedLine => ({
    line,
    externalAccountNumber: null,
    outcome,
    text: "{}",
    problems
  })
  yield* chunk.finish({
    ended: [endOf(1, "SUCCEEDED", []), endOf(2, "FAILED", [problem])],
    imports: [],
    reverts: [],
    caller: demo,
    postponed: [],
    waitingFor: null,
    waits: 0,
    readyAt: at,
    at
  })
  return { management, old }
})
