/** The operator on a storage in memory, or on PostgreSQL: command lines and their results. */
import { layerMemory as accounts } from "@data-import/domain/testing/memory/Accounts"
import { layerMemory as apiKeys } from "@data-import/domain/testing/memory/ApiKeys"
import { layerMemory as auditHeads } from "@data-import/domain/testing/memory/AuditHeadStore"
import { layerMemory as auditLog } from "@data-import/domain/testing/memory/AuditLog"
import { layerMemory as batches } from "@data-import/domain/testing/memory/Batches"
import { layerMemory as checks } from "@data-import/domain/testing/memory/Checks"
import { layerMemory as importProcesses } from "@data-import/domain/testing/memory/ImportProcesses"
import { MemoryStore } from "@data-import/domain/testing/memory/Store"
import { layerMemory as configuration } from "@data-import/domain/testing/memory/Configuration"
import { layerMemory as eventLog } from "@data-import/domain/testing/memory/EventLog"
import { layerMemory as sealedAuditLog } from "@data-import/domain/testing/memory/SealedAuditLog"
import { layerMemory as webhooks } from "@data-import/domain/testing/memory/Webhooks"
import { layerMemory as tokens } from "@data-import/domain/testing/memory/TokenSigner"
import { BoardSessions } from "@data-import/domain/access/BoardSessions"
import { Reverts } from "@data-import/domain/imports/Reverts"
import { Erasures } from "@data-import/domain/erasure/Erasures"
import { ControlTotals } from "@data-import/domain/migrations/ControlTotals"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { SteppedClock } from "@data-import/postgres/testing/SteppedClock"
import * as TestDatabase from "@data-import/postgres/testing/TestDatabase"
import * as Storage from "@data-import/postgres/Storage"
import * as TokenSecrets from "@data-import/server/auth/TokenSecrets"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { ConfigProvider, Context, DateTime, Effect, Exit, Layer, Redacted } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { run } from "../Operator.ts"
import type { Ports } from "../Storage.ts"

/** The storage of most tests, without the ports that have no adapter in memory. */
export const memory = Layer.mergeAll(
  configuration,
  apiKeys,
  importProcesses,
  Layer.mock(Erasures)({}),
  Layer.mock(Reverts)({}),
  accounts,
  auditLog,
  auditHeads,
  batches,
  Layer.mock(BoardSessions)({}),
  checks,
  sealedAuditLog,
  eventLog,
  webhooks,
  Layer.mock(ControlTotals)({}),
  Layer.mock(SupplierSummaries)({}),
  tokens,
  MemoryStore.layer
)

/**
 * Runs command lines one after the other on a storage, each with what it printed and how it ended.
 */
export const operatorOn = (storage: Layer.Layer<Ports>) =>
  Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const before = { out: yield* TestConsole.logLines, err: yield* TestConsole.errorLines }
    const exit = yield* Effect.exit(
      Effect.provide(run(args, storage, "tester"), NodeServices.layer)
    )
    const out = (yield* TestConsole.logLines).slice(before.out.length).join("\n")
    const err = (yield* TestConsole.errorLines).slice(before.err.length).join("\n")
    return { done: Exit.isSuccess(exit), out, err }
  })

/** The operator with a database user, as a deployment has one. */
export const operatorAs = (user: Redacted.Redacted) => {
  const settings = { DATABASE_URL: Redacted.value(user), DATABASE_POOL_SIZE: "2" }
  return operatorOn(
    Storage.layer.pipe(
      Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(settings))),
      Layer.orDie,
      Layer.merge(TokenSecrets.layer),
      Layer.merge(auditHeads)
    )
  )
}

const started = DateTime.makeUnsafe("2026-03-01T12:00:00Z")

const on = Effect.fnUntraced(function* <A>(ports: Context.Context<Ports | A>) {
  const operator = operatorOn(Layer.succeedContext(ports))
  const done = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
    const { done, err, out } = yield* operator(...args)
    expect({ done, err }, args.join(" ")).toEqual({ done: true, err: "" })
    return out
  })
  const json = (...args: ReadonlyArray<string>) =>
    Effect.map(done(...args, "--json"), (out): unknown => JSON.parse(out))
  /** Expects a refusal: nothing on stdout, the reason on stderr, and another exit status than 0. */
  const refused = Effect.fnUntraced(function* (
    args: ReadonlyArray<string>,
    reason: string | RegExp
  ) {
    const { done, err, out } = yield* operator(...args)
    expect({ done, out }, args.join(" ")).toEqual({ done: false, out: "" })
    expect(err).toMatch(reason)
  })
  return { ports, done, json, refused }
})

/** A new storage, and the operator on it. */
export const arrange = Effect.gen(function* () {
  yield* TestClock.setTime(started.epochMilliseconds)
  return yield* on(yield* Layer.build(memory))
})

/** A new database, and the operator on it. */
export const arrangeDeployed = Effect.gen(function* () {
  const storage = Layer.mergeAll(
    TestDatabase.deployedWithTeam,
    auditHeads,
    tokens,
    SteppedClock.layer
  )
  const ports = yield* TestClock.withLive(Layer.build(storage))
  yield* Context.get(ports, SteppedClock).set(started)
  return yield* on(ports)
})
