/** How statements fail, what is never revealed about them, and texts that cannot be stored. */
import { expect, it, layer } from "@effect/vitest"
import { Cause, Clock, Effect, Logger, Option, References, Schema, Stream } from "effect"
import { ConnectionError, SqlError, UnknownError } from "effect/sql/SqlError"
import type { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { ApiKeyId } from "@data-import/domain/suppliers/Organisation"
import { ApiKeys } from "@data-import/domain/access/ApiKeys"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { freshSupplier, freshSupplierCode, noon } from "@data-import/domain/testing/freshNames"
import { claim, stageAll, stagedHash } from "@data-import/domain/testing/importStates"
import { Database, rowsOf } from "../src/connection/Database.ts"
import { classifyFailures, StatementFailed } from "../src/connection/SqlFailure.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const failedWith = (code: string | undefined): SqlError =>
  new SqlError({
    reason: new UnknownError({ cause: Object.assign(new Error("no"), { code }), message: "no" })
  })

const passing = [
  "08006",
  "25006",
  "25P03",
  "40001",
  "40P01",
  "53300",
  "53400",
  "55P03",
  "57014",
  "57P01",
  "57P02",
  "57P03",
  "58030"
]

it.effect.each(passing)(
  "SQLSTATE %s makes storage unavailable, so the request may be sent again",
  (code) =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(classifyFailures(Effect.fail(failedWith(code))))
      expect(failure).toBeInstanceOf(StorageUnavailable)
      const inRollback = yield* Effect.flip(classifyFailures(Effect.die(failedWith(code))))
      expect(inRollback).toBeInstanceOf(StorageUnavailable)
    })
)

it.effect.each(["22P02", "23502", "23505", "42601", "42501", "XX000", undefined])(
  "SQLSTATE %s is a defect",
  (code) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(classifyFailures(Effect.fail(failedWith(code))))
      expect(exit).toMatchObject({ cause: { reasons: [{ defect: { _tag: "StatementFailed" } }] } })
    })
)

it.effect("typed failures of a port are passed on unchanged", () =>
  Effect.gen(function* () {
    expect(yield* Effect.flip(classifyFailures(Effect.fail("refused" as const)))).toBe("refused")
    const lost = new SqlError({ reason: new ConnectionError({ cause: "gone" }) })
    const failure = yield* Effect.flip(classifyFailures(Effect.fail<string | SqlError>(lost)))
    expect(failure).toBeInstanceOf(StorageUnavailable)
  })
)

