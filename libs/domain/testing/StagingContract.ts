/** Staging: one part of the contract of `ImportProcesses`. */
import type { Vitest } from "@effect/vitest"
import { expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { PayloadHash, stateAt } from "../src/imports/ImportProcess.ts"
import { expectSame, freshSupplier, noon, noonPlus, times } from "./freshNames.ts"
import { arrange, auditEntry, claim, tracesOf, stagedHash } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const payload = `{"staged":"anew"}`

const storing = (it: It): void => {
  it.effect.each(["none", "pending", "lease expired"] as const)(
    "stores a payload, which the next attempt gets, if the import is: %s",
    (state) =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { caller, key, now } = yield* arrange(state)
        const before = yield* tracesOf(key)
        yield* imports.stage({ key, payload, hash: stagedHash, caller, at: now })
        const after = yield* tracesOf(key)
        const { erased, lease, skipped } = after.process ?? {}
        expect({ erased, lease, skipped }).toEqual({ erased: false, lease: null, skipped: false })
        const outcome = state === "none" ? "created" : "replaced"
        expectSame(after.audit, [...before.audit, auditEntry(caller, now, "stage", outcome)])
        expectSame(after.events, [
          ...before.events,
          { at: now, name: "data_import.import_process.staged-v1", codes: [] }
        ])
        expectSame((yield* claim(key, caller, now)).claim, { _tag: "Claimed", payload })
      })
  )

  it.effect("closes an attempt with an expired lease, which then holds nothing", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { account, attempt, caller, key, now } = yield* arrange("lease expired")
      yield* imports.stage({ key, payload, hash: stagedHash, caller, at: now })
      const staged = yield* tracesOf(key)
      expectSame(staged.attempts, [
        {
          id: attempt,
          dryRun: false,
          startedAt: noon,
          endedAt: now,
          outcome: "lease_expired",
          errors: []
        }
      ])
      const command = { key, attempt, caller }
      expectSame(yield* imports.complete({ ...command, newAccount: account }), {
        _tag: "LeaseLost"
      })
      expectSame(yield* imports.renew({ key, attempt, at: now, until: noonPlus(600) }), false)
      yield* imports.release({ ...command, outcome: "error", errors: [], dryRun: false, at: now })
      expectSame(yield* tracesOf(key), staged, "the attempt that lost the import changes nothing")
    })
  )
}

const whatIsKept = (it: It): void => {
  it.effect("stores the text unchanged, to the last digit and space", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("pending")
      const text = `{ "b":1.10,"a":"Ærø \u{1F600} \\u0041","a2":[],  "n":1e2 }`
      yield* imports.stage({ key, payload: text, hash: stagedHash, caller, at: noon })
      expectSame((yield* claim(key, caller, noon)).claim, { _tag: "Claimed", payload: text })
    })
  )

  it.effect("compares suppliers and numbers exactly", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const one = yield* freshSupplier
      const other = yield* freshSupplier
      const numbers = [
        "a1",
        "A1",
        "a1.",
        "à1",
        "a\u03001",
        "a/1%27'\"\\",
        "\u{1F600}",
        "x".repeat(128)
      ]
      const keys = [...numbers.map(one.keyOf), other.keyOf("a1")]
      for (const key of keys) {
        const { caller } = key.import_supplier === one.supplier.code ? one : other
        const answer = yield* imports.stage({
          key,
          payload: JSON.stringify(key),
          hash: stagedHash,
          caller,
          at: noon
        })
        expectSame(
          answer,
          { _tag: "Created" },
          `${key.external_account_number} is a key of its own`
        )
      }
      for (const key of keys) {
        const { claim: claimed } = yield* claim(key, one.caller, noon)
        expectSame(claimed, { _tag: "Claimed", payload: JSON.stringify(key) })
      }
    })
  )
}

const hash = PayloadHash.make("a".repeat(64))

const createOnly = (it: It): void => {
  it.effect("with createOnly replaces nothing, and returns the hash of what is staged", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key, now: at } = yield* arrange("none")
      const command = { key, createOnly: true, caller, at }
      const answers = yield* Effect.all(
        times(8, { ...command, payload, hash }).map((each) => imports.stage(each)),
        { concurrency: "unbounded" }
      )
      const tags = answers.map(({ _tag }) => _tag)
      expect(tags.toSorted()).toStrictEqual(["Created", ...times(7, "Present")])
      expect((yield* tracesOf(key)).events).toHaveLength(1)
      const again = yield* imports.stage({ ...command, payload: "{}", hash: stagedHash })
      expectSame(again, { _tag: "Present", hash })
      expectSame((yield* claim(key, caller, at)).claim, { _tag: "Claimed", payload })
    })
  )
}

const atOnce = (it: It): void => {
  it.effect("answers Created to exactly one of several concurrent first stagings", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("none")
      const answers = yield* Effect.forEach(
        ["one", "two", "three", "four", "five", "six", "seven", "eight"],
        (text) =>
          imports.stage({
            key,
            payload: JSON.stringify({ text }),
            hash: stagedHash,
            caller,
            at: noon
          }),
        { concurrency: "unbounded" }
      )
      const tags = answers.map(({ _tag }) => _tag)
      expect(tags.toSorted()).toStrictEqual(["Created", ...times(7, "Replaced")])
      const { audit, events } = yield* tracesOf(key)
      expect(audit.map(({ outcome }) => outcome)).toStrictEqual([
        "created",
        ...times(7, "replaced")
      ])
      expect(events).toHaveLength(8)
    })
  )

  it.effect("either replaces the claimed payload or is refused", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, key } = yield* arrange("pending")
      const [staging, { attempt, claim: claimed }] = yield* Effect.all(
        [
          imports.stage({ key, payload, hash: stagedHash, caller, at: noon }),
          claim(key, caller, noon)
        ],
        { concurrency: "unbounded" }
      )
      const held = Option.getOrThrow(yield* imports.find(key))
      expect(stateAt(held, noon)).toMatchObject({ _tag: "InProgress", lease: { attempt } })
      const replaced = staging._tag === "Replaced"
      expectSame(claimed, { _tag: "Claimed", payload: replaced ? payload : `{"staged":"first"}` })
    })
  )
}

/** Declares the tests of `stage` and of the stored payload. */
export const stagingContract = (it: It): void => {
  storing(it)
  createOnly(it)
  whatIsKept(it)
  atOnce(it)
}
