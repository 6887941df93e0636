/**
 * The statements of the hot paths find their rows by index, however many imports there are:
 * PostgreSQL itself counts the scans of whole tables.
 */
import { expect, layer } from "@effect/vitest"
import {
  Context,
  DateTime,
  Duration,
  Effect,
  Layer,
  Option,
  Redacted,
  Schema,
  Stream
} from "effect"
import { DetailedState, type ImportFilter } from "@data-import/domain/imports/ImportDetails"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import type { Caller } from "@data-import/domain/suppliers/Organisation"
import { AuditLog } from "@data-import/domain/audit/AuditLog"
import { SealedAuditLog } from "@data-import/domain/audit/SealedAuditLog"
import { Checks } from "@data-import/domain/checks/Checks"
import { EventLog, WebhookId } from "@data-import/domain/events/EventLog"
import type { IdempotencyKeys } from "@data-import/domain/idempotency/IdempotencyKeys"
import { freshKeyed, keepAs, reserve } from "@data-import/domain/testing/keyedRequests"
import { wireCode } from "@data-import/domain/suppliers/Supplier"
import { SupplierSummaries } from "@data-import/domain/migrations/SupplierSummaries"
import { Webhooks } from "@data-import/domain/events/Webhooks"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { ImportSearch } from "@data-import/domain/migrations/ImportSearch"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import {
  freshAttempt,
  freshSupplier,
  newAccountFor,
  noon,
  noonPlus
} from "@data-import/domain/testing/freshNames"
import { domesticAccount } from "@data-import/domain/testing/samples"
import { Database, rowsOf } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"
import { scansOf } from "./tableScans.ts"
import { stagedHash } from "@data-import/domain/testing/importStates"

const size = 5_000

/** A supplier with many imports, many of which have ended attempts. */
const fullSupplier = Effect.gen(function* () {
  const { run, sql } = yield* Database
  const configuration = yield* Configuration
  yield* Effect.ignore(configuration.createTeam("Migration Team"))
  const { caller, keyOf, supplier } = yield* freshSupplier
  yield* run(sql`
    with staged as (
      insert into import_processes
        (supplier, external_account_number, payload, payload_bytes, payload_hash, staged_at)
      select ${supplier.code}, 'n' || n, '{}', 2, sha256('{}'), ${DateTime.toDateUtc(noon)}
      from generate_series(1, ${size}::integer) n returning id
    ), tried as (
      insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome)
      select id, id::text, false, now(), now(), 'error' from staged
    ), told as (
      insert into outbox (at, name, import_id)
      select now(), 'data_import.import_process.error-v1', id from staged
    )
    insert into audit_log (at, organisation, api_key, request_id, action, outcome,
      import_supplier, external_account_number)
    select now(), 'o', 'k', 'r', 'process', 'error', ${supplier.code}, 'n' || n
    from generate_series(1, ${size}::integer) n`)
  yield* run(sql`vacuum analyze`)
  return { caller, keyOf }
})

class FullSupplier extends Context.Service<FullSupplier, Effect.Success<typeof fullSupplier>>()(
  "test/FullSupplier"
) {}

const world = Layer.effect(FullSupplier, fullSupplier).pipe(
  Layer.provideMerge(TestDatabase.layerCountedPorts(Duration.seconds(20)))
)

const scans = scansOf([
  "import_processes",
  "import_attempts",
  "import_failures",
  "import_totals",
  "audit_log",
  "outbox",
  "event_heads",
  "accounts",
  "transactions",
  "notes",
  "statements",
  "payment_instructions",
  "ledgers",
  "idempotency_keys"
])

const lease = Duration.minutes(1)

interface Given {
  readonly key: ImportKey
  readonly caller: Caller
}

const claimed = Effect.fnUntraced(function* ({ caller, key }: Given, limit: number | null) {
  const imports = yield* ImportProcesses
  const attempt = freshAttempt()
  const limits = { deployment: limit, supplier: limit }
  const command = { key, attempt, dryRun: false, lease, limits, caller, at: noon }
  expect((yield* imports.claim(command))._tag).toBe("Claimed")
  return attempt
})

const filters: ReadonlyArray<ImportFilter> = [
  {},
  ...DetailedState.literals.map((state) => ({ state })),
  { failed: true },
  { failed: false },
  { code: "error" },
  { stagedAfter: noon }
]

type Ports =
  | ImportProcesses
  | ImportSearch
  | AuditLog
  | SealedAuditLog
  | Checks
  | EventLog
  | IdempotencyKeys
  | SupplierSummaries
  | Webhooks
  | Database

