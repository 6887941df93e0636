/** Accounts that are read back. Source: docs/contract/queries.md#get-an-account. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { AccountQuery, layer as accountQuery } from "../src/accounts/AccountQuery.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { Accounts } from "../src/accounts/Accounts.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { StorageUnavailable } from "../src/requests/StorageUnavailable.ts"
import { layerMemory as accounts } from "../testing/memory/Accounts.ts"
import { MemoryStore } from "../testing/memory/Store.ts"
import { faultAtEvery, type FaultPlan, noFaults, withFaults } from "../testing/faults.ts"
import { freshAccountNumber } from "../testing/freshNames.ts"
import {
  begin,
  demo,
  ports,
  programs,
  rival,
  stageBody,
  supplierCode,
  team
} from "./importPrograms.ts"

const world = Layer.mergeAll(ports, accounts)

const query = Effect.fnUntraced(function* (plan: FaultPlan = noFaults()) {
  const layer = accountQuery.pipe(
    Layer.provide(Layer.succeed(Accounts, withFaults(Accounts, yield* Accounts, plan))),
    Layer.provide(Layer.succeed(AuditLog, withFaults(AuditLog, yield* AuditLog, plan))),
    Layer.provide(
      Layer.succeed(ImportProcesses, withFaults(ImportProcesses, yield* ImportProcesses, plan))
    ),
    Layer.provide(
      Layer.succeed(Configuration, withFaults(Configuration, yield* Configuration, plan))
    )
  )
  return yield* Effect.provide(AccountQuery, layer)
})

/** Stages and processes the sample under this number. */
const imported = Effect.fnUntraced(function* (external_account_number: string) {
  const program = yield* programs()
  yield* program.stage(demo, stageBody({ external_account_number }))
  const pair = { import_supplier: supplierCode, external_account_number }
  const body = { payload: { ...pair, operations_team_name: team } }
  return (yield* program.process(demo, body)).kraken_account_number
})

const audited = Effect.map(MemoryStore, ({ audit }) =>
  audit
    .filter(({ entry }) => entry.action.startsWith("read_"))
    .map(({ entry, key }) => [
      entry.action,
      entry.outcome,
      entry.apiKey,
      entry.organisation,
      key.external_account_number
    ])
)

const readWith = (caller: Caller, number: string) =>
  Effect.flatMap(query(), ({ read }) =>
    Effect.flatMap(read(caller, number), (text) => Stream.mkString(text))
  )

describe("an account", () => {
  it.effect("is audited with the key that read it, before it is answered", () =>
    Effect.gen(function* () {
      yield* begin()
      const number = yield* imported("1")
      yield* (yield* query()).read(demo, number)
      expect(yield* audited).toEqual([
        ["read_account", "read", demo.apiKey, demo.organisation, "1"]
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("of another organisation is not found, like an unknown one and an invalid number", () =>
    Effect.gen(function* () {
      yield* begin()
      const number = yield* imported("1")
      for (const [caller, named] of [
        [rival, number],
        [demo, freshAccountNumber()],
        [demo, number.toLowerCase()],
        [demo, "__proto__"]
      ] as const) {
        expect((yield* Effect.flip(readWith(caller, named)))._tag).toBe("NotFound")
      }
      expect(yield* audited).toEqual([])
    }).pipe(Effect.provide(world))
  )

  it.effect.each(["locate", "supplier", "recordRead", "read"])(
    "is unavailable if %s is",
    (operation) =>
      Effect.gen(function* () {
        yield* begin()
        const number = yield* imported("1")
        const { read } = yield* query(
          faultAtEvery(operation, { kind: "unavailable", when: "before" })
        )
        const failure = yield* Effect.flip(read(demo, number))
        expect(failure).toMatchObject({ _tag: "ServiceUnavailable", retryAfterSeconds: 1 })
      }).pipe(Effect.provide(world))
  )
})

/** The port, except that accounts have a list that cannot be read. */
const breaking = (port: Accounts["Service"]): Accounts["Service"] => ({
  ...port,
  read: (numbers) =>
    Stream.map(port.read(numbers), (account) => ({
      ...account,
      documents: { count: 1, elements: Stream.fail(new StorageUnavailable({ cause: "away" })) }
    }))
})

describe("all accounts", () => {
  const all = (caller: Caller) =>
    Effect.flatMap(query(), ({ readAll }) =>
      Effect.flatMap(readAll(caller, supplierCode), (text) => Stream.mkString(text))
    )

  it.effect("are one line each, in the order of their numbers, and one audit entry", () =>
    Effect.gen(function* () {
      yield* begin()
      const numbers = Array.from({ length: 12 }, (_, index) => `n${10 + index}`)
      for (const number of numbers.toReversed()) yield* imported(number)
      const text = yield* all(demo)
      expect(text.endsWith("}\n")).toBe(true)
      const lines = text.slice(0, -1).split("\n")
      const read = lines.map((line) => JSON.parse(line) as { external_account_number: string })
      expect(read.map((account) => account.external_account_number)).toEqual(numbers)
      expect(yield* audited).toEqual([
        ["read_accounts", "begun", demo.apiKey, demo.organisation, null]
      ])
    }).pipe(Effect.provide(world))
  )

  it.effect("are not found for a foreign supplier, and are none for an empty one", () =>
    Effect.gen(function* () {
      yield* begin()
      expect(yield* all(demo)).toBe("")
      expect((yield* Effect.flip(all(rival)))._tag).toBe("NotFound")
    }).pipe(Effect.provide(world))
  )

  it.effect("are read only as far as their client reads", () =>
    Effect.gen(function* () {
      yield* begin()
      for (let index = 0; index < 110; index++) yield* imported(`n${100 + index}`)
      const port = yield* Accounts
      let reads = 0
      const counted = Layer.succeed(Accounts, {
        ...port,
        read: (numbers) =>
          Stream.suspend(() => {
            reads += numbers.length
            return port.read(numbers)
          })
      })
      const { readAll } = yield* Effect.provide(AccountQuery, Layer.provide(accountQuery, counted))
      const text = yield* readAll(demo, supplierCode)
      const first = yield* Stream.mkString(Stream.take(text, 1))
      expect(first).toMatch(/^{[^\n]*"external_account_number":"n100"/)
      expect(reads).toBe(100)
    }).pipe(Effect.provide(world))
  )

  it.effect("fail when a page cannot be read, instead of ending early", () =>
    Effect.gen(function* () {
      yield* begin()
      yield* imported("1")
      const broken = Layer.succeed(Accounts, breaking(yield* Accounts))
      const { readAll } = yield* Effect.provide(AccountQuery, Layer.provide(accountQuery, broken))
      const text = yield* readAll(demo, supplierCode)
      expect((yield* Effect.flip(Stream.runDrain(text)))._tag).toBe("ServiceUnavailable")
    }).pipe(Effect.provide(world))
  )
})
