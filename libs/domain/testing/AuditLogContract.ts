/**
 * The contract of `AuditLog`, as tests that every adapter runs. Entries that other ports write are
 * part of their own contracts; this one covers refusals, and reading all entries.
 */
import { describe, expect, layer as withLayer, type Vitest } from "@effect/vitest"
import { DateTime, Effect, type Layer } from "effect"
import {
  auditActions,
  AuditLog,
  moreRefused,
  refusalsInWindow,
  refusalWindow
} from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import {
  callerOf,
  expectSame,
  freshSupplier,
  freshSupplierCode,
  noon,
  noonPlus
} from "./freshNames.ts"
import { arrange, auditEntry, claim, tracesOf, stagedHash } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const recording = (it: It): void => {
  it.effect("knows every action", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, key } = yield* arrange("none")
      const outcome = "permission_denied"
      for (const action of auditActions) {
        yield* auditLog.recordRefusal({ key, action, outcome, caller, at: noon })
      }
      const entries = yield* auditLog.ofRequest(caller.requestId)
      expect(entries.map(({ action }) => action)).toEqual(auditActions)
    })
  )

  it.effect("records a refusal without an existing import or supplier", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const keys = [
        keyOf("never staged"),
        { ...keyOf("of nobody"), import_supplier: freshSupplierCode() },
        { ...keyOf("\u{1F600}'\"\\%_".repeat(16)), import_supplier: freshSupplierCode() }
      ]
      const refusal = { action: "stage", outcome: "account_failed_validation", caller } as const
      for (const key of keys) yield* auditLog.recordRefusal({ ...refusal, key, at: noon })
      for (const key of keys) {
        const audit = [auditEntry(caller, noon, "stage", "account_failed_validation")]
        expectSame(yield* tracesOf(key), { process: null, attempts: [], audit, events: [] })
      }
    })
  )

  it.effect("records an entry without a usable key, and lists it under no import", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, key } = yield* arrange("pending")
      const before = yield* tracesOf(key)
      const { external_account_number, import_supplier } = key
      const refusal = { action: "process", outcome: "parse_error", caller, at: noon } as const
      for (const named of [
        { import_supplier: null, external_account_number: null },
        { import_supplier, external_account_number: null },
        { import_supplier: null, external_account_number }
      ]) {
        yield* auditLog.recordRefusal({ ...refusal, key: named })
      }
      expectSame(yield* tracesOf(key), before)
    })
  )
}

const recordingWhom = (it: It): void => {
  it.effect("records the caller even if the supplier belongs to another organisation", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { key } = yield* arrange("pending")
      const { supplier } = yield* freshSupplier
      const stranger = callerOf(supplier.organisation)
      const outcome = "account_failed_validation"
      yield* auditLog.recordRefusal({ key, action: "stage", outcome, caller: stranger, at: noon })
      const audit = yield* auditLog.audit(key)
      expectSame(audit.at(-1), auditEntry(stranger, noon, "stage", outcome))
    })
  )

  it.effect("keeps every one of several concurrent refusals of different imports, once", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const refusal = { action: "stage", outcome: "error", caller, at: noon } as const
      const many = Array.from({ length: 40 }, (_, index) =>
        auditLog.recordRefusal({ ...refusal, key: keyOf(`n${index % 10}`) })
      )
      yield* Effect.all(many, { concurrency: "unbounded" })
      const entries = yield* auditLog.ofRequest(caller.requestId)
      expect(entries.map((entry) => entry.external_account_number).toSorted()).toEqual(
        Array.from({ length: 10 }, (_, index) => `n${index}`)
      )
    })
  )
}

/** When the window of refusals from noon has ended. */
const nextWindow = DateTime.addDuration(noon, refusalWindow)

const outcomesOf = (caller: Caller) =>
  Effect.flatMap(AuditLog, (auditLog) =>
    Effect.map(auditLog.ofRequest(caller.requestId), (entries) =>
      entries.map(({ outcome }) => outcome)
    )
  )

