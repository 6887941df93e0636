/** What a batch with a source is filled with when it starts: one part of the contract of `Batches`. */
import { expect, type Vitest } from "@effect/vitest"
import { Duration, Effect, Option } from "effect"
import type * as Batch from "../src/batches/Batch.ts"
import { BatchId } from "../src/batches/Batch.ts"
import type { Batches } from "../src/batches/Batches.ts"
import type { ImportKey } from "../src/imports/ImportProcess.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ApiKeyId, type Caller } from "../src/suppliers/Organisation.ts"
import { begun, encoder, endOf, finish, found, start, started, takeNext } from "./begunBatches.ts"
import { freshAttempt, freshSupplier, noon, noonPlus } from "./freshNames.ts"
import { claim, complete, stage, stagedHash } from "./importStates.ts"

/** An attempt that has failed with an error at a field. */
const failAttempt = Effect.fnUntraced(function* (
  key: ImportKey,
  caller: Caller,
  dryRun: boolean = false
) {
  const { claim, release } = yield* ImportProcesses
  const attempt = freshAttempt()
  const limits = { deployment: null, supplier: null }
  const lease = Duration.seconds(60)
  yield* claim({ key, attempt, dryRun, lease, limits, caller, at: noon })
  yield* release({
    key,
    attempt,
    dryRun,
    outcome: "account_failed_validation",
    errors: [{ code: "invalid_phone_number", attr: "customers.0.landline" }],
    caller,
    at: noon
  })
})

export const batchSources = (
  it: Vitest.MethodsNonLive<Batches | Configuration | ImportProcesses>
): void => {
  const filters: ReadonlyArray<readonly [Batch.PendingSelection, ReadonlyArray<string>]> = [
    [{}, ["a", "b", "c", "d", "e"]],
    [{ cohort: "wave" }, ["b"]],
    [{ failed: true }, ["c", "d"]],
    [{ state: "PENDING" }, ["a", "b", "d"]],
    [{ state: "FAILED" }, ["c", "e"]],
    [{ state: "FAILED", code: "invalid_phone_number" }, ["c"]],
    [{ state: "FAILED", code: "lease_expired" }, ["e"]],
    [{ state: "PENDING", code: "invalid_phone_number" }, ["d"]],
    [{ corrected: true }, ["d"]],
    [{ corrected: true, state: "FAILED" }, []],
    [{ cohort: null, state: "FAILED" }, ["c", "e"]],
    [{ code: "lease_expired" }, ["e"]],
    [{ failed: false }, ["a", "b"]],
    [{ code: "account_failed_validation" }, ["c", "d"]],
    [{ code: "invalid_phone_number" }, ["c", "d"]],
    [{ code: "required" }, []],
    [{ code: "invalid_phone_number", failed: false }, []]
  ]
  it.effect.each(filters)("fills a batch of pending imports when it starts: %j", ([pending, all]) =>
    Effect.gen(function* () {
      const fresh = yield* freshSupplier
      // Only the board selects by state.
      const apiKey = ApiKeyId.make("board:mia")
      const owner =
        pending.state === undefined ? fresh : { ...fresh, caller: { ...fresh.caller, apiKey } }
      const imports = yield* ImportProcesses
      const sent = { payload: "{}", hash: stagedHash, caller: owner.caller, at: noon }
      for (const [number, cohort] of [
        ["b", "wave"],
        ["a", null],
        ["c", null],
        ["d", null],
        ["e", null]
      ] as const) {
        const key = owner.keyOf(number)
        yield* imports.stage({ ...sent, key, cohort })
      }
      yield* failAttempt(owner.keyOf("a"), owner.caller, true)
      yield* failAttempt(owner.keyOf("c"), owner.caller)
      const corrected = owner.keyOf("d")
      yield* failAttempt(corrected, owner.caller)
      yield* imports.stage({ ...sent, key: corrected })
      yield* claim(owner.keyOf("e"), owner.caller, noonPlus(-3_600))
      const batch = yield* begun({ of: owner, operation: "PROCESS", pending })
      yield* start(batch, 0)
      expect((yield* found(batch)).counts.received).toBe(all.length)
      const chunk = yield* takeNext()
      const lines = Option.isSome(chunk) ? chunk.value.lines : []
      expect(
        lines.map(({ bytes, externalAccountNumber }) => [externalAccountNumber, bytes])
      ).toEqual(
        all.map((number) => [
          number,
          encoder.encode(JSON.stringify({ external_account_number: number }))
        ])
      )
    })
  )

  const importedFilters: ReadonlyArray<readonly [Batch.ImportedFilter, ReadonlyArray<string>]> = [
    [{}, ["a", "b"]],
    [{ cohort: "wave" }, ["b"]],
    [{ created_after: noon }, ["b"]],
    [{ created_before: noonPlus(1) }, ["a"]],
    [{ batch_id: BatchId.make("5b0c4c7e-58a1-4a7e-9d3a-5f6d1a0b2c3d") }, ["b"]]
  ]
  it.effect.each(importedFilters)(
    "fills a batch of imported accounts when it starts: %j",
    ([imported, all]) =>
      Effect.gen(function* () {
        const configuration = yield* Configuration
        yield* Effect.ignore(configuration.createTeam("Migration Team"))
        const owner = yield* freshSupplier
        yield* stage(owner, ["b"], "wave")
        yield* stage(owner, ["a", "c"])
        const accounts = {
          a: yield* complete(owner, "a", noon),
          b: yield* complete(owner, "b", noonPlus(1))
        }
        if (imported.batch_id !== undefined) {
          const creating = { operation: "PROCESS", operationsTeam: "Migration Team" } as const
          yield* started(["a", "b"], { of: owner, id: imported.batch_id, ...creating })
          const chunk = yield* takeNext(noon)
          const { lines: of } = Option.getOrThrow(chunk)
          yield* finish(Option.getOrThrow(chunk), [
            ...of.slice(0, 1).map(endOf("ALREADY", [], accounts.a.number)),
            ...of.slice(1).map(endOf("SUCCEEDED", [], accounts.b.number))
          ])
        }
        const revert = { reason: "Wrong sign", withAdditions: false }
        const batch = yield* begun({ of: owner, operation: "REVERT", imported, revert })
        yield* start(batch, 0)
        const { lines } = Option.getOrThrow(yield* takeNext(noonPlus(2)))
        const sent = lines.map(({ bytes }) => new TextDecoder().decode(bytes ?? undefined))
        expect(sent).toEqual(
          all.map((number) =>
            JSON.stringify({
              external_account_number: number,
              kraken_account_number: accounts[number as keyof typeof accounts].number
            })
          )
        )
      })
  )
}
