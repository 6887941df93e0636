/**
 * A line of a batch does what the single endpoint does, once, and reports what there was to do.
 * Source: docs/contract/batches.md#results.
 */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type * as Batch from "../src/batches/Batch.ts"
import type { LineInHand } from "../src/batches/LineOperations.ts"
import type { ResultEncoder } from "../src/batches/LineResult.ts"
import { type LineRun, makeLineRunner } from "../src/batches/LineRunner.ts"
import type { ImportKey } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { faultAtStep, type FaultPlan, noFaults } from "../testing/faults.ts"
import { batchOf, lineOf, linePrograms, payload } from "./batchPrograms.ts"
import { begin, demo, key } from "./importPrograms.ts"
import { put } from "../testing/wire.ts"
import { beginImported, onAccount, operations, setStatus, world } from "./postImportPrograms.ts"

type Ended = Extract<LineRun, { readonly _tag: "Ended" }>
type LineConfirm = Effect.Effect<void, StorageUnavailable>

const runner = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  const all = yield* linePrograms(plan)
  return (batch: Batch.Batch, line: LineInHand, confirm: LineConfirm = Effect.void) =>
    makeLineRunner(all, batch, demo, confirm).run(line)
})

const textOf = (run: LineRun): ReadonlyArray<unknown> =>
  run._tag === "Ended"
    ? (JSON.parse(run.end.text) as ReadonlyArray<unknown>)
    : [run.waitingFor, run.postponed.isCounted]

/** Its outcome and its code. */
const outcomeOf = (run: LineRun) => textOf(run).slice(0, 2)

const ofKey = (key: ImportKey) => ({ external_account_number: key.external_account_number })

