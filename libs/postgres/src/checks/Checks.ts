/**
 * What the scheduled checks read from PostgreSQL and store there. Every scan is in the order of a
 * key.
 */
import { DateTime, Effect, Layer, Schema } from "effect"
import { AccountNumber } from "@data-import/domain/accounts/Account"
import { PayloadHash } from "@data-import/domain/imports/ImportProcess"
import { BatchId } from "@data-import/domain/batches/Batch"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import {
  type Conclusion,
  checkKinds,
  Checks,
  ofEachCheck,
  walks
} from "@data-import/domain/checks/Checks"
import { Database, rowsOf } from "../connection/Database.ts"
import { waitingSince } from "../events/EventLog.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]
type Port = Checks["Service"]
type Slice = Parameters<Port["accounts"]>[0]

const accountRows = rowsOf(
  Schema.Struct({
    subject: Schema.BigInt,
    number: AccountNumber,
    supplier: Schema.NullOr(SupplierCode),
    balance: Schema.BigDecimalFromString,
    effects: Schema.BigDecimalFromString,
    hash: Schema.NullOr(PayloadHash),
    entry: Schema.NullOr(Schema.String)
  })
)

/**
 * The sum of the ledgers and transactions of `account`. The historical transactions of a ledger add
 * up to its last statement's balance, so that balance counts only for a ledger without them.
 */
const effects = `
  coalesce((select sum(effect_on_balance) from transactions where account_id = account.id), 0)
  + coalesce((
    select sum(last_statement_balance) from ledgers
    where account_id = account.id and not exists (
      select from transactions
      where transactions.account_id = account.id and ledger_position = ledgers.position
        and origin = 'historical_statement')), 0)
  + case when exists (select from ledgers where account_id = account.id) then 0
    else coalesce(transfer_balance, 0) end`

/** Imports are looked up one by one, because plans are kept while tables grow. */
const accounts = (sql: Sql, { after, limit }: Slice) =>
  accountRows(sql`
    select account.id as subject, number, supplier, balance::text,
      (${sql.literal(effects)})::text as effects,
      encode(case when account.id = process.account_id then process.payload_hash
        else account.payload_hash end, 'hex') as hash, entry
    from (
      select id, import_id, number, balance, transfer_balance, payload_hash, entry from accounts
      where id > ${after} order by id limit ${limit}
    ) as account
    left join lateral (
      select supplier, account_id, payload_hash from import_processes
      where id = account.import_id limit 1
    ) as process on true
    order by account.id`)

const Count = Schema.Int

const batchRows = rowsOf(
  Schema.Struct({
    subject: Schema.BigInt,
    id: BatchId,
    supplier: SupplierCode,
    stored: Schema.Struct({
      received: Count,
      succeeded: Count,
      already: Count,
      failed: Count,
      cancelled: Count
    }),
    counted: Schema.Struct({
      received: Count,
      succeeded: Count,
      already: Count,
      failed: Count,
      cancelled: Count,
      remaining: Count
    })
  })
)

const outcomes = ["succeeded", "already", "failed", "cancelled"] as const

const storedCounts = ["received", ...outcomes].map((name) => `'${name}', ${name}`).join(", ")

const countedOutcomes = outcomes
  .map(
    (name) => `'${name}', coalesce(sum(cardinality(
      array_positions(outcomes, '${name.toUpperCase()}'))), 0)`
  )
  .join(", ")

const batches = (sql: Sql, { after, limit }: Slice) =>
  batchRows(sql`
    select number as subject, id, supplier,
      json_build_object(${sql.literal(storedCounts)}) as stored, counted
    from (
      select number, id, supplier, received, succeeded, already, failed, cancelled from batches
      where number > ${after} order by number limit ${limit}
    ) as batch
    cross join lateral (
      select json_build_object('received', coalesce(sum(line_count), 0),
        'remaining', coalesce(sum(unfinished), 0), ${sql.literal(countedOutcomes)}) as counted
      from batch_chunks where batch = batch.id
    ) as lines
    order by number`)

const positionRows = rowsOf(Schema.Struct({ position: Schema.BigInt }))

/** The update locks the row, so that only one of several instances runs the check. */
const begin = (sql: Sql, { at, pause, walk }: Parameters<Port["begin"]>[0]) =>
  Effect.map(
    positionRows(sql`
      update check_walks set begun_at = ${DateTime.toDateUtc(at)}
      where walk = ${walk}
        and (begun_at <= ${DateTime.toDateUtc(DateTime.subtractDuration(at, pause))}
          or begun_at >= ${DateTime.toDateUtc(DateTime.addDuration(at, pause))})
      returning position`),
    ([row]) => row?.position ?? null
  )

