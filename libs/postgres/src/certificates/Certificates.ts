/** Certificates in PostgreSQL. */
import { DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { AccountNumber, type ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import {
  type CertificateId,
  certificateLimits,
  Certificates,
  type Signed,
  type Snapshot
} from "@data-import/domain/certificates/Certificates"
import { certificateEvent } from "@data-import/domain/events/Event"
import { CertificateLimitExceeded } from "@data-import/domain/requests/Failure"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { Database, isStorable, rowsOf } from "../connection/Database.ts"
import { classifyFailures } from "../connection/SqlFailure.ts"
import * as ErasureLock from "../tables/ErasureLock.ts"
import { keepInTransaction } from "../idempotency/StoredAnswers.ts"
import { hashesIn } from "../tables/Hashes.ts"
import { recordSet } from "../tables/RecordSet.ts"
import { certificateColumns, certificatesIn } from "./CertificateRow.ts"
import { makeSnapshot } from "./Snapshots.ts"

type Sql = Database["Service"]["sql"]
type Port = Certificates["Service"]

const columns = (sql: Sql) => sql.literal(certificateColumns)

/** While as many are computed as may be. */
const retryRunningAfter = 15

const limitRows = rowsOf(
  Schema.Struct({ running: Schema.Int, oldest: Schema.NullOr(Schema.DateTimeUtcFromDate) })
)

/** With the new one, which is rolled back if it is too many. */
const withinLimits = Effect.fnUntraced(function* (
  sql: Sql,
  { at, caller: { organisation }, supplier }: Parameters<Port["request"]>[0]
) {
  const { ofSupplierInDay, running } = certificateLimits
  const yesterday = DateTime.subtract(at, { days: 1 })
  const [found] = yield* limitRows(sql`
    select (
      select count(*)::integer from certificates
      where status = 'RUNNING' and organisation = ${organisation}
    ) as running, (
      select requested_at from certificates
      where supplier = ${supplier} and requested_at > ${DateTime.toDateUtc(yesterday)}
      order by number desc offset ${ofSupplierInDay} limit 1
    ) as oldest`)
  if (found === undefined) return
  if (found.oldest !== null) {
    const free = DateTime.distance(yesterday, found.oldest)
    const retryAfterSeconds = Math.max(1, Math.ceil(Duration.toSeconds(free)))
    return yield* new CertificateLimitExceeded({ retryAfterSeconds })
  }
  if (found.running > running) {
    return yield* new CertificateLimitExceeded({ retryAfterSeconds: retryRunningAfter })
  }
})

const request = Effect.fnUntraced(function* (sql: Sql, command: Parameters<Port["request"]>[0]) {
  const { at, caller, cohort, id, issuer, recorder, supplier } = command
  // Two requests of an organisation see each other.
  const lock = `certificates ${caller.organisation}`
  yield* sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`
  const [record] = yield* certificatesIn(sql`
    insert into certificates (id, organisation, supplier, cohort, issued_by, requested_at)
    values (${id}::uuid, ${caller.organisation}, ${supplier}, ${cohort}, ${JSON.stringify(issuer)},
      ${DateTime.toDateUtc(at)})
    on conflict on constraint certificates_id_once do nothing
    returning ${columns(sql)}`)
  if (record === undefined) {
    const [present] = yield* certificatesIn(sql`
      select ${columns(sql)} from certificates where id = ${id}::uuid`)
    return present ?? (yield* Effect.die(new Error("The certificate was not stored")))
  }
  yield* withinLimits(sql, command)
  const key = { import_supplier: supplier, external_account_number: null }
  const entry = { at, caller, action: "issue_certificate", outcome: "created", key } as const
  yield* sql`${auditEntry(sql, entry, sql``)}`
  yield* keepInTransaction(sql, recorder, record, at)
  return record
})

const list = (sql: Sql, { before, cohort, limit, supplier }: Parameters<Port["list"]>[0]) =>
  certificatesIn(sql`
    select ${columns(sql)} from certificates
    where supplier = ${supplier} ${cohort === undefined ? sql`` : sql`and cohort = ${cohort}`} ${
      before === null
        ? sql``
        : sql`and number < (
            select number from certificates where id = ${before}::uuid and supplier = ${supplier})`
    }
    order by number desc limit ${limit}`)

/**
 * Of a supplier and cohort only the oldest is taken, so that each knows the one before it.
 * Organisations take turns: the one whose last certificate ended longest ago comes first. One that
 * takes longer than its lease stays with the worker that reports how far it is.
 */
const take = (sql: Sql, { at, until }: Parameters<Port["take"]>[0]) =>
  certificatesIn(sql`
    update certificates set leased_until = ${DateTime.toDateUtc(until)}
    where number = (
      select number from certificates as oldest
      where status = 'RUNNING' and leased_until <= ${DateTime.toDateUtc(at)} and not exists (
        select from certificates as other
        where other.status = 'RUNNING' and other.supplier = oldest.supplier
          and other.cohort is not distinct from oldest.cohort and other.number < oldest.number)
        and not exists (
          select from certificate_progress
          where certificate = oldest.id and oldest.leased_until > '-infinity'
            and reported_at > now() - interval '30 seconds')
        and ${ErasureLock.mayCopy(sql, sql`oldest.supplier`)}
      order by (
        select max(ended_at) from certificates as ended
        where ended.organisation = oldest.organisation
      ) nulls first, number
      limit 1 for no key update skip locked)
    returning ${columns(sql)}`)

/** It takes minutes at most, so it is no statement that the pool waits for. */
const certify = <E>(
  database: Database["Service"],
  id: CertificateId,
  at: DateTime.Utc,
  work: (snapshot: Snapshot) => Effect.Effect<Signed, E>
) => {
  const { sql } = database
  const certifying = Effect.gen(function* () {
    yield* sql`set transaction isolation level repeatable read`
    const [record] = yield* certificatesIn(sql`
      select ${columns(sql)} from certificates where id = ${id}::uuid and status = 'RUNNING'`)
    if (record === undefined) return
    const { content, jws } = yield* work(yield* makeSnapshot(database, record, at))
    const ended = DateTime.toDateUtc(yield* DateTime.now)
    yield* sql`
      update certificates set status = 'ISSUED', ended_at = ${ended},
        content = ${JSON.stringify(content)}, jws = ${jws}
      where id = ${id}::uuid`
    yield* sql`
      insert into outbox (at, name, certificate, organisation, import_supplier)
      select ${ended}, ${certificateEvent}, id, organisation, supplier
      from certificates where id = ${id}::uuid`
  })
  return classifyFailures(sql.withTransaction(certifying))
}

const Text = Schema.NullOr(Schema.String)
const boundRows = rowsOf(Schema.Struct({ hash: Schema.Uint8Array, first: Text, last: Text }))
const blockRows = rowsOf(Schema.Struct({ leaves: Schema.Uint8Array, numbers: Schema.Array(Text) }))

const inRange = (
  sql: Sql,
  id: CertificateId,
  { from, limit }: { readonly from: number; readonly limit: number }
) => sql`
  from certificate_blocks
  where certificate = ${id}::uuid and block >= ${from} and block < ${from + limit} order by block`

const bounds = (sql: Sql, id: CertificateId, range: Parameters<Port["bounds"]>[1]) =>
  boundRows(sql`
    select hash, numbers[1] as first, numbers[cardinality(numbers)] as last
    ${inRange(sql, id, range)}`)

const entryRows = rowsOf(Schema.Struct({ block: Schema.Int, entries: Schema.Array(Schema.String) }))

const entriesOf = (sql: Sql, id: CertificateId, number: ExternalAccountNumber) =>
  entryRows(sql`
    select block, array(
      select entry from certificate_entries
      where supplier = certificates.supplier and external_account_number = ${number}) as entries
    from certificates join certificate_blocks on certificate = certificates.id
    where certificates.id = ${id}::uuid and ${number} = any(numbers)`).pipe(
    Effect.map(([found]) => Option.fromNullishOr(found))
  )

const missingRows = rowsOf(Schema.Struct({ account: AccountNumber, revision: Schema.Int }))
const keyRows = rowsOf(Schema.Struct({ kid: Schema.String, x: Schema.String }))

const addKeys = (sql: Sql, ...[keys, at]: Parameters<Port["addKeys"]>) => {
  const added = recordSet(sql, "added", keys, {
    kid: ["text", ({ kid }) => kid],
    x: ["text", ({ x }) => x]
  })
  return sql`
    insert into certificate_keys (kid, x, added_at)
    select kid, x, ${DateTime.toDateUtc(at)} from ${added}
    on conflict on constraint certificate_keys_pkey do nothing`
}

export const layer: Layer.Layer<Certificates, never, Database> = Layer.effect(
  Certificates,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    return Certificates.of({
      request: (command) => run(sql.withTransaction(request(sql, command))),
      find: (organisation, id) =>
        run(
          Effect.map(
            certificatesIn(sql`
              select ${columns(sql)} from certificates
              where id = ${id}::uuid and organisation = ${organisation}`),
            ([found]) => Option.fromNullishOr(found)
          )
        ),
      list: (page) => run(list(sql, page)),
      newestIssued: (supplier) =>
        run(
          Effect.map(
            certificatesIn(sql`
              select ${columns(sql)} from certificates
              where supplier = ${supplier} and status = 'ISSUED'
              order by cohort is not null, number desc limit 1`),
            ([found]) => Option.fromNullishOr(found)
          )
        ),
      take: (turn) => run(Effect.map(take(sql, turn), ([found]) => Option.fromNullishOr(found))),
      certify: (id, at, work) => certify(database, id, at, work),
      report: (id, { done, total }) =>
        run(
          Effect.asVoid(sql`
            insert into certificate_progress (certificate, done, total)
            values (${id}::uuid, ${done}, ${total})
            on conflict on constraint certificate_progress_pkey do update
            set done = excluded.done, total = excluded.total, reported_at = now()`)
        ),
      fail: (id, at, failure) =>
        run(
          Effect.asVoid(sql`
            update certificates set status = 'FAILED', ended_at = ${DateTime.toDateUtc(at)},
              failure = ${failure}
            where id = ${id}::uuid and status = 'RUNNING'`)
        ),
      bounds: (id, range) => run(bounds(sql, id, range)),
      blocks: (id, range) =>
        run(
          Effect.map(blockRows(sql`select leaves, numbers ${inRange(sql, id, range)}`), (blocks) =>
            blocks.map(({ leaves, numbers }) => ({ leaves: hashesIn(leaves), numbers }))
          )
        ),
      entriesOf: (id, number) =>
        isStorable(number) ? run(entriesOf(sql, id, number)) : Effect.succeedNone,
      withoutEntry: (limit) =>
        run(
          missingRows(sql`
            select number as account, revision from accounts
            where entry is null and erased_at is null and reverted_at is null
            order by id limit ${limit}`)
        ),
      storeEntry: (account, revision, { entry: { members, sums }, hash }) =>
        run(
          Effect.asVoid(sql`
            update accounts set entry = ${members}, entry_sums = ${JSON.stringify(sums)},
              entry_hash = decode(${hash}, 'hex')
            where number = ${account} and revision = ${revision} and entry is null
              and erased_at is null and reverted_at is null`)
        ),
      keys: run(keyRows(sql`select kid, x from certificate_keys order by added_at, kid`)),
      addKeys: (keys, at) =>
        keys.length === 0 ? Effect.void : run(Effect.asVoid(addKeys(sql, keys, at)))
    })
  })
)
