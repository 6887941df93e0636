/**
 * What every storage of batches must do with imports and reverts that are stored together with the
 * end of their lines: store what single requests would store. The store may be shared, but nothing
 * else may take lines. All instants are arguments.
 */
import type { Vitest } from "@effect/vitest"
import { describe, expect, layer as withLayer } from "@effect/vitest"
import { Duration, Effect, type Layer, Option, Result, Stream } from "effect"
import { type ImportKey, PayloadHash } from "../src/imports/ImportProcess.ts"
import { Accounts } from "../src/accounts/Accounts.ts"
import { AuditLog } from "../src/audit/AuditLog.ts"
import type { Batches, ChunkInHand, LineRevert, NewImport } from "../src/batches/Batches.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportProcesses, type NewAccount } from "../src/imports/ImportProcesses.ts"
import { AccountNumberDiffers } from "../src/requests/Failure.ts"
import { type RevertOrder, Reverts } from "../src/imports/Reverts.ts"
import type { Caller } from "../src/suppliers/Organisation.ts"
import { encodeDescription } from "./describedAccounts.ts"
import { type Begun, endOf, finish, found, started, taken } from "./begunBatches.ts"
import { expectSame, freshAttempt, newAccountFor, noon, noonPlus } from "./freshNames.ts"
import { pause } from "./PausedSupplierContract.ts"
import { domesticAccount } from "./samples.ts"

type Ports = Accounts | AuditLog | Batches | Configuration | ImportProcesses | Reverts

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

  it.effect("stores nothing if two of them have one account number", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const chunk = yield* taken()
      yield* teamExists
      const keys = ["a", "b"].map((number) => keyOf(batch, number))
      const { number } = newAccountFor(keyOf(batch, "any"), noon)
      const made = keys.map((key) => importOf(key, { ...accountFor(key), number }))
      const imports = ending(chunk, made)
      expect(yield* finish(chunk, [], { imports, caller: batch.caller })).toEqual(new Set([1, 2]))
      const { find } = yield* ImportProcesses
      for (const key of keys) expect(yield* find(key)).toEqual(Option.none())
      expect(yield* finish(chunk, chunk.lines.map(endOf("FAILED")))).toEqual(new Set())
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

/** An account of each number, and the order to revert it unless its number differs. */
const reverting = Effect.fnUntraced(function* (batch: Begun, numbers: ReadonlyArray<string>) {
  yield* teamExists
  return yield* Effect.forEach(
    numbers,
    Effect.fnUntraced(function* (each) {
      const key = keyOf(batch, each)
      const account = accountFor(key)
      yield* storeSingly(importOf(key, account), batch.caller)
      const { number } = account
      const decide: RevertOrder["decide"] = ({ details: { process } }) =>
        process.account?.number === number
          ? Result.succeed(true)
          : Result.fail(new AccountNumberDiffers({ key, accountNumber: number }))
      return { key, number, reason: "Wrong sign", decide } satisfies RevertOrder
    })
  )
})

const ofLines = (
  { lines }: ChunkInHand,
  orders: ReadonlyArray<RevertOrder>
): ReadonlyArray<LineRevert> =>
  lines.flatMap((line, index) => {
    const order = orders[index]
    return order === undefined
      ? []
      : [{ ...order, line: line.line, endOf: () => endOf("SUCCEEDED")(line) }]
  })

const reverts = (it: Vitest.MethodsNonLive<Ports>): void => {
  const at = noonPlus(60)

  it.effect("reverts for lines as single steps do", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const { caller } = batch
      const [single, ...orders] = yield* reverting(batch, ["single", "a", "b"])
      if (single === undefined) throw new Error("There are three orders")
      yield* (yield* Reverts).revert({ ...single, dryRun: false, caller, at })
      const chunk = yield* taken()
      const refused = yield* finish(chunk, [], { reverts: ofLines(chunk, orders), caller, at })
      expect(refused).toEqual(new Set())
      expect((yield* found(batch)).counts).toMatchObject({ received: 2, succeeded: 2 })
      const expected = yield* leftOf(single.key, null)
      expect(expected.audit.at(-1)).toEqual(["revert_import", "reverted"])
      for (const { key } of orders) expectSame(yield* leftOf(key, null), expected)
    })
  )

  it.effect("reverts for no line if it cannot for some, and names these", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a", "b"])
      const { caller } = batch
      const orders = yield* reverting(batch, ["a", "b"])
      const chunk = yield* taken()
      const { find } = yield* ImportProcesses
      const [a, b] = orders as [RevertOrder, RevertOrder]
      yield* (yield* Reverts).revert({ ...b, dryRun: false, caller, at })
      const reverts = ofLines(chunk, orders)
      expect(yield* finish(chunk, [], { reverts, caller, at })).toEqual(new Set([2]))
      expect(Option.getOrThrow(yield* find(a.key)).account?.number).toBe(a.number)
      const [one] = ofLines(chunk, [a])
      const ended = chunk.lines.slice(1).map(endOf("FAILED"))
      yield* finish(chunk, ended, { reverts: one === undefined ? [] : [one], caller, at })
      expect(Option.getOrThrow(yield* find(a.key)).account).toBe(null)
      expect((yield* found(batch)).counts).toMatchObject({ succeeded: 1, failed: 1 })
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
      reverts(it)
    })
  })
}
