/** What every adapter of `EventLog` must do. */
import { describe, expect, layer as withLayer, type Vitest } from "@effect/vitest"
import { DateTime, Duration, Effect, type Layer } from "effect"
import { releaseCodes } from "../src/events/Event.ts"
import { makeEventUpkeep } from "../src/events/EventUpkeep.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import type { Batches } from "../src/batches/Batches.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { EventLog, type EventPage, type EventQuery } from "../src/events/EventLog.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import { cancelled, started } from "./begunBatches.ts"
import { freshSupplier, newAccountFor, noon, noonPlus, supplierOf, times } from "./freshNames.ts"
import { claim, stageAll, stagedContent } from "./importStates.ts"

type Ports = EventLog | ImportProcesses | Batches | Configuration | AuditLog
type It = Vitest.MethodsNonLive<Ports>
type Owner = Effect.Success<typeof freshSupplier>

const upkeep = Effect.map(EventLog, (log) => makeEventUpkeep(log, Duration.days(90)))

const assignAll = Effect.flatMap(upkeep, (each) => each.assignAll)

const read = Effect.fnUntraced(function* ({ caller }: Owner, query: Partial<EventQuery> = {}) {
  const log = yield* EventLog
  const all = { after: null, limit: 1_000, supplier: null, name: null }
  return yield* log.read({ organisation: caller.organisation, ...all, ...query })
})

const page = (found: EventPage) => {
  if (found._tag !== "Page") throw new Error(`The answer is ${found._tag}`)
  return found
}

const short = (name: string): string => name.replace(/^data_import\.|-v1$/g, "")

const said = (found: EventPage) => page(found).events.map(({ name }) => short(name))

const stage = Effect.fnUntraced(function* (
  { caller, keyOf }: Owner,
  number: string,
  { at = noon, cohort = null }: { at?: DateTime.Utc; cohort?: string | null } = {}
) {
  const imports = yield* ImportProcesses
  const key = keyOf(number)
  yield* imports.stage({ key, ...stagedContent, caller, at, cohort })
  return key
})

/** Stages `count` imports and assigns positions to their events. */
const withEvents = Effect.fnUntraced(function* (count: number) {
  const owner = yield* freshSupplier
  yield* stageAll(
    Array.from({ length: count }, (_, index) => owner.keyOf(`n${index}`)),
    owner.caller
  )
  yield* assignAll
  return owner
})

const reading = (it: It): void => {
  it.effect("has each step of an import in order", () =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      yield* Effect.ignore((yield* Configuration).createTeam("Migration Team"))
      const owner = yield* freshSupplier
      const { caller } = owner
      const key = yield* stage(owner, "a", { cohort: "wave-3" })
      const failed = yield* claim(key, caller, noon)
      const errors = [{ attr: "x", code: "required" as const }]
      const outcome = "account_failed_validation"
      yield* imports.release({ ...failed, key, outcome, errors, dryRun: false, caller, at: noon })
      const { attempt } = yield* claim(key, caller, noonPlus(1))
      const newAccount = { ...newAccountFor(key, noonPlus(2)), customerEmails: true }
      yield* imports.complete({ key, attempt, newAccount, caller })
      yield* assignAll
      const { events, nextAfter } = page(yield* read(owner))
      expect(events.map(({ position }) => position)).toEqual([1, 2, 3, 4])
      expect(nextAfter).toBe(4)
      expect(events.map(({ name }) => short(name))).toEqual([
        "import_process.staged",
        "import_process.error",
        "import_process.complete",
        "import_process.customer_email_due"
      ])
      const none: ReadonlyArray<string> = []
      const codes = [none, releaseCodes(outcome, errors), none, none]
      expect(events.map((event) => event.codes)).toEqual(codes)
      expect(events.map(({ accountNumber }) => accountNumber)).toEqual([
        null,
        null,
        newAccount.number,
        newAccount.number
      ])
      for (const event of events) {
        expect(event).toMatchObject({
          organisation: caller.organisation,
          supplier: key.import_supplier,
          externalAccountNumber: "a",
          cohort: "wave-3",
          batch: null,
          isDryRun: null
        })
      }
      expect(events.map(({ at }) => DateTime.formatIso(at)).at(-1)).toBe("2026-01-01T12:00:02.000Z")
      expect(new Set(events.map(({ id }) => id)).size).toBe(4)
    })
  )

  it.effect("has the steps of a batch, with its cohort and whether it is a dry run", () =>
    Effect.gen(function* () {
      const batch = yield* started(["a"], { operation: "IMPORT", dryRun: true })
      yield* cancelled(batch)
      yield* assignAll
      const owner = { ...(yield* freshSupplier), caller: batch.caller }
      const { events } = page(yield* read(owner))
      expect(events.map(({ name }) => short(name))).toEqual(["batch.started", "batch.cancelled"])
      for (const event of events) {
        expect(event).toMatchObject({
          batch: batch.id,
          supplier: batch.supplier.code,
          cohort: "first wave",
          isDryRun: true,
          externalAccountNumber: null,
          accountNumber: null
        })
      }
    }).pipe(Effect.scoped)
  )

  it.effect("shows an organisation only its own events", () =>
    Effect.gen(function* () {
      const mine = yield* withEvents(2)
      const other = yield* withEvents(3)
      expect(said(yield* read(mine))).toHaveLength(2)
      expect(said(yield* read(mine, { supplier: other.supplier.code }))).toEqual([])
      expect(yield* read(mine, { after: 3 })).toEqual({ _tag: "Unknown", newest: 2 })
    })
  )
}

