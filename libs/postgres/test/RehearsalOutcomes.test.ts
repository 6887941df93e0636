/** What became of the lines of a rehearsal, for everything that may happen in between. */
import { expect, layer } from "@effect/vitest"
import { Array as Arrays, DateTime, Duration, Effect, Fiber } from "effect"
import type { Code } from "@data-import/domain/codes/Code"
import { Batches } from "@data-import/domain/batches/Batches"
import type { Batch, BatchId } from "@data-import/domain/batches/Batch"
import { RehearsalOutcomes } from "@data-import/domain/batches/RehearsalOutcomes"
import type { AttemptError } from "@data-import/domain/imports/ImportDetails"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import {
  begun,
  append,
  endOf,
  finish,
  found,
  linesOf,
  start,
  taken
} from "@data-import/domain/testing/begunBatches"
import {
  freshAttempt,
  freshSupplier,
  newAccountFor,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import { lease, noLimits, stagedHash } from "@data-import/domain/testing/importStates"
import { reverting } from "@data-import/domain/testing/RevertsContract"
import { PayloadHash } from "@data-import/domain/imports/ImportProcess"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { Database } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { erase } from "./erasedCustomers.ts"

type Errors = ReadonlyArray<AttemptError & { readonly code: Code }>

const invalid = [{ code: "invalid", attr: "a" }] as unknown as Errors
const required = [{ code: "required", attr: "a" }] as unknown as Errors
const lacking = [{ code: "path_does_not_exist_in_file_store", attr: "a" }] as unknown as Errors

type Owner = Effect.Success<typeof freshSupplier>

interface Trying {
  readonly day?: string
  readonly dryRun?: boolean
  /** Null for an account. */
  readonly errors?: Errors | null
}

/** An attempt. Returns the account that it would create. */
const attempt = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  seconds: number,
  { day = "day", dryRun = false, errors = invalid }: Trying = {}
) {
  const imports = yield* ImportProcesses
  const [key, at, id] = [keyOf(number), noonPlus(seconds), freshAttempt()]
  const claim = { key, attempt: id, dryRun, lease, limits: noLimits, judgedBy: day, caller, at }
  yield* imports.claim(claim)
  const newAccount = { ...newAccountFor(key, at), account: domesticAccount(key) }
  const release = { key, attempt: id, dryRun, caller, at }
  if (errors !== null) {
    yield* imports.release({ ...release, outcome: "account_failed_validation", errors })
  } else if (dryRun) {
    yield* imports.release({ ...release, outcome: "dry_run_successful", errors: [] })
  } else {
    yield* imports.complete({ key, attempt: id, newAccount, caller })
  }
  return newAccount
})

const created = (of: Owner, number: string, seconds: number) =>
  attempt(of, number, seconds, { errors: null })

const stage = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  seconds: number,
  hash = stagedHash
) {
  const imports = yield* ImportProcesses
  yield* imports.stage({ key: keyOf(number), payload: "{}", hash, caller, at: noonPlus(seconds) })
})

const otherHash = PayloadHash.make("1".repeat(64))

const linesOfChunk = 4

/** A rehearsal in which these lines succeed. An import that is not staged has no attempt. */
const rehearsed = Effect.fnUntraced(function* (
  of: Owner,
  numbers: ReadonlyArray<string>,
  succeeding: ReadonlyArray<string>,
  operation: "IMPORT" | "PROCESS" = "PROCESS"
) {
  const rehearsal = yield* begun({ of, operation, dryRun: true })
  for (const [index, some] of Arrays.chunksOf(numbers, linesOfChunk).entries()) {
    yield* append(rehearsal, linesOf(...some), { from: index * linesOfChunk + 1 })
  }
  yield* start(rehearsal, numbers.length)
  const judged = { payloadHash: stagedHash, judgedBy: "day", at: noonPlus(2) }
  const endNext = Effect.gen(function* () {
    const chunk = yield* taken(noonPlus(2))
    const ended = chunk.lines.map((line) => {
      const succeeds = succeeding.includes(line.externalAccountNumber ?? "")
      const end = endOf(succeeds ? "SUCCEEDED" : "FAILED")(line)
      return operation === "IMPORT" && succeeds ? { ...end, judged } : end
    })
    yield* finish(chunk, ended, { at: noonPlus(2) })
    return yield* found(rehearsal)
  })
  return yield* Effect.repeat(Effect.scoped(endNext), {
    until: ({ finishedAt }) => finishedAt !== null
  })
}, Effect.scoped)

/** The counts, once they have everything that is committed now. */
const counted = Effect.fnUntraced(function* (id: BatchId) {
  const { counts, follow } = yield* RehearsalOutcomes
  const now = yield* DateTime.now
  const turn = Effect.andThen(follow(Duration.zero), counts(id))
  return yield* Effect.repeat(turn, { until: ({ at }) => !DateTime.isLessThan(at, now) })
})

