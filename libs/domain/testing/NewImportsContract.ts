/**
 * What every storage of batches must do with imports that are stored together with the end of their
 * lines: store what single requests would store. The store may be shared, but nothing else may take
 * lines. All instants are arguments.
 */
import type { Vitest } from "@effect/vitest"
import { describe, expect, layer as withLayer } from "@effect/vitest"
import { Duration, Effect, type Layer, Option, Stream } from "effect"
import { type ImportKey, PayloadHash } from "../src/imports/ImportProcess.ts"
import { Accounts } from "../src/accounts/Accounts.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import type { Batches, ChunkInHand, NewImport } from "../src/batches/Batches.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportProcesses, type NewAccount } from "../src/imports/ImportProcesses.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { encodeDescription } from "./describedAccounts.ts"
import { type Begun, endOf, finish, found, started, taken } from "./begunBatches.ts"
import { expectSame, freshAttempt, newAccountFor, noon } from "./freshNames.ts"
import { pause } from "./PausedSupplierContract.ts"
import { domesticAccount } from "./samples.ts"

type Ports = Accounts | AuditLog | Batches | Configuration | ImportProcesses

const keyOf = ({ supplier }: Pick<Begun, "supplier">, number: string): ImportKey => ({
  import_supplier: supplier.code,
  external_account_number: number as ImportKey["external_account_number"]
})

/** Some of the documents of the sample, each with a size of its own. */
const documents = new Map(
  ["notes/NL-0004711/request-2024-11-02.pdf", "statements/NL-0004711/2025-01.pdf"].map(
    (path, index) => [path, { size: 100 + index, etag: null, checksum: null }]
  )
)

const team = "Migration Team"

const accountFor = (key: ImportKey): NewAccount => ({
  ...newAccountFor(key, noon),
  operationsTeam: team,
  account: domesticAccount(key),
  documents
})

const hashOf = ({ external_account_number }: ImportKey) =>
  PayloadHash.make(external_account_number.length.toString(16).padStart(64, "a"))

const importOf = (key: ImportKey, newAccount: NewAccount | null = null): NewImport => ({
  key,
  payload: JSON.stringify({ sent: key.external_account_number }),
  hash: hashOf(key),
  cohort: null,
  at: noon,
  creation: newAccount && { attempt: freshAttempt(), newAccount }
})

/** The imports, each with the end of its line. */
const ending = (chunk: ChunkInHand, imports: ReadonlyArray<NewImport>) =>
  imports.map((made, index) => {
    const line = chunk.lines[index]
    if (line === undefined) throw new Error("There are fewer lines than imports")
    return { ...made, end: endOf("SUCCEEDED")(line) }
  })

const teamExists = Effect.gen(function* () {
  const { createTeam } = yield* Configuration
  yield* Effect.ignore(createTeam(team))
})

/** Stores the import by single steps instead. */
const storeSingly = Effect.fnUntraced(function* (made: NewImport, caller: Caller) {
  const { claim, complete, stage } = yield* ImportProcesses
  const { at, creation, hash, key, payload } = made
  yield* stage({ key, payload, hash, caller, at })
  if (creation === null) return
  const { attempt, newAccount } = creation
  const lease = Duration.seconds(60)
  const limits = { deployment: null, supplier: null }
  yield* claim({ key, attempt, dryRun: false, lease, limits, caller, at })
  yield* complete({ key, attempt, newAccount, caller })
})

/** All that the ports return about an import, except random values. */
const leftOf = Effect.fnUntraced(function* (key: ImportKey, newAccount: NewAccount | null) {
  const auditLog = yield* AuditLog
  const { find, isStaged } = yield* ImportProcesses
  const { describe: describeAccount } = yield* Accounts
  const process = Option.getOrThrow(yield* find(key))
  const account = yield* Stream.runHead(
    describeAccount(newAccount === null ? [] : [newAccount.number])
  )
  return {
    isStaged: yield* isStaged({ key, hash: hashOf(key) }),
    state: { ...process, key: null, account: process.account?.createdAt },
    attempts: (yield* auditLog.attempts(key)).map((attempt) => ({ ...attempt, id: null })),
    audit: (yield* auditLog.audit(key)).map(({ action, outcome }) => [action, outcome]),
    events: yield* auditLog.events(key),
    account: Option.map(account, (described) => ({
      ...encodeDescription(described),
      payload: described.payload?.replace(key.external_account_number, ""),
      kraken_account_number: null,
      external_account_number: null
    }))
  }
})

const cohorts = (it: Vitest.MethodsNonLive<Ports>): void => {
  it.effect("stores the cohort of each, or that of the batch", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      const [a, b] = ["a", "b"].map((number) => keyOf(batch, number)) as [ImportKey, ImportKey]
      const imports = ending(chunk, [{ ...importOf(a), cohort: "its own" }, importOf(b)])
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
      expect(yield* finish(chunk, [], { imports: ending(chunk, imports), caller })).toBe(true)
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
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toBe(false)
      const { find } = yield* ImportProcesses
      expect(yield* find(a)).toEqual(Option.none())
      expect(yield* finish(chunk, chunk.lines.map(endOf("FAILED")))).toBe(true)
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
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toBe(true)
      expect(yield* (yield* ImportProcesses).find(key)).toEqual(Option.none())
      expect((yield* found(batch)).counts).toMatchObject({ received: 1, succeeded: 0 })
    })
  )

  it.effect("stores nothing if two of them have one account number", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      yield* teamExists
      const keys = ["a", "b"].map((number) => keyOf(batch, number))
      const { number } = newAccountFor(keyOf(batch, "any"), noon)
      const made = keys.map((key) => importOf(key, { ...accountFor(key), number }))
      const imports = ending(chunk, made)
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toBe(false)
      const { find } = yield* ImportProcesses
      for (const key of keys) expect(yield* find(key)).toEqual(Option.none())
      expect(yield* finish(chunk, chunk.lines.map(endOf("FAILED")))).toBe(true)
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, failed: 2 })
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
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toBe(true)
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
export const newImportsContract = (name: string, ports: Layer.Layer<Ports>): void => {
  withLayer(ports)(`Imports of a batch, ${name}`, (it) => {
    describe("finish", () => {
      cohorts(it)
      likeSingleSteps(it)
      together(it)
      besideOthers(it)
    })
  })
}
