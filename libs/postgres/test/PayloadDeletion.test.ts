/** The deletion of payloads whose import became an account long ago. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect, Option } from "effect"
import { type ImportKey, PayloadHash } from "@data-import/domain/imports/ImportProcess"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { ImportSearch } from "@data-import/domain/migrations/ImportSearch"
import {
  expectSame,
  freshSupplier,
  newAccountFor,
  noon
} from "@data-import/domain/testing/freshNames"
import {
  arrange,
  claim,
  importStates,
  stagedPayload,
  tracesOf
} from "@data-import/domain/testing/importStates"
import * as TestDatabase from "../testing/TestDatabase.ts"

const hash = PayloadHash.make("d".repeat(64))

/** Long before the other imports of the store, so that only those of these tests are due. */
const longAgo = DateTime.subtract(noon, { days: 1_000 })
const dayAfter = DateTime.add(longAgo, { days: 1 })

const deleteAll = Effect.flatMap(ImportProcesses, (imports) =>
  Effect.repeat(imports.deletePayloads({ importedBefore: dayAfter, limit: 2 }), {
    while: (areMore) => areMore
  })
)

/** An import that was staged, failed once and became an account, all at this instant. */
const imported = Effect.fnUntraced(function* (
  key: ImportKey,
  caller: Caller,
  { at = longAgo }: { at?: DateTime.Utc } = {}
) {
  const imports = yield* ImportProcesses
  yield* imports.stage({ key, payload: stagedPayload, hash, caller, at })
  const failed = yield* claim(key, caller, at)
  yield* imports.release({
    key,
    attempt: failed.attempt,
    outcome: "account_failed_validation",
    errors: [
      { code: "max_length", attr: "a.b", detail: "Erika", parameters: { limit: 1, actual: 5 } },
      { code: "unknown_field", attr: "Mustermann", detail: "" }
    ],
    dryRun: false,
    caller,
    at
  })
  const { attempt } = yield* claim(key, caller, at)
  yield* imports.complete({ key, attempt, newAccount: newAccountFor(key, at), caller })
})

/** Whether the text still exists. */
const hasText = (key: ImportKey) =>
  Effect.flatMap(ImportSearch, (search) => Effect.map(search.staged(key), Option.isSome))

const whatStays = (it: TestDatabase.It): void => {
  it.effect("deletes only the text and what errors contain of it", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("a")
      yield* imported(key, caller)
      const before = Option.getOrThrow(yield* imports.details(key, 10))
      const traces = yield* tracesOf(key)
      yield* deleteAll
      const [failed, ...others] = before.attempts
      const codes = [
        { code: "max_length", attr: "non_field_errors" },
        { code: "unknown_field", attr: "non_field_errors" }
      ]
      const attempts = [{ ...failed, errors: codes }, ...others]
      expectSame(yield* imports.details(key, 10), Option.some({ ...before, attempts }))
      expectSame(yield* tracesOf(key), { ...traces, attempts })
      expect(yield* hasText(key)).toBe(false)
      expect(yield* imports.isStaged({ key, hash }), "it is known by its hash").toBe(true)
    })
  )

  it.effect("deletes the text, and refuses to stage and to process as before", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const key = keyOf("a")
      yield* imported(key, caller)
      expect(yield* hasText(key)).toBe(true)
      yield* deleteAll
      expect(yield* hasText(key)).toBe(false)
      const staging = { key, payload: "{}", hash, caller, at: noon }
      for (const createOnly of [false, true]) {
        expect(yield* imports.stage({ ...staging, createOnly })).toMatchObject({
          _tag: "Refused",
          found: { _tag: "Imported" }
        })
      }
      expect((yield* claim(key, caller, noon)).claim).toMatchObject({
        _tag: "Refused",
        found: { _tag: "Imported" }
      })
      expect(yield* hasText(key)).toBe(false)
    })
  )
}

const whichOnes = (it: TestDatabase.It): void => {
  const others = importStates.filter((state) => state !== "none" && state !== "imported")
  it.effect.each(others)("leaves an import that is %s, however old it is", (state) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { key } = yield* arrange(state)
      const importedBefore = DateTime.add(noon, { days: 10_000 })
      yield* Effect.repeat(imports.deletePayloads({ importedBefore, limit: 100 }), {
        while: (areMore) => areMore
      })
      expect(yield* hasText(key)).toBe(true)
    })
  )

  it.effect("keeps payloads that were imported at that time or later", () =>
    Effect.gen(function* () {
      const { caller, keyOf } = yield* freshSupplier
      const [older, younger] = [keyOf("older"), keyOf("younger")]
      yield* imported(older, caller, { at: DateTime.subtract(dayAfter, { milliseconds: 1 }) })
      yield* imported(younger, caller, { at: dayAfter })
      yield* deleteAll
      expect([yield* hasText(older), yield* hasText(younger)]).toEqual([false, true])
    })
  )

  it.effect("deletes at most the limit, the oldest first, and says whether there may be more", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      yield* deleteAll
      const keys = ["c", "a", "b"].map(keyOf)
      for (const [index, key] of keys.entries()) {
        yield* imported(key, caller, { at: DateTime.add(longAgo, { seconds: index }) })
      }
      const command = { importedBefore: dayAfter, limit: 2 }
      expect(yield* imports.deletePayloads(command)).toBe(true)
      expect(yield* Effect.forEach(keys, hasText)).toEqual([false, false, true])
      expect(yield* imports.deletePayloads(command)).toBe(false)
      expect(yield* Effect.forEach(keys, hasText)).toEqual([false, false, false])
    })
  )

  it.effect("can run several times concurrently", () =>
    Effect.gen(function* () {
      const { caller, keyOf } = yield* freshSupplier
      const keys = Array.from({ length: 20 }, (_, index) => keyOf(`n${index}`))
      yield* Effect.forEach(keys, (key) => imported(key, caller), { concurrency: 4 })
      yield* Effect.all([deleteAll, deleteAll, deleteAll, deleteAll], { concurrency: "unbounded" })
      // Each skips rows that another has locked, so some may be left.
      yield* deleteAll
      expect((yield* Effect.forEach(keys, hasText)).filter(Boolean)).toEqual([])
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "deletePayloads",
  (it) => {
    whatStays(it)
    whichOnes(it)
  }
)