const operations: Record<string, (given: Given) => Effect.Effect<unknown, unknown, Ports>> = {
  stage: ({ caller, key }) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const other = { ...key, external_account_number: `${key.external_account_number}!` }
      yield* imports.stage({ key, payload: "{}", hash: stagedHash, caller, at: noon })
      yield* imports.stage({
        key: other as ImportKey,
        payload: "{}",
        hash: stagedHash,
        caller,
        at: noon
      })
    }),
  "a staging whose answer is kept": ({ caller, key }) =>
    Effect.gen(function* () {
      const { stage } = yield* ImportProcesses
      const { reservation } = yield* reserve(freshKeyed(caller.organisation))
      const recorder = keepAs(reservation, "201")
      yield* stage({ key, payload: "{}", hash: stagedHash, caller, at: noon, recorder })
    }),
  "finding an import of one's own": ({ caller: { organisation }, key }) =>
    Effect.gen(function* () {
      const { external_account_number: number, import_supplier } = key
      const supplier = wireCode(import_supplier)
      const found = yield* (yield* ImportProcesses).findOwn({ organisation, supplier, number })
      expect(Option.isSome(found)).toBe(true)
    }),
  find: ({ key }) => Effect.flatMap(ImportProcesses, (imports) => imports.find(key)),
  "claim, renew and release": (given) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const attempt = yield* claimed(given, null)
      yield* imports.renew({ ...given, attempt, at: noonPlus(30), until: noonPlus(90) })
      const end = { outcome: "error", errors: [], dryRun: false, at: noon } as const
      yield* imports.release({ ...given, attempt, ...end })
    }),
  "claim within limits": (given) => claimed(given, 1_000),
  complete: (given) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const attempt = yield* claimed(given, null)
      const account = domesticAccount(given.key)
      const newAccount = { ...newAccountFor(given.key, noonPlus(1)), account }
      yield* imports.complete({ ...given, attempt, newAccount })
    }),
  "a page of every list": ({ key }) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const page = { supplier: key.import_supplier, after: "n2", limit: 50 }
      for (const kind of ["all", "pending", "imported"] as const) {
        yield* Stream.runDrain(imports.list({ ...page, kind }))
        for (const filter of filters) {
          const detailed = { filter, details: "with attempts", at: noon } as const
          yield* Stream.runDrain(imports.list({ ...page, kind, detailed }))
        }
      }
    }),
  "the balances of accounts, and what a revert would end": (given) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const { balances, wave } = yield* ImportSearch
      const attempt = yield* claimed(given, null)
      yield* imports.complete({ ...given, attempt, newAccount: newAccountFor(given.key, noon) })
      const supplier = given.key.import_supplier
      expect(yield* Stream.runCount(balances({ supplier, cohort: null }))).toBeGreaterThan(0)
      expect(yield* Stream.runCount(balances({ supplier, cohort: "wave-1" }))).toBe(0)
      const whole = { supplier, cohort: null, closedThrough: noon }
      expect(yield* Stream.runCount(wave(whole))).toBeGreaterThan(0)
    }),
  "the details of one import": ({ key }) =>
    Effect.flatMap(ImportProcesses, (imports) => imports.details(key, 10)),
  "the positions, reading and deletion of events": ({ caller: { organisation } }) =>
    Effect.gen(function* () {
      const log = yield* EventLog
      yield* log.waitingSince
      expect(yield* log.assignPositions(50)).toBeGreaterThan(0)
      const all = { organisation, after: null, limit: 10, supplier: null, name: null }
      yield* log.read(all)
      yield* log.read({ ...all, name: "data_import.import_process.complete-v1" })
      yield* log.prune({ before: noon, limit: 10 })
      const later = DateTime.add(yield* DateTime.now, { days: 1 })
      expect(yield* log.prune({ before: later, limit: 10 })).toBe(true)
    }),
  "the delivery of events to a webhook": ({ caller: { organisation } }) =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      yield* (yield* EventLog).assignPositions(50)
      const at = yield* DateTime.now
      const { id } = yield* webhooks.create({
        id: WebhookId.make(crypto.randomUUID()),
        organisation,
        url: "https://receiver.example/",
        suppliers: null,
        names: null,
        allowsPrivate: false,
        createdAt: at,
        secret: Redacted.make("whsec_AAAA")
      })
      yield* webhooks.replay({ id, events: { next: 1, to: 9 } })
      for (const retries of [[1, 2, 3], []]) {
        const until = DateTime.add(at, { seconds: 30 })
        const { lease, webhook } = Option.getOrThrow(yield* webhooks.take({ at, until }))
        const waiting = retries.map((position) => ({ position, attempts: 1, dueAt: at }))
        const rest = { wasReplaying: true, ended: [], retries: waiting }
        yield* webhooks.finish({ lease, at, progress: { ...webhook, replay: null }, ...rest })
      }
      yield* webhooks.disable(id)
    }),
  "the summary of a supplier": ({ caller, key }) =>
    Effect.gen(function* () {
      const summaries = yield* SupplierSummaries
      const attempt = yield* claimed({ caller, key }, null)
      const end = { outcome: "invalid", errors: [], dryRun: false, at: noon } as const
      yield* (yield* ImportProcesses).release({ key, attempt, caller, ...end })
      for (const cohort of [null, "wave-1"]) {
        yield* summaries.read({ supplier: key.import_supplier, cohort, at: noon })
      }
      expect(yield* summaries.fold({ limit: 50, at: noon })).toBeGreaterThan(0)
      yield* summaries.read({ supplier: key.import_supplier, cohort: null, at: noon })
    }),
  "the deletion of payloads": (given) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const attempt = yield* claimed(given, null)
      const newAccount = newAccountFor(given.key, noon)
      yield* imports.complete({ ...given, attempt, newAccount })
      const importedBefore = noonPlus(1)
      expect(yield* imports.deletePayloads({ importedBefore, limit: 1 })).toBe(true)
    }),
  "the scheduled checks": (given) =>
    Effect.gen(function* () {
      const imports = yield* ImportProcesses
      const attempt = yield* claimed(given, null)
      yield* imports.complete({ ...given, attempt, newAccount: newAccountFor(given.key, noon) })
      const { accounts, batches, eventsWaitingSince } = yield* Checks
      expect(yield* accounts({ after: 0n, limit: 10 })).not.toHaveLength(0)
      yield* batches({ after: 0n, limit: 10 })
      const { entries, leaves, seal } = yield* SealedAuditLog
      expect(yield* seal(200)).toBe(200)
      expect(yield* entries({ after: 100n, limit: 10 })).toHaveLength(10)
      expect(yield* leaves({ after: 100n, limit: 10 })).toHaveLength(10)
      yield* eventsWaitingSince
    }),
  "the history of one import": ({ key }) =>
    Effect.gen(function* () {
      const log = yield* AuditLog
      expect(yield* log.audit(key)).not.toHaveLength(0)
      yield* (yield* SealedAuditLog).entriesOf(key)
      expect(yield* log.attempts(key)).not.toHaveLength(0)
      expect(yield* log.events(key)).not.toHaveLength(0)
    })
}