const linesIn = (rehearsal: Batch, query: object = {}) =>
  Effect.flatMap(RehearsalOutcomes, (port) =>
    port.lines(rehearsal.id, { afterLine: 0, limit: 1_000, ...query })
  )

const pairsIn = (rehearsal: Batch) =>
  Effect.map(linesIn(rehearsal), (lines) =>
    lines.map((line) => [line.external_account_number, line.happened, line.finally])
  )

/** The pairs, which the counts have to add up. */
const outcomeOf = Effect.fnUntraced(function* (rehearsal: Batch) {
  const { counts } = yield* counted(rehearsal.id)
  const lines = yield* linesIn(rehearsal)
  const added = Map.groupBy(lines, (line) => `${line.predicted} ${line.happened} ${line.finally}`)
  expect(
    Object.fromEntries(
      counts.map((each) => [`${each.predicted} ${each.happened} ${each.finally}`, each.lines])
    )
  ).toEqual(Object.fromEntries([...added].map(([name, { length }]) => [name, length])))
  return yield* pairsIn(rehearsal)
})

const numbersOf = (count: number) => Array.from({ length: count }, (_, index) => `A-${index}`)

const decided = (it: TestDatabase.It): void => {
  it.effect("compares each line with the first attempt after it that was no dry run", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const imports = yield* ImportProcesses
      const failing = ["same", "other", "day", "payload", "document", "idle", "skipped"]
      const succeeding = ["created", "reverted"]
      for (const number of [...failing, ...succeeding]) yield* stage(owner, number, -30)
      for (const number of failing) yield* attempt(owner, number, 1, { dryRun: true })
      for (const number of succeeding) {
        yield* attempt(owner, number, 1, { dryRun: true, errors: null })
      }
      const all = [...failing, ...succeeding, "unknown", "late", "broken off"]
      yield* stage(owner, "broken off", -30)
      yield* attempt(owner, "broken off", 1, { dryRun: true })
      const rehearsal = yield* rehearsed(owner, all, succeeding)
      yield* attempt(owner, "same", 4)
      yield* attempt(owner, "same", 5, { errors: required })
      yield* attempt(owner, "other", 4, { errors: required })
      yield* attempt(owner, "day", 4, { day: "next day" })
      yield* stage(owner, "payload", 3, otherHash)
      yield* attempt(owner, "payload", 4)
      yield* attempt(owner, "document", 4, { errors: lacking })
      yield* imports.setSkipped({ key: owner.keyOf("skipped"), skipped: true, at: noonPlus(3) })
      yield* created(owner, "created", 4)
      const { number } = yield* created(owner, "reverted", 4)
      yield* stage(owner, "late", 3)
      yield* created(owner, "late", 4)
      yield* reverting({ key: owner.keyOf("reverted"), caller: owner.caller, number })
      const { caller, keyOf } = owner
      yield* imports.claim({
        ...{ key: keyOf("broken off"), attempt: freshAttempt(), dryRun: false, lease },
        ...{ limits: noLimits, judgedBy: "day", caller, at: noonPlus(4) }
      })
      yield* counted(rehearsal.id)
      yield* stage(owner, "broken off", 65)
      const happened = yield* outcomeOf(rehearsal)
      expect(happened).toEqual([
        ["same", "FAILED_AS_PREDICTED", "FAILED"],
        ["other", "FAILED_OTHERWISE", "FAILED"],
        ["day", "CHANGED", "FAILED"],
        ["payload", "CHANGED", "FAILED"],
        ["document", "CHANGED", "FAILED"],
        ["idle", "NOT_TRIED", "PENDING"],
        ["skipped", "SKIPPED", "SKIPPED"],
        ["created", "CREATED", "IMPORTED"],
        ["reverted", "CREATED", "REVERTED"],
        ["unknown", "NOT_TRIED", "NEVER_STAGED"],
        ["late", "CHANGED", "IMPORTED"],
        ["broken off", "FAILED_OTHERWISE", "PENDING"]
      ])
      const changed = yield* linesIn(rehearsal, { happened: "CHANGED", afterLine: 3, limit: 2 })
      expect(changed.map(({ line }) => line)).toEqual([4, 5])
      expect(yield* linesIn(rehearsal, { predicted: "SUCCEEDED", happened: "CHANGED" })).toEqual([])
    })
  )

  it.effect("compares a line of IMPORT, which stages nothing, by what was kept with it", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const all = ["created", "payload", "failed", "never", "refused"]
      const rehearsal = yield* rehearsed(owner, all, all.slice(0, 4), "IMPORT")
      for (const number of ["created", "failed", "refused"]) yield* stage(owner, number, 3)
      yield* stage(owner, "payload", 3, otherHash)
      yield* attempt(owner, "failed", 4)
      for (const number of ["created", "payload", "refused"]) yield* created(owner, number, 4)
      expect(yield* outcomeOf(rehearsal)).toEqual([
        ["created", "CREATED", "IMPORTED"],
        ["payload", "CHANGED", "IMPORTED"],
        ["failed", "FAILED_OTHERWISE", "FAILED"],
        ["never", "NOT_TRIED", "NEVER_STAGED"],
        ["refused", "CHANGED", "IMPORTED"]
      ])
    })
  )

  it.effect("adds up the accounts that first attempts created, also reverted ones", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      // Its lines name an account more than once, in one chunk and in another.
      const numbers = ["a", "b", "c", "b", "a"]
      const rehearsal = yield* rehearsed(owner, numbers, ["a", "b", "c"], "IMPORT")
      for (const number of ["a", "b", "c"]) yield* stage(owner, number, 3)
      const { number } = yield* created(owner, "a", 4)
      yield* created(owner, "b", 4)
      yield* reverting({ key: owner.keyOf("a"), caller: owner.caller, number })
      yield* created(owner, "a", 200)
      const { sums } = yield* counted(rehearsal.id)
      expect(sums).toEqual([
        { kind: "account", name: "", count: 2, hundredths: 10_000n },
        { kind: "ledger", name: "ELECTRICITY_LEDGER", count: 2, hundredths: 10_000n }
      ])
    })
  )
}