const secret = "Astrid Vestergaard-Holm"

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("a failed statement", (it) => {
  const failing = [
    `insert into organisations values ('${secret}', now())`,
    `insert into operations_teams select repeat('${secret}', 100)`,
    `select '${secret}'::json`,
    `select '${secret}'::timestamptz`,
    `select * from "${secret}"`
  ]
  it.effect.each(failing)("does not quote its data: %s", (statement) =>
    Effect.gen(function* () {
      const { run, sql } = yield* Database
      const exit = yield* Effect.exit(run(sql.unsafe(statement)))
      const cause = exit._tag === "Failure" ? exit.cause : Cause.empty
      const [reason] = cause.reasons
      expect(reason).toMatchObject({ defect: expect.any(StatementFailed) })
      const message = `${Cause.pretty(cause)} ${JSON.stringify(cause)}`
      expect(message).not.toContain("Astrid")
    })
  )

  it.effect("is logged by its code if the request is refused for it", () =>
    Effect.gen(function* () {
      const entries: Array<unknown> = []
      const logger = Logger.make<unknown, void>(({ fiber, message }) => {
        const { sql_state } = fiber.getRef(References.CurrentLogAnnotations)
        entries.push([message, sql_state])
      })
      const { batched, run, sql } = yield* Database
      const locked = sql.unsafe(
        `do $$ begin raise lock_not_available using message = '${secret}'; end $$`
      )
      yield* Effect.gen(function* () {
        const write = batched<number, never>({
          identity: String,
          run: () => Effect.as(locked, []),
          limits: { slots: 1, commands: 1 }
        })
        yield* Effect.flip(run(locked))
        yield* Effect.flip(write(1))
      }).pipe(Effect.scoped, Effect.provideService(Logger.CurrentLoggers, new Set([logger])))
      const entry = [["a request is refused, since the database failed its statement"], "55P03"]
      expect(entries).toEqual([entry, entry])
    })
  )

  it.effect("is a defect if a row does not match its schema", () =>
    Effect.gen(function* () {
      const { run, sql } = yield* Database
      const numbers = rowsOf(Schema.Struct({ count: Schema.Int }))
      const exit = yield* Effect.exit(run(numbers(sql`select ${secret} as count`)))
      expect(exit._tag === "Failure" && Cause.hasDies(exit.cause)).toBe(true)
      expect(JSON.stringify(exit)).not.toContain("Astrid")
    })
  )
})

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "a write that may run alone",
  (it) => {
    const batching = {
      identity: String,
      weight: Number,
      limits: { slots: 1, commands: 4, weight: 9 }
    }

    it.effect("does so if its batch was contended", () =>
      Effect.gen(function* () {
        const { batched, runOnce } = yield* Database
        const failures = [failedWith("55P03")]
        const run = (commands: ReadonlyArray<number>) =>
          Effect.suspend(() => {
            const failure = failures.pop()
            return failure === undefined ? Effect.succeed(commands) : Effect.fail(failure)
          })
        const write = batched({ ...batching, run, alone: runOnce })
        expect(yield* write(1)).toBe(1)
      })
    )

    it.effect("does not wait for a slot if it weighs more than a batch may", () =>
      Effect.gen(function* () {
        const { batched, runOnce } = yield* Database
        const run = (commands: ReadonlyArray<number>) =>
          commands.includes(1) ? Effect.never : Effect.succeed(commands)
        const write = batched({ ...batching, run, alone: runOnce })
        yield* Effect.forkScoped(write(1), { startImmediately: true })
        expect(yield* write(10)).toBe(10)
      })
    )
  }
)

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "text that PostgreSQL cannot store",
  (it) => {
    const impossible = ["a\0b", "\0", "\uD83D", "a\uDE00"]
    it.effect.each(impossible.map((text) => [JSON.stringify(text), text] as const))(
      "is not found, without a defect: %s",
      ([, text]) =>
        Effect.gen(function* () {
          const imports = yield* ImportProcesses
          const configuration = yield* Configuration
          const keys = yield* ApiKeys
          const log = yield* AuditLog
          const { supplier } = yield* freshSupplier
          const number = text as ExternalAccountNumber
          const key = { import_supplier: supplier.code, external_account_number: number }
          expect(Option.isNone(yield* imports.find(key))).toBe(true)
          expect(Option.isNone(yield* configuration.supplier(text as SupplierCode))).toBe(true)
          expect(yield* configuration.hasTeam(text)).toBe(false)
          expect(Option.isNone(yield* keys.findByHash(text))).toBe(true)
          expect(Option.isNone(yield* keys.findEnd(ApiKeyId.make(text)))).toBe(true)
          expect(yield* log.audit(key)).toStrictEqual([])
        })
    )

    it.effect("is a valid start position of a list", () =>
      Effect.gen(function* () {
        const imports = yield* ImportProcesses
        const { caller, keyOf, supplier } = yield* freshSupplier
        yield* stageAll(["a", "a!", "b"].map(keyOf), caller)
        const query = { supplier: supplier.code, kind: "all", limit: null } as const
        const rest = yield* Stream.runCollect(imports.list({ ...query, after: "a\0z" }))
        expect(rest.map((entry) => entry.external_account_number)).toStrictEqual(["a!", "b"])
      })
    )
  }
)

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })("a staged payload", (it) => {
  it.effect("is stored even if another one in its batch fails", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* freshSupplier
      const orphan = { ...keyOf("orphan"), import_supplier: freshSupplierCode() }
      const numbers = Array.from({ length: 40 }, (_, index) => keyOf(`n${index % 30}`))
      const staged = yield* Effect.forEach(
        [...numbers.slice(0, 20), orphan, ...numbers.slice(20)],
        (key) =>
          Effect.exit(
            imports.stage({ key, payload: JSON.stringify(key), hash: stagedHash, caller, at: noon })
          ),
        { concurrency: "unbounded" }
      )
      const outcomes = staged.map((exit) => (exit._tag === "Success" ? exit.value._tag : "Died"))
      expect(outcomes[20]).toBe("Died")
      const counted = (tag: string) => outcomes.filter((outcome) => outcome === tag).length
      expect([counted("Created"), counted("Replaced")]).toStrictEqual([30, 10])
      for (const key of numbers.slice(0, 30)) {
        const { claim: claimed } = yield* claim(key, caller, noon)
        expect(claimed).toStrictEqual({ _tag: "Claimed", payload: JSON.stringify(key) })
      }
    })
  )
})

/** A clock on which every look takes a millisecond. */
const busyClock = Effect.map(Clock.Clock, (clock): Clock.Clock => {
  let millis = 0
  return Object.assign(Object.create(clock) as Clock.Clock, {
    currentTimeMillisUnsafe: () => millis++
  })
})

const decodeNumbers = rowsOf(Schema.Struct({ number: Schema.Int }))
const numbers = (count: number) => Array.from({ length: count }, (_, number) => ({ number }))

it.effect.each([0, 1, 8, 9, 5_000])("%i rows are decoded in order", (count) =>
  Effect.gen(function* () {
    expect(yield* decodeNumbers(Effect.succeed(numbers(count)))).toEqual(numbers(count))
  })
)

it.effect.each([1, 5_000])("one of %i rows that does not match its schema is a defect", (count) =>
  Effect.gen(function* () {
    const rows: Array<{ readonly number: unknown }> = numbers(count)
    rows[count - 1] = { number: "1" }
    const exit = yield* Effect.exit(classifyFailures(decodeNumbers(Effect.succeed(rows))))
    const message = "A row does not match its schema"
    expect(exit).toMatchObject({ cause: { reasons: [{ defect: { message } }] } })
  })
)

it.effect("many rows are decoded in steps, and other fibers run in between", () =>
  Effect.gen(function* () {
    let isOver = false
    let turns = 0
    const tick = () => {
      turns += 1
      if (!isOver) setImmediate(tick)
    }
    setImmediate(tick)
    const decoding = decodeNumbers(Effect.succeed(numbers(5_000)))
    yield* Effect.provideService(decoding, Clock.Clock, yield* busyClock)
    isOver = true
    expect(turns).toBeGreaterThan(100)
  })
)
