/**
 * What every storage of batches must do with imports and reverts that are stored together with the
 * ends of their lines: store what single requests would store. The store may be shared, but nothing
 * else may take lines. All instants are arguments.
 */
import type { Vitest } from "@effect/vitest"
import { describe, expect, layer as withLayer } from "@effect/vitest"
import { Effect, type Layer, Option } from "effect"
import type { Accounts } from "../src/accounts/Accounts.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Batches, LineImport } from "../src/batches/Batches.ts"
import type { ImportKey } from "../src/imports/ImportProcess.ts"
import { ImportProcesses, type NewAccount } from "../src/imports/ImportProcesses.ts"
import type { Reverts } from "../src/imports/Reverts.ts"
import type { Configuration } from "../src/suppliers/Configuration.ts"
import { endOf, finish, found, started, taken } from "./begunBatches.ts"
import { expectSame } from "./freshNames.ts"
import { lineAttempts } from "./LineAttemptsContract.ts"
import {
  accountFor,
  ending,
  importOf,
  keyOf,
  leftOf,
  storeSingly,
  teamExists
} from "./lineImports.ts"
import { lineReverts } from "./LineAttemptsContract.ts"
import { pause } from "./PausedSupplierContract.ts"

type Ports = Accounts | AuditLog | Batches | Configuration | ImportProcesses | Reverts

const withCohort = ({ staging, ...made }: LineImport, cohort: string): LineImport => ({
  ...made,
  staging: staging && { ...staging, cohort }
})

const cohorts = (it: Vitest.MethodsNonLive<Ports>): void => {
  it.effect("stores the cohort of each, or that of the batch", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      const [a, b] = ["a", "b"].map((number) => keyOf(batch, number)) as [ImportKey, ImportKey]
      const imports = ending(chunk, [withCohort(importOf(a), "its own"), importOf(b)])
      yield* finish(chunk, [], { imports, caller: batch.caller })
      const { details } = yield* ImportProcesses
      const cohorts = yield* Effect.forEach([a, b], (key) => details(key, 0))
      expect(cohorts.map((each) => Option.getOrThrow(each).cohort)).toEqual([
        "its own",
        (yield* found(batch)).settings.cohort
      ])
    })
  )
}

const likeSingleSteps = (it: Vitest.MethodsNonLive<Ports>): void => {
  const kinds: ReadonlyArray<readonly [string, (key: ImportKey) => NewAccount | null]> = [
    ["staged", () => null],
    ["created", accountFor],
    ["created, with an e-mail due", (key) => ({ ...accountFor(key), customerEmails: true })]
  ]
  it.effect.each(kinds)("stores for imports that are %s what single steps store", ([, creating]) =>
    Effect.gen(function* () {
      yield* teamExists
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      const keys = ["a", "b"].map((number) => keyOf(batch, number))
      const created = keys.map(creating)
      const imports = keys.map((key, index) => importOf(key, created[index] ?? null))
      const { caller } = batch
      expect(yield* finish(chunk, [], { imports: ending(chunk, imports), caller })).toEqual(
        new Set()
      )
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, succeeded: 2 })
      const single = keyOf(batch, "single")
      const newAccount = creating(single)
      yield* storeSingly(importOf(single, newAccount), caller)
      const expected = yield* leftOf(single, newAccount)
      for (const [index, key] of keys.entries()) {
        expectSame(yield* leftOf(key, created[index] ?? null), expected)
      }
    })
  )
}

const together = (it: Vitest.MethodsNonLive<Ports>): void => {
  it.effect("stores nothing if one of them cannot be stored, and keeps the lines in hand", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      const [a, b] = ["a", "b"].map((number) => keyOf(batch, number)) as [ImportKey, ImportKey]
      yield* teamExists
      const single = accountFor(keyOf(batch, "single"))
      yield* storeSingly(importOf(keyOf(batch, "single"), single), batch.caller)
      const taking = { ...accountFor(b), number: single.number }
      const imports = ending(chunk, [importOf(a, accountFor(a)), importOf(b, taking)])
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toEqual(new Set([1, 2]))
      const { find } = yield* ImportProcesses
      expect(yield* find(a)).toEqual(Option.none())
      expect(yield* finish(chunk, chunk.lines.map(endOf("FAILED")))).toEqual(new Set())
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, failed: 2 })
    })
  )

  it.effect("leaves out those of a supplier that was paused meanwhile", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a"])
      const chunk = yield* taken()
      const key = keyOf(batch, "a")
      yield* pause(batch.supplier.code)
      const imports = ending(chunk, [importOf(key)])
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toEqual(new Set())
      expect(yield* (yield* ImportProcesses).find(key)).toEqual(Option.none())
      expect((yield* found(batch)).counts).toMatchObject({ received: 1, succeeded: 0 })
    })
  )

  it.effect("stores the others if one with a taken account number was staged meanwhile", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      yield* teamExists
      const [a, b] = ["a", "b"].map((number) => keyOf(batch, number)) as [ImportKey, ImportKey]
      const single = accountFor(a)
      yield* storeSingly(importOf(a, single), batch.caller)
      const imports = ending(chunk, [importOf(a, single), importOf(b, accountFor(b))])
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toEqual(new Set())
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, succeeded: 1 })
    })
  )
}

const besideOthers = (it: Vitest.MethodsNonLive<Ports>): void => {
  it.effect("does not change an import that was staged meanwhile", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      const [a, b] = ["a", "b"].map((number) => keyOf(batch, number)) as [ImportKey, ImportKey]
      yield* storeSingly(importOf(a), batch.caller)
      const before = yield* leftOf(a, null)
      const imports = ending(chunk, [importOf(a), importOf(b)])
      yield* finish(chunk, [], { imports, caller: batch.caller })
      expectSame(yield* leftOf(a, null), before)
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, succeeded: 1 })
      expect((yield* taken()).lines.map(({ line }) => line)).toEqual([1])
    })
  )
}

/** Runs the suite on the ports of the layer. */
export const lineImportsContract = (name: string, ports: Layer.Layer<Ports>): void => {
  withLayer(ports)(`Imports of a batch, ${name}`, (it) => {
    describe("finish", () => {
      cohorts(it)
      likeSingleSteps(it)
      together(it)
      besideOthers(it)
      lineAttempts(it)
      lineReverts(it)
    })
  })
}