const foundRows = rowsOf(
  Schema.Struct({ subject: Schema.BigInt, check: Schema.Literals(checkKinds) })
)

/** Stores the differences, and returns the new ones. */
const keep = Effect.fnUntraced(function* (
  sql: Sql,
  { at, differences, walk }: Parameters<Port["conclude"]>[0]
) {
  if (differences.length === 0) return []
  const found = recordSet(sql, "found", differences, {
    subject: ["bigint", ({ subject }) => String(subject)],
    kind: ["text", ({ check }) => check],
    supplier: ["text", ({ supplier }) => supplier],
    detail: ["text", ({ detail }) => detail]
  })
  yield* sql`
    update check_differences as present set supplier = found.supplier, detail = found.detail
    from ${found}
    where walk = ${walk} and found.subject = present.subject and found.kind = present.kind`
  const inserted = yield* foundRows(sql`
    insert into check_differences (walk, subject, kind, supplier, detail, found_at)
    select ${walk}, subject, kind, supplier, detail, ${DateTime.toDateUtc(at)}::timestamptz
    from ${found}
    on conflict on constraint check_differences_pkey do nothing
    returning subject, kind as check`)
  return differences.filter(({ check, subject }) =>
    inserted.some((each) => each.check === check && each.subject === subject)
  )
})

/** In a transaction. */
const conclude = Effect.fnUntraced(function* (sql: Sql, command: Parameters<Port["conclude"]>[0]) {
  const { after, at, differences, moves, through, walk } = command
  const found = recordSet(sql, "found", differences, {
    subject: ["bigint", ({ subject }) => String(subject)],
    kind: ["text", ({ check }) => check]
  })
  yield* sql`
    delete from check_differences as present
    where walk = ${walk} and subject > ${after}
      and (${through}::bigint is null or subject <= ${through}::bigint)
      and not exists (
        select from ${found} where found.subject = present.subject and found.kind = present.kind)`
  const isNew = yield* keep(sql, command)
  const moved = moves
    ? yield* positionRows(sql`
        update check_walks
        set position = ${through ?? 0n}, begun_at = ${DateTime.toDateUtc(at)}
        where walk = ${walk} and position = ${after} returning position`)
    : []
  return { found: isNew, moved: moved.length > 0 } satisfies Conclusion
})

const differenceRows = rowsOf(
  Schema.Struct({
    walk: Schema.Literals(walks),
    check: Schema.Literals(checkKinds),
    subject: Schema.BigInt,
    supplier: Schema.NullOr(Schema.String),
    detail: Schema.String,
    foundAt: Schema.DateTimeUtcFromDate,
    name: Schema.NullOr(Schema.String)
  })
)

const differences = (sql: Sql, { limit, walk }: Parameters<Port["differences"]>[0]) =>
  differenceRows(sql`
    select walk, kind as check, subject, supplier, detail, found_at as "foundAt",
      case walk
        when 'accounts' then (select number from accounts where id = subject)
        when 'batches' then (select id::text from batches where number = subject)
        when 'audit_log' then (
          select organisation from audit_log where audit_log.position = subject limit 1)
      end as name
    from check_differences where walk = coalesce(${walk}, walk)
    order by found_at, walk, subject, kind
    limit ${Number.isFinite(limit) ? limit : null}::bigint`)

const countRows = rowsOf(Schema.Struct({ check: Schema.Literals(checkKinds), count: Schema.Int }))

const standing = (sql: Sql) =>
  Effect.map(
    countRows(sql`
      select kind as check, count(*)::integer as count from check_differences group by kind`),
    (rows) => {
      const counts = new Map(rows.map(({ check, count }) => [check, count]))
      return ofEachCheck((check) => counts.get(check) ?? 0)
    }
  )

export const layer: Layer.Layer<Checks, never, Database> = Layer.effect(
  Checks,
  Effect.map(Database, (database) => {
    const { run, sql } = database
    return Checks.of({
      accounts: (slice) => run(accounts(sql, slice)),
      batches: (slice) => run(batches(sql, slice)),
      eventsWaitingSince: run(waitingSince(sql)),
      begin: (turn) => run(begin(sql, turn)),
      conclude: (command) => run(sql.withTransaction(conclude(sql, command))),
      differences: (page) => run(differences(sql, page)),
      standing: run(standing(sql))
    })
  })
)