const followed = (it: TestDatabase.It): void => {
  it.effect("loses no change that is made meanwhile, nor by a process that dies", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const numbers = numbersOf(100)
      for (const number of numbers) yield* stage(owner, number, -30)
      const rehearsal = yield* rehearsed(owner, numbers, numbers, "IMPORT")
      const { follow } = yield* RehearsalOutcomes
      const dying = Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(follow(Duration.zero))
        yield* Effect.yieldNow
        yield* Fiber.interrupt(fiber)
        yield* follow(Duration.zero)
      })
      yield* Effect.raceFirst(
        Effect.forEach(numbers, (number) => created(owner, number, 4), { concurrency: 8 }),
        Effect.forever(Effect.all([dying, dying], { concurrency: 2 }))
      )
      const { counts, sums } = yield* counted(rehearsal.id)
      expect(counts).toEqual([
        { predicted: "SUCCEEDED", happened: "CREATED", finally: "IMPORTED", lines: 100 }
      ])
      expect(sums[0]).toMatchObject({ count: 100 })
    })
  )

  it.effect("counts nothing before a change is committed that began before the rehearsal", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      const { counts, follow } = yield* RehearsalOutcomes
      const { sql } = yield* Database
      const changing = Effect.gen(function* () {
        yield* sql`
          insert into import_processes (supplier, external_account_number, payload, staged_at)
          values (${owner.supplier.code}, 'a', '{}', now())`
        const rehearsal = yield* rehearsed(owner, ["a"], ["a"], "IMPORT")
        yield* follow(Duration.zero)
        expect((yield* counts(rehearsal.id)).counts).toEqual([])
        return rehearsal
      })
      const { id } = yield* sql.withTransaction(changing)
      expect((yield* counted(id)).counts).toMatchObject([{ finally: "PENDING", lines: 1 }])
    })
  )

  it.effect("forgets the hash of an erased line, and counts it as erased", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, "a", -30)
      const rehearsal = yield* rehearsed(owner, ["a", "b"], ["a", "b"], "IMPORT")
      yield* created(owner, "a", 4)
      yield* counted(rehearsal.id)
      expect(yield* erase(owner.keyOf("a"))).toMatchObject({ _tag: "Erased", lines: 1 })
      expect(yield* outcomeOf(rehearsal)).toEqual([
        [null, "ERASED", "ERASED"],
        ["b", "NOT_TRIED", "NEVER_STAGED"]
      ])
      const { sql } = yield* Database
      expect(
        yield* sql`select payload_hashes[1] is null as gone, payload_hashes[2] is null as other
          from batch_chunks where batch = ${rehearsal.id}`
      ).toEqual([{ gone: true, other: false }])
    })
  )

  it.effect("keeps the counts of the instant at which its lines were deleted", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, "a", -30)
      const rehearsal = yield* rehearsed(owner, ["a"], ["a"], "IMPORT")
      const before = yield* counted(rehearsal.id)
      const { deleteLines } = yield* Batches
      const redact = (text: string) => text
      yield* Effect.repeat(deleteLines({ endedBefore: noonPlus(60), redact }), {
        while: (areMore) => areMore
      })
      yield* created(owner, "a", 4)
      const { counts, follow } = yield* RehearsalOutcomes
      yield* follow(Duration.zero)
      const { at, ...after } = yield* counts(rehearsal.id)
      expect(after).toEqual({ counts: before.counts, sums: before.sums })
      expect(yield* counts(rehearsal.id)).toMatchObject({ at })
      expect(yield* pairsIn(rehearsal)).toEqual([["a", "CREATED", "IMPORTED"]])
    })
  )
}

layer(TestDatabase.deployedWithTeam, { excludeTestServices: true, timeout: "1 minute" })(
  "an outcome",
  (it) => {
    decided(it)
    followed(it)
  }
)
