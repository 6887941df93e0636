/** How the operator sees batches, and stops and releases them. */
import * as Batch from "@data-import/domain/batches/Batch"
import { Batches } from "@data-import/domain/batches/Batches"
import { MemoryStore } from "@data-import/domain/testing/memory/Store"
import {
  begun,
  endOf,
  finish,
  newId,
  started,
  taken
} from "@data-import/domain/testing/begunBatches"
import { noon } from "@data-import/domain/testing/freshNames"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { arrange } from "./commandLine.ts"

/** A batch of two lines, of which one has failed, and the operator on its storage. */
const arrangeFailed = Effect.gen(function* () {
  const arranged = yield* arrange
  const batch = yield* Effect.gen(function* () {
    const batch = yield* started(["a", "b"])
    const chunk = yield* taken()
    const [first] = chunk.lines
    if (first === undefined) throw new Error("No line was taken")
    const problem = { code: "invalid_email", attr: "billing_email", detail: "Not one." } as const
    yield* finish(chunk, [endOf("FAILED", [problem])(first)])
    return batch
  }).pipe(Effect.provideContext(arranged.ports))
  return { ...arranged, batch }
})

const idOf = (batch: { readonly id: Batch.BatchId }) => ({ batch_id: batch.id })

describe("batch list", () => {
  it.effect("lists the unfinished batches of every organisation, the newest first", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      const [first, second] = yield* Effect.all([begun(), started(["a"])]).pipe(
        Effect.provideContext(ports)
      )
      expect(yield* json("batch", "list")).toMatchObject([
        { ...idOf(second), organisation: second.caller.organisation, state: "QUEUED" },
        { ...idOf(first), organisation: first.caller.organisation, state: "OPEN" }
      ])
      const table = yield* done("batch", "list")
      expect(table.split("\n")[0]).toMatch(/^batch_id +organisation +import_supplier .*remaining/)
      expect(table).toContain("a book")
    })
  )

  it.effect("lists those that have ended with --all, and those of one supplier", () =>
    Effect.gen(function* () {
      const { done, json, ports, refused } = yield* arrange
      const [first, second] = yield* Effect.all([begun(), begun()]).pipe(
        Effect.provideContext(ports)
      )
      yield* done("batch", "cancel", first.id)
      expect(yield* json("batch", "list")).toMatchObject([idOf(second)])
      expect(yield* json("batch", "list", "--all")).toMatchObject([idOf(second), idOf(first)])
      const ofFirst = ["batch", "list", first.supplier.code, "--all"]
      expect(yield* json(...ofFirst)).toMatchObject([{ ...idOf(first), state: "CANCELLED" }])
      yield* refused(["batch", "list", "NOBODY"], "There is no supplier NOBODY")
    })
  )
})

describe("batch list of many batches", () => {
  it.effect("has a page, and says how to list the next", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      const first = yield* Effect.provideContext(begun(), ports)
      const more = Effect.replicateEffect(begun({ of: first, limit: 200 }), 101)
      const [second, third] = yield* Effect.provideContext(more, ports)
      const page = (...flags: ReadonlyArray<string>) => json("batch", "list", ...flags)
      expect(yield* page()).toHaveLength(100)
      expect(yield* page("--limit", "1000")).toHaveLength(102)
      const rest = ["--limit", "2", "--after", third?.id ?? ""]
      expect(yield* page(...rest)).toMatchObject([{ batch_id: second?.id }, idOf(first)])
      expect(yield* page("--after", first.id)).toEqual([])
      const next = "There are more: --after "
      expect(yield* done("batch", "list", ...rest)).not.toContain(next)
      const text = yield* done("batch", "list", "--limit", "101")
      expect(text.split("\n").at(-1)).toBe(`${next}${second?.id}`)
    })
  )

  it.effect("continues after a batch that has ended meanwhile", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      const [first, second] = yield* Effect.all([begun(), begun()]).pipe(
        Effect.provideContext(ports)
      )
      yield* done("batch", "cancel", second.id)
      expect(yield* json("batch", "list", "--after", second.id)).toMatchObject([idOf(first)])
    })
  )

  it.effect("is refused with an invalid limit, and after an unknown batch", () =>
    Effect.gen(function* () {
      const { refused } = yield* arrange
      const form = "a whole number from 1 to 1000"
      for (const limit of ["0", "1001", "1.5", "off"]) {
        yield* refused(["batch", "list", "--limit", limit], form)
      }
      const unknown = newId()
      yield* refused(["batch", "list", "--after", unknown], `There is no batch ${unknown}.`)
    })
  )
})

