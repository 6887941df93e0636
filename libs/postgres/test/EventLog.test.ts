/** The contract of the event log, and transactions that commit late. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Deferred, Duration, Effect, Fiber, Ref } from "effect"
import { makeEventUpkeep } from "@data-import/domain/events/EventUpkeep"
import { EventLog } from "@data-import/domain/events/EventLog"
import { eventLogContract } from "@data-import/domain/testing/EventLogContract"
import { freshSupplier, sandboxOf, noon } from "@data-import/domain/testing/freshNames"
import { stageAll } from "@data-import/domain/testing/importStates"
import { Database } from "../src/connection/Database.ts"
import { whileLocked } from "../testing/standstill.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

eventLogContract("in PostgreSQL", TestDatabase.deployed)

type Owner = Effect.Success<typeof freshSupplier>

/** A supplier with one import; the event of its staging has its position. */
const owner = Effect.gen(function* () {
  const found = yield* freshSupplier
  yield* stageAll([found.keyOf("a")], found.caller)
  yield* assignAll
  return found
})

const assignAll = Effect.flatMap(
  EventLog,
  (log) => makeEventUpkeep(log, Duration.days(90)).assignAll
)

const page = Effect.fnUntraced(function* ({ caller }: Owner, after: number) {
  const log = yield* EventLog
  const { organisation } = caller
  const found = yield* log.read({ organisation, after, limit: 7, supplier: null, name: null })
  if (found._tag !== "Page") throw new Error(`The answer is ${found._tag}`)
  return found
})

/** Stores an event with this code in a transaction, does the rest, and commits. */
const storing = Effect.fnUntraced(function* <E, R>(
  { supplier }: Owner,
  code: string,
  rest: Effect.Effect<unknown, E, R>
) {
  const { sql } = yield* Database
  const store = sql`
    insert into outbox (at, name, import_id, codes)
    select now(), 'data_import.import_process.staged-v1', id, array[${code}]
    from import_processes where supplier = ${supplier.code}`
  yield* sql.withTransaction(Effect.andThen(store, rest))
})

const codesIn = ({ events }: Effect.Success<ReturnType<typeof page>>) =>
  events.flatMap(({ codes }) => codes)

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "a transaction that commits late",
  (it) => {
    it.effect("has its event after those that were read before", () =>
      Effect.gen(function* () {
        const mine = yield* owner
        const stored = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const wait = Effect.andThen(Deferred.succeed(stored, undefined), Deferred.await(gate))
        const late = yield* Effect.forkChild(storing(mine, "late", wait))
        yield* Deferred.await(stored)
        yield* storing(mine, "early", Effect.void)
        yield* assignAll
        const first = yield* page(mine, 1)
        expect(codesIn(first)).toEqual(["early"])
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(late)
        yield* assignAll
        const second = yield* page(mine, first.nextAfter)
        expect(codesIn(second)).toEqual(["late"])
        expect(second.nextAfter).toBe(3)
      })
    )

    it.effect("is read once, under concurrent writes, positioning and reads", () =>
      Effect.gen(function* () {
        const mine = yield* owner
        const codes = Array.from({ length: 120 }, (_, index) => `c${index}`)
        const isOver = yield* Ref.make(false)
        const write = Effect.forEach(
          codes,
          (code, index) => storing(mine, code, Effect.sleep(Duration.millis((index * 7) % 23))),
          { concurrency: 6, discard: true }
        )
        const keepAssigning = Effect.repeat(assignAll, { until: () => Ref.get(isOver) })
        const readAll = Effect.gen(function* () {
          const seen: Array<string> = []
          for (let after = 1; seen.length < codes.length;) {
            const found = yield* page(mine, after)
            seen.push(...codesIn(found))
            after = found.nextAfter
          }
          return seen
        })
        const assigning = yield* Effect.forkChild(
          Effect.all([keepAssigning, keepAssigning], { concurrency: 2 })
        )
        const [, seen] = yield* Effect.all([write, readAll], { concurrency: 2 })
        yield* Ref.set(isOver, true)
        yield* Fiber.join(assigning)
        expect(seen.toSorted()).toEqual(codes.toSorted())
        expect((yield* page(mine, codes.length + 1)).events).toEqual([])
      })
    )
  }
)

const numbered = ({ keyOf }: Owner, count: number) =>
  Array.from({ length: count }, (_, index) => keyOf(`n${index}`))

layer(TestDatabase.layerAllPorts, { excludeTestServices: true })(
  "events of several organisations",
  (it) => {
    it.effect("get their positions while the test organisation of one is emptied", () =>
      Effect.gen(function* () {
        const live = yield* freshSupplier
        const sandbox = yield* sandboxOf(live)
        const { apiKey, organisation } = sandbox.caller
        yield* stageAll(numbered(sandbox, 3), sandbox.caller)
        const assigned = yield* whileLocked(
          (sql) => sql`select empty_sandbox(
          ${organisation}, ${apiKey}, 'r', ${DateTime.toDateUtc(noon)}, 1)`,
          Effect.gen(function* () {
            yield* stageAll(numbered(live, 2), live.caller)
            return yield* (yield* EventLog).assignPositions(2)
          })
        )
        expect(assigned).toBe(2)
        expect((yield* page(live, 0)).events).toHaveLength(2)
      })
    )

    it.effect("get their positions in turn", () =>
      Effect.gen(function* () {
        yield* assignAll
        const [many, few] = [yield* freshSupplier, yield* freshSupplier]
        yield* stageAll(numbered(many, 20), many.caller)
        yield* stageAll(numbered(few, 2), few.caller)
        yield* (yield* EventLog).assignPositions(6)
        expect((yield* page(few, 0)).events).toHaveLength(2)
        expect((yield* page(many, 0)).events).toHaveLength(4)
      })
    )
  }
)
