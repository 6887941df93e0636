/** Events over HTTP, on a database. Source: docs/contract/events.md. */
import { expect, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { EventLog } from "@data-import/domain/events/EventLog"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { stageAll, stagedHash } from "@data-import/domain/testing/importStates"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { list, listed, serviceWith } from "./eventsService.ts"

const stage = ({ caller, keyOf }: Tenant, ...numbers: ReadonlyArray<string>) =>
  stageAll(numbers.map(keyOf), caller)

/** Waits until this many events of the tenant have positions. */
const untilThere = (tenant: Tenant, count: number) =>
  Effect.repeat(list(tenant, "?limit=1000"), {
    until: (reply) => listed(reply).events.length >= count
  })

const numbersIn = (reply: Parameters<typeof listed>[0]) =>
  listed(reply).events.map((event) => event["external_account_number"])

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })("events", (it) => {
  it.effect("are answered without personal data", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const imports = yield* ImportProcesses
      const key = tenant.keyOf("A-1")
      const at = DateTime.makeUnsafe("2026-11-23T09:14:07Z")
      const payload = '{"customers": [{"given_name": "Ada"}]}'
      yield* imports.stage({
        key,
        payload,
        hash: stagedHash,
        caller: tenant.caller,
        at,
        cohort: "wave-3"
      })
      const reply = yield* untilThere(tenant, 1)
      const { events, next_after } = listed(reply)
      expect([reply.status, next_after]).toEqual([200, 1])
      expect(events).toEqual([
        {
          event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          position: 1,
          name: "data_import.import_process.staged-v1",
          at: "2026-11-23T09:14:07Z",
          organisation: tenant.organisation,
          ...key,
          kraken_account_number: null,
          cohort: "wave-3",
          batch_id: null,
          dry_run: null,
          webhook_id: null,
          codes: []
        }
      ])
    })
  )

  it.effect("are read from a position, as many as asked for", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      for (const number of ["a", "b", "c"]) yield* stage(tenant, number)
      yield* untilThere(tenant, 3)
      const first = yield* list(tenant, "?limit=2")
      expect([numbersIn(first), listed(first).next_after]).toEqual([["a", "b"], 2])
      const second = yield* list(tenant, "?after=2")
      expect([numbersIn(second), listed(second).next_after]).toEqual([["c"], 3])
      expect(listed(yield* list(tenant, "?after=3"))).toEqual({ events: [], next_after: 3 })
    })
  )

  it.effect("are answered during a wait", () =>
    Effect.gen(function* () {
      const tenant = yield* freshTenant()
      const [waited] = yield* Effect.all([list(tenant, "?wait=20"), stage(tenant, "a")], {
        concurrency: "unbounded"
      })
      expect(numbersIn(waited)).toEqual(["a"])
    })
  )
})

/** Deletes what is older than a day, which the service does only later. */
const pruneAll = Effect.gen(function* () {
  const log = yield* EventLog
  const before = DateTime.subtract(yield* DateTime.now, { days: 1 })
  yield* Effect.repeat(log.prune({ before, limit: 10 }), { while: (areMore) => areMore })
})

layer(serviceWith({}), { excludeTestServices: true, timeout: "1 minute" })(
  "events that were deleted",
  (it) => {
    it.effect("are refused with 410 after a position whose events were deleted", () =>
      Effect.gen(function* () {
        const tenant = yield* freshTenant()
        const imports = yield* ImportProcesses
        const at = DateTime.makeUnsafe("2020-01-01T00:00:00Z")
        const old = {
          key: tenant.keyOf("old"),
          payload: "{}",
          hash: stagedHash,
          caller: tenant.caller,
          at
        }
        yield* imports.stage(old)
        yield* untilThere(tenant, 1)
        yield* imports.stage({ ...old, key: tenant.keyOf("new"), at: yield* DateTime.now })
        yield* untilThere(tenant, 2)
        yield* pruneAll
        const { json, status } = yield* list(tenant, "?after=0")
        expect([status, json]).toMatchObject([410, { code: "events_pruned", oldest_after: 1 }])
        expect(numbersIn(yield* list(tenant, "?after=1"))).toEqual(["new"])
        expect(numbersIn(yield* list(tenant))).toEqual(["new"])
      })
    )
  }
)