describe("batch show", () => {
  it.effect("shows the counts, what the batch waits for, and its problems", () =>
    Effect.gen(function* () {
      const { batch, done, json } = yield* arrangeFailed
      const shown = yield* json("batch", "show", batch.id)
      expect(shown).toMatchObject({
        ...idOf(batch),
        organisation: batch.caller.organisation,
        state: "RUNNING",
        paused_by: [],
        waiting_for: "WORKER",
        counts: { received: 2, succeeded: 0, already: 0, failed: 1, cancelled: 0, remaining: 1 },
        problems: [
          {
            code: "invalid_email",
            attr: "billing_email",
            lines: 1,
            cleared_lines: 1,
            examples: [{ line: 1, external_account_number: "a" }]
          }
        ]
      })
      const text = yield* done("batch", "show", batch.id)
      expect(text).toContain("waiting for: WORKER")
      expect(text).toContain(
        "counts: 2 lines = 0 succeeded + 0 already + 1 failed + 0 cancelled + 1 remaining"
      )
      expect(text).toMatch(/^1 +1 +invalid_email +billing_email +1$/m)
    })
  )

  it.effect("is in the audit log, because it prints failed lines", () =>
    Effect.gen(function* () {
      const { batch, done, ports } = yield* arrangeFailed
      yield* done("batch", "show", batch.id, "--as", "Ada")
      const { audit } = yield* Effect.provideContext(MemoryStore, ports)
      expect(audit.at(-1)?.entry).toMatchObject({
        action: "read_batch",
        outcome: "read",
        apiKey: "operator:Ada",
        organisation: batch.caller.organisation
      })
    })
  )

  it.effect("is refused for an unknown batch and for a text that is not an id", () =>
    Effect.gen(function* () {
      const { refused } = yield* arrange
      const unknown = newId()
      for (const verb of ["show", "pause", "resume", "cancel"]) {
        yield* refused(["batch", verb, unknown], `There is no batch ${unknown}.`)
        yield* refused(["batch", verb, "first"], "a UUID in lower case")
      }
    })
  )
})

describe("batch pause, resume and cancel", () => {
  it.effect("add and lift the operator's pause only, and are audited as the operator's", () =>
    Effect.gen(function* () {
      const { done, json, ports } = yield* arrange
      const batch = yield* Effect.gen(function* () {
        const batch = yield* started(["a"])
        const { change } = yield* Batches
        yield* change({
          id: batch.id,
          decide: (each) => Batch.pause(each, "CALLER"),
          action: "pause_batch",
          caller: batch.caller,
          at: noon
        })
        return batch
      }).pipe(Effect.provideContext(ports))
      expect(yield* json("batch", "pause", batch.id)).toMatchObject({
        state: "PAUSED",
        paused_by: ["CALLER", "OPERATOR"]
      })
      expect(yield* done("batch", "resume", batch.id)).toBe(
        `The batch ${batch.id} is PAUSED, paused by CALLER.`
      )
      expect(yield* done("batch", "resume", batch.id)).toContain("paused by CALLER")
      expect(yield* done("batch", "cancel", batch.id)).toBe(`The batch ${batch.id} is CANCELLED.`)
      const { audit } = yield* Effect.provideContext(MemoryStore, ports)
      const { organisation } = batch.caller
      expect(audit.map(({ entry }) => entry).slice(-4)).toMatchObject(
        (
          [
            ["pause_batch", "changed"],
            ["resume_batch", "changed"],
            ["resume_batch", "unchanged"],
            ["cancel_batch", "changed"]
          ] as const
        ).map(([action, outcome]) => ({ action, outcome, apiKey: "operator:tester", organisation }))
      )
    })
  )

  it.effect("are refused in a state in which they are not possible", () =>
    Effect.gen(function* () {
      const { done, ports, refused } = yield* arrange
      const open = yield* Effect.provideContext(begun(), ports)
      yield* refused(["batch", "pause", open.id], `Cannot pause ${open.id}: it is OPEN.`)
      yield* refused(["batch", "resume", open.id], `Cannot resume ${open.id}: it is OPEN.`)
      yield* done("batch", "cancel", open.id)
      yield* refused(["batch", "pause", open.id], `Cannot pause ${open.id}: it is CANCELLED.`)
    })
  )
})