describe("a line", () => {
  it.effect("reverts the account that it names once, and nothing that began before goes on", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const run = yield* runner()
      const processes = yield* ImportProcesses
      const { account } = Option.getOrThrow(yield* processes.find(key))
      const revert = { reason: "Wrong sign", withAdditions: false }
      const line = { ...ofKey(key), kraken_account_number: account?.number }
      const outcomes = [
        yield* run(batchOf("REVERT", { revert, dryRun: true }), lineOf(line, 1)),
        yield* run(batchOf("REVERT", { revert }), lineOf({ ...line, reason: "x" }, 2)),
        yield* run(batchOf("REVERT", { revert }), lineOf(line, 3)),
        yield* run(batchOf("REVERT", { revert }), lineOf(line, 4)),
        yield* run(batchOf("PROCESS"), lineOf(ofKey(key), 1)),
        yield* run(batchOf("STAGE"), lineOf(payload(), 1))
      ].map(textOf)
      expect(outcomes).toEqual([
        ["SUCCEEDED", null, "Reverted", true],
        ["FAILED", "request_failed_validation", null, false],
        ["SUCCEEDED", null, "Reverted", true],
        ["ALREADY", null, "Reverted", true],
        ["FAILED", "account_reverted", null, false],
        ["FAILED", "account_reverted", null, false]
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("stages a payload once, and replaces it by another one", () =>
    Effect.gen(function* () {
      yield* begin()
      const run = yield* runner()
      const stage = batchOf("STAGE")
      const outcomes = [
        yield* run(stage, lineOf(payload(), 1)),
        yield* run(stage, lineOf(payload(), 2)),
        yield* run(stage, lineOf(payload({ billing_name: "New" }), 3))
      ].map(textOf)
      expect(outcomes).toEqual([
        ["SUCCEEDED", null, "Staged", false],
        ["ALREADY", null, "Staged", false],
        ["SUCCEEDED", null, "Staged", false]
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect.each([
    ["dry_run", { ...ofKey(key), dry_run: true }, "dry_run", "unknown_field"],
    [
      "a team",
      { ...ofKey(key), operations_team_name: "Other" },
      "operations_team_name",
      "unknown_field"
    ],
    ["no object", '"A-1"', "payload", "not_an_object"],
    ["a list", ["A-1"], "payload", "not_an_object"],
    ["null", null, "payload", "null"]
  ] as const)("of PROCESS names an import and nothing else: %s", ([, line, attr, code]) =>
    Effect.gen(function* () {
      yield* begin()
      const run = yield* runner()
      yield* run(batchOf("STAGE"), lineOf(payload()))
      const processed = yield* run(batchOf("PROCESS"), lineOf(line, 2))
      expect(processed).toMatchObject({
        end: { outcome: "FAILED", problems: [{ attr, code }] }
      })
      const { accounts } = yield* MemoryStore
      expect(accounts.size).toBe(0)
    }).pipe(Effect.provide(world))
  )

  it.effect.each(["VALIDATE", "STAGE", "IMPORT"] as const)(
    "of %s is an account, alone or in a body with a cohort",
    (operation) =>
      Effect.gen(function* () {
        yield* begin()
        const run = yield* runner()
        const wrapped = { payload: payload(), cohort: "wave-1" }
        expect(outcomeOf(yield* run(batchOf(operation), lineOf(wrapped, 1)))).toEqual([
          "SUCCEEDED",
          null
        ])
        const bare = lineOf({ payload: "A-1", dry_run: true }, 2)
        expect(yield* run(batchOf(operation), bare)).toMatchObject({
          end: {
            problems: [
              { attr: "payload", code: "not_an_object" },
              { attr: "dry_run", code: "unknown_field" }
            ]
          }
        })
      }).pipe(Effect.provide(world))
  )

  it.effect.each(["STAGE", "IMPORT"] as const)(
    "stores nothing if another worker may have it: %s",
    (operation) =>
      Effect.gen(function* () {
        yield* begin()
        const run = yield* runner()
        const gone = Effect.fail(new StorageUnavailable({ cause: null }))
        const sent = lineOf(payload())
        expect(textOf(yield* run(batchOf(operation), sent, gone))).toEqual(["DATABASE", false])
        const { accounts, idempotencyKeys, imports } = yield* MemoryStore
        expect([accounts.size, imports.size, idempotencyKeys.size]).toEqual([0, 0, 0])
      }).pipe(Effect.provide(world))
  )

  it.effect("adds nothing to an account if another worker may have it", () =>
    Effect.gen(function* () {
      yield* beginImported()
      const run = yield* runner()
      const before = yield* onAccount
      const { import_supplier: _, ...body } = operations.transactions.body
      const batch = batchOf("TRANSACTIONS", { parameters: { check_previously_added: false } })
      const gone = Effect.fail(new StorageUnavailable({ cause: null }))
      expect(textOf(yield* run(batch, lineOf(body), gone))).toEqual(["DATABASE", false])
      expect(yield* onAccount).toEqual(before)
    }).pipe(Effect.provide(world))
  )

  it.effect("predicts in a dry run how an import would end, and stores nothing", () =>
    Effect.gen(function* () {
      yield* begin()
      const run = yield* runner()
      const rehearse = (sent = payload(), settings = {}) =>
        Effect.map(run(batchOf("IMPORT", { dryRun: true, ...settings }), lineOf(sent)), textOf)
      const predicted = ["SUCCEEDED", "dry_run_successful", null, false]
      expect(yield* rehearse()).toEqual(predicted)
      const { imports } = yield* MemoryStore
      expect(imports.size).toBe(0)
      const unknown = ["FAILED", "operations_team_name_does_not_exist", null, false]
      expect(yield* rehearse(payload(), { operationsTeam: "Unknown" })).toEqual(unknown)
      yield* run(batchOf("STAGE"), lineOf(payload(), 1))
      expect(yield* rehearse(payload({ billing_name: "New" }))).toEqual(predicted)
      const importing = batchOf("IMPORT")
      yield* run(importing, lineOf(payload(), 2))
      for (const sent of [payload(), payload({ billing_name: "New" })]) {
        expect(yield* rehearse(sent)).toEqual(textOf(yield* run(importing, lineOf(sent, 3))))
      }
    }).pipe(Effect.provide(world))
  )

  it.effect.each([batchOf("STAGE"), batchOf("IMPORT"), batchOf("IMPORT", { dryRun: true })])(
    "says until when an account with another payload can be reverted: %#",
    (batch) =>
      Effect.gen(function* () {
        yield* beginImported()
        const encoderOf = (): ResultEncoder => (_line, result) => JSON.stringify(result)
        const all = { ...(yield* linePrograms()), encoderOf }
        const sent = lineOf(payload({ billing_name: "New" }))
        const { end } = (yield* makeLineRunner(all, batch, demo, Effect.void).run(sent)) as Ended
        expect(JSON.parse(end.text)).toMatchObject({
          outcome: "FAILED",
          failure: { revertibleUntil: expect.stringMatching(/^20.*Z$/) as string }
        })
      }).pipe(Effect.provide(world))
  )

  it.effect.each([
    ["NOTES", "notes", "Notes", false],
    ["TRANSACTIONS", "transactions", "Transactions", false],
    ["STATEMENTS", "statements", null, false],
    ["PAYMENT_INSTRUCTIONS", "instruction", null, true]
  ] as const)("adds to an account once: %s", ([operation, name, answer, hasNumber]) =>
    Effect.gen(function* () {
      yield* beginImported()
      const run = yield* runner()
      const { import_supplier: _, ...body } = operations[name].body
      const first = yield* run(batchOf(operation), lineOf(body, 1))
      expect(textOf(first)).toEqual(["SUCCEEDED", null, answer, hasNumber])
      const after = yield* onAccount
      expect(textOf(yield* run(batchOf(operation), lineOf(body, 1)))).toEqual(textOf(first))
      expect(textOf(yield* run(batchOf(operation), lineOf(body, 2)))).toEqual([
        "ALREADY",
        null,
        answer,
        hasNumber
      ])
      expect(yield* onAccount).toEqual(after)
    }).pipe(Effect.provide(world))
  )

  it.effect.each(["STAGE", "IMPORT"] as const)(
    "prefers the cohort of a line to that of the batch: %s",
    (operation) =>
      Effect.gen(function* () {
        yield* begin()
        const run = yield* runner()
        const batch = batchOf(operation, { cohort: "of the batch" })
        const { imports } = yield* MemoryStore
        const cohort = () =>
          [...imports.values()].flatMap((each) => [...each.values()]).map((it) => it.cohort)
        yield* run(batch, lineOf({ payload: payload(), cohort: "of the line" }, 1))
        expect(cohort()).toEqual(["of the line"])
        const refused = yield* run(batch, lineOf({ payload: payload(), cohort: "" }, 2))
        expect(outcomeOf(refused)).toEqual(["FAILED", "account_failed_validation"])
        const unknown = yield* run(batch, lineOf({ payload: payload(), wave: 1 }, 3))
        expect(outcomeOf(unknown)).toEqual(["FAILED", "account_failed_validation"])
        expect(cohort()).toEqual(["of the line"])
      }).pipe(Effect.provide(world))
  )

  it.effect.each([
    ["TRANSACTIONS", "transactions.0.note", undefined, ["FAILED", "transaction_differs"]],
    ["TRANSACTIONS", "transactions.0.note", "keep", ["SUCCEEDED", null]],
    ["NOTES", "notes.0.is_pinned", undefined, ["FAILED", "request_failed_validation"]],
    ["NOTES", "notes.0.is_pinned", "keep", ["SUCCEEDED", null]]
  ] as const)(
    "of %s with another %s than what is there changes nothing, on_difference %s",
    ([operation, path, on_difference, end]) =>
      Effect.gen(function* () {
        yield* beginImported()
        const run = yield* runner()
        const name = operation === "NOTES" ? "notes" : "transactions"
        const { import_supplier: _, ...body } = operations[name].body
        yield* run(batchOf(operation), lineOf(body, 1))
        const before = yield* onAccount
        const parameters = on_difference === undefined ? {} : { on_difference }
        const other = put(body, path, path.endsWith("note") ? "Another." : true)
        const line = run(batchOf(operation, { parameters }), lineOf(other, 2))
        expect(outcomeOf(yield* line)).toEqual(end)
        expect(yield* onAccount).toEqual(before)
      }).pipe(Effect.provide(world))
  )

  it.effect("fails alone with the code of the single endpoint", () =>
    Effect.gen(function* () {
      yield* begin()
      const run = yield* runner()
      const failing = {
        "": "parse_error",
        "{": "parse_error",
        "[]": "account_failed_validation",
        '"text"': "account_failed_validation",
        "{}": "account_failed_validation"
      }
      for (const [sent, code] of Object.entries(failing)) {
        expect(outcomeOf(yield* run(batchOf("STAGE"), lineOf(sent)))).toEqual(["FAILED", code])
      }
      const tooLong = { ...lineOf(""), bytes: null }
      expect(outcomeOf(yield* run(batchOf("STAGE"), tooLong))).toEqual([
        "FAILED",
        "payload_too_large"
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("has all its errors as problems, without the indexes of lists", () =>
    Effect.gen(function* () {
      yield* begin()
      const run = yield* runner()
      const sent = { ...payload({ "notes.0.body": "" }), import_supplier: "RIVAL_ENERGY" }
      const ended = yield* run(batchOf("STAGE"), lineOf(sent))
      const problems = ended._tag === "Ended" ? ended.end.problems : []
      expect(problems.map(({ attr, code }) => `${attr} ${code}`)).toEqual([
        "import_supplier invalid",
        "notes.*.body blank"
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("waits for unavailable storage and for a paused supplier", () =>
    Effect.gen(function* () {
      yield* begin()
      const run = yield* runner(faultAtStep(1, { kind: "unavailable", when: "before" }))
      expect(textOf(yield* run(batchOf("STAGE"), lineOf(payload())))).toEqual(["DATABASE", false])
      yield* setStatus("Paused")
      expect(textOf(yield* run(batchOf("STAGE"), lineOf(payload())))).toEqual([null, false])
      yield* setStatus("Ongoing")
      expect(outcomeOf(yield* run(batchOf("STAGE"), lineOf(payload())))).toEqual([
        "SUCCEEDED",
        null
      ])
    }).pipe(Effect.provide(world))
  )
})