const filtering = (it: It): void => {
  it.effect("by supplier and name return matching events, and continue after others", () =>
    Effect.gen(function* () {
      const setup = yield* Configuration
      const owner = yield* freshSupplier
      const second = supplierOf(owner.supplier.organisation)
      yield* setup.createSupplier(second)
      yield* stage(owner, "a")
      const elsewhere = {
        ...owner,
        keyOf: (number: string) => ({
          ...owner.keyOf(number),
          import_supplier: second.code
        })
      }
      yield* stage(elsewhere, "b")
      yield* stage(owner, "c")
      yield* assignAll
      const ofSecond = page(yield* read(owner, { supplier: second.code }))
      expect(ofSecond.events.map(({ externalAccountNumber }) => externalAccountNumber)).toEqual([
        "b"
      ])
      expect(ofSecond.nextAfter).toBe(3)
      const name = "data_import.import_process.complete-v1"
      expect(yield* read(owner, { name })).toEqual({ _tag: "Page", events: [], nextAfter: 3 })
      const staged = "data_import.import_process.staged-v1"
      const first = page(yield* read(owner, { name: staged, limit: 1 }))
      expect([first.events.length, first.nextAfter]).toEqual([1, 1])
    })
  )
}

const assigning = (it: It): void => {
  it.effect("makes events visible, and reports since when the oldest waits", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      yield* assignAll
      expect(yield* log.waitingSince).toBeNull()
      const owner = yield* freshSupplier
      yield* stage(owner, "a", { at: noonPlus(5) })
      yield* stage(owner, "b", { at: noonPlus(6) })
      expect(said(yield* read(owner))).toEqual([])
      expect((yield* log.waitingSince)?.epochMilliseconds).toBe(noonPlus(5).epochMilliseconds)
      expect(yield* log.assignPositions(1)).toBe(1)
      expect(said(yield* read(owner))).toHaveLength(1)
      expect(yield* assignAll).toBe(1)
      expect(yield* assignAll).toBe(0)
      expect(said(yield* read(owner))).toHaveLength(2)
    })
  )

  it.effect("gives each event one position, also in concurrent instances", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const owner = yield* freshSupplier
      const keys = Array.from({ length: 60 }, (_, index) => owner.keyOf(`n${index}`))
      yield* stageAll(keys, owner.caller)
      const counts = yield* Effect.all(times(8, log.assignPositions(10)), {
        concurrency: "unbounded"
      })
      const more = yield* assignAll
      expect(counts.reduce((sum, count) => sum + count, more)).toBe(60)
      const { events } = page(yield* read(owner))
      expect(events.map(({ position }) => position)).toEqual(keys.map((_, index) => index + 1))
    })
  )
}

const pruning = (it: It): void => {
  const pruneAll = (before: DateTime.Utc, limit = 2) =>
    Effect.flatMap(EventLog, ({ prune }) =>
      Effect.repeat(prune({ before, limit }), { while: (areMore) => areMore })
    )

  it.effect("deletes old events up to the first recent one, and never reuses a position", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      for (const [index, second] of [0, 1, 2, 90, 3].entries()) {
        yield* stage(owner, `n${index}`, { at: noonPlus(second) })
        yield* assignAll
      }
      yield* pruneAll(noonPlus(60))
      expect(yield* read(owner, { after: 2 })).toEqual({ _tag: "Pruned", oldestAfter: 3 })
      const positions = (found: EventPage) => page(found).events.map(({ position }) => position)
      expect(positions(yield* read(owner, { after: 3 }))).toEqual([4, 5])
      expect(positions(yield* read(owner))).toEqual([4, 5])
      yield* pruneAll(noonPlus(100))
      expect(yield* read(owner)).toEqual({ _tag: "Page", events: [], nextAfter: 5 })
      expect(yield* read(owner, { after: 5 })).toEqual({ _tag: "Page", events: [], nextAfter: 5 })
      yield* stage(owner, "later", { at: noonPlus(200) })
      yield* assignAll
      expect(positions(yield* read(owner, { after: 5 }))).toEqual([6])
    })
  )

  it.effect("keeps events without a position, however old", () =>
    Effect.gen(function* () {
      const owner = yield* freshSupplier
      yield* stage(owner, "a")
      yield* pruneAll(noonPlus(60))
      yield* assignAll
      expect(said(yield* read(owner))).toHaveLength(1)
    })
  )
}

/** Declares the suite under `name`; the layer is built once for all of it. */
export const eventLogContract = <E>(name: string, layer: Layer.Layer<Ports, E>): void =>
  withLayer(layer, { excludeTestServices: true, timeout: "1 minute" })(
    `EventLog, ${name}`,
    (it) => {
      describe("read", () => reading(it))
      describe("filters", () => filtering(it))
      describe("assignPositions", () => assigning(it))
      describe("prune", () => pruning(it))
    }
  )