/** More often than PostgreSQL replans a statement before it keeps a plan. */
const times = 8

const cases = Object.entries(operations).map(
  ([name, operation], index) => [name, operation, 100 + index * times] as const
)

layer(world, { excludeTestServices: true })("a sequential scan", (it) => {
  it.effect.each(cases)("does not happen in %s", ([, operation, first]) =>
    Effect.gen(function* () {
      const { caller, keyOf } = yield* FullSupplier
      const before = yield* scans
      for (let index = first; index < first + times; index++) {
        yield* operation({ key: keyOf(`n${index}`), caller })
      }
      expect(yield* scans).toStrictEqual(before)
    })
  )

  it.effect("of the supplier's other imports is not needed to find the failed ones", () =>
    Effect.gen(function* () {
      const { run, sql } = yield* Database
      const imports = yield* ImportProcesses
      const { caller, keyOf } = yield* fullSupplier
      const key = keyOf("n4999")
      const attempt = yield* claimed({ key, caller }, null)
      const end = { outcome: "error", errors: [], dryRun: false, at: noon } as const
      yield* imports.release({ key, attempt, caller, ...end })
      const read = Effect.gen(function* () {
        yield* run(sql`select pg_stat_force_next_flush()`)
        const [row] = yield* run(
          rowsOf(Schema.Struct({ read: Schema.BigInt }))(sql`
            select sum(idx_tup_read)::bigint as read from pg_stat_user_indexes
            where relname = 'import_processes'`)
        )
        return row?.read ?? 0n
      })
      const before = yield* read
      const query = { supplier: key.import_supplier, kind: "all", after: null, limit: 10 } as const
      for (const filter of [{ failed: true }, { code: "error" }]) {
        const detailed = { filter, details: "none", at: noon } as const
        const found = yield* Stream.runCollect(imports.list({ ...query, detailed }))
        expect(found).toHaveLength(1)
      }
      expect((yield* read) - before).toBeLessThan(50n)
    })
  )

  it.effect("is noticed by this test", () =>
    Effect.gen(function* () {
      const { run, sql } = yield* Database
      const before = yield* scans
      yield* run(sql`select count(*) from import_processes where payload::text = 'x'`)
      expect(yield* scans).not.toStrictEqual(before)
    })
  )
})