const bounding = (it: It): void => {
  it.effect("records a repeated refusal once in the window of its key", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const refusal = { key: keyOf("a"), action: "stage", outcome: "error", caller } as const
      const lastOfWindow = DateTime.subtract(nextWindow, { milliseconds: 1 })
      for (const at of [noon, noonPlus(5), lastOfWindow, nextWindow, nextWindow, noon]) {
        yield* auditLog.recordRefusal({ ...refusal, at })
      }
      expectSame(
        yield* auditLog.audit(keyOf("a")),
        [noon, nextWindow].map((at) => auditEntry(caller, at, "stage", "error"))
      )
    })
  )

  it.effect("records refusals that differ in key, action, code, supplier or number", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const refusal = { key: keyOf("a"), action: "stage", outcome: "error", caller } as const
      const { import_supplier } = keyOf("a")
      const different = [
        refusal,
        { ...refusal, caller: { ...callerOf(caller.organisation), requestId: caller.requestId } },
        { ...refusal, action: "process" },
        { ...refusal, outcome: "throttled" },
        { ...refusal, key: { import_supplier, external_account_number: null } },
        { ...refusal, key: { import_supplier: null, external_account_number: null } },
        { ...refusal, key: keyOf("b") }
      ] as const
      for (const each of [...different, ...different]) {
        yield* auditLog.recordRefusal({ ...each, at: noon })
      }
      expect(yield* outcomesOf(caller)).toHaveLength(different.length)
    })
  )

  it.effect("records a bounded number in a window, and then that there were more", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const { caller, keyOf } = yield* freshSupplier
      const refusal = { action: "stage", outcome: "error", caller } as const
      const refuse = (number: string, at: DateTime.Utc) =>
        auditLog.recordRefusal({ ...refusal, key: keyOf(number), at })
      const numbers = Array.from({ length: refusalsInWindow + 50 }, (_, index) => `n${index}`)
      const all = numbers.map((number) => refuse(number, noon))
      yield* Effect.all(all, { concurrency: 8, discard: true })
      yield* refuse("n0", noonPlus(1))
      const entries = yield* auditLog.ofRequest(caller.requestId)
      expect(entries).toHaveLength(refusalsInWindow + 1)
      expect(entries.filter(({ outcome }) => outcome !== "error")).toMatchObject([
        {
          action: "stage",
          outcome: moreRefused,
          import_supplier: null,
          external_account_number: null
        }
      ])
      yield* refuse("n0", nextWindow)
      expect(yield* outcomesOf(caller)).toHaveLength(refusalsInWindow + 2)
    })
  )

  it.effect("records granted writes however much was refused", () =>
    Effect.gen(function* () {
      const auditLog = yield* AuditLog
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("a")
      const refusal = { key, action: "stage", outcome: "error", caller, at: noon } as const
      for (let index = 0; index < 3; index++) {
        yield* auditLog.recordRefusal(refusal)
        yield* imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
      }
      expect(yield* outcomesOf(caller)).toEqual(["error", "created", "replaced", "replaced"])
    })
  )
}

const reading = (it: It): void => {
  it.effect("list entries in the order of writing, even with equal times", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const auditLog = yield* AuditLog
      const { account, caller, key } = yield* arrange("none")
      const newAccount = { ...account, createdAt: noon }
      const refusal = { key, action: "process", outcome: "throttled", caller, at: noon } as const
      yield* imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
      yield* auditLog.recordRefusal(refusal)
      yield* imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
      const { attempt: first } = yield* claim(key, caller, noon, { dryRun: true })
      const end = { outcome: "dry_run_successful", errors: [], dryRun: true } as const
      yield* imports.release({ key, attempt: first, caller, at: noon, ...end })
      const { attempt: second } = yield* claim(key, caller, noon)
      yield* imports.complete({ key, attempt: second, newAccount, caller })
      const { attempts, audit, events } = yield* tracesOf(key)
      expect(audit.map(({ outcome }) => outcome)).toStrictEqual([
        "created",
        "throttled",
        "replaced",
        "dry_run_successful",
        "created"
      ])
      expect(events.map(({ name }) => name)).toStrictEqual([
        "data_import.import_process.staged-v1",
        "data_import.import_process.staged-v1",
        "data_import.import_process.dry_run_complete-v1",
        "data_import.import_process.complete-v1"
      ])
      expect(attempts.map(({ id }) => id)).toStrictEqual([first, second])
    })
  )

  it.effect("list only the entries of the import", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const other = yield* freshSupplier
      const command = { payload: "{}", hash: stagedHash, caller, at: noon }
      yield* imports.stage({ ...command, key: keyOf("a") })
      const before = yield* tracesOf(keyOf("a"))
      yield* imports.stage({ ...command, key: keyOf("A") })
      yield* claim(keyOf("A"), caller, noon)
      yield* imports.stage({ ...command, key: other.keyOf("a"), caller: other.caller })
      expectSame(yield* tracesOf(keyOf("a")), before)
    })
  )
}

/** Declares the suite under `name`; the layer is built once for all of it. */
export const auditLogContract = <E>(
  name: string,
  layer: Layer.Layer<ImportProcesses | AuditLog | Configuration, E>
): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `AuditLog, ${name}`,
    (it) => {
      describe("recordRefusal", () => {
        recording(it)
        recordingWhom(it)
        bounding(it)
      })
      describe("attempts, audit and events", () => reading(it))
    }
  )
