/** Gives the events of the outbox their positions, and deletes old events. */
import { DateTime, Effect, Schema } from "effect"
import type { EventLog } from "@data-import/domain/ports/EventLog"
import { type Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

const lockRows = rowsOf(Schema.Struct({ isTaken: Schema.Boolean }))

const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/**
 * Has to run in a transaction. A separate statement takes the lock, so that the next one sees
 * everything that the last holder of the lock has committed. Ids are drawn while the row of the
 * import is locked, so the ids of one import's events are in the order of their commits. Only the
 * event of a webhook is stored with its organisation.
 */
export const assign = Effect.fnUntraced(function* (sql: Sql, limit: number) {
  const [lock] = yield* lockRows(sql`
    select pg_try_advisory_xact_lock(hashtextextended('data-import event positions', 0))
      as "isTaken"`)
  if (lock?.isTaken !== true) return 0
  const [assigned] = yield* countRows(sql`
    with waiting as materialized (
      select id, import_id, batch, organisation from outbox where position is null
      order by id limit ${limit}
    ), owned as materialized (
      select waiting.id, owner.code as supplier,
        coalesce(waiting.organisation, owner.organisation) as organisation
      from waiting
      left join lateral (
        select supplier from import_processes where import_processes.id = waiting.import_id offset 0
      ) as import on true
      left join lateral (
        select supplier from batches where batches.id = waiting.batch offset 0
      ) as of_batch on true
      left join lateral (
        select code, organisation from suppliers
        where code = coalesce(import.supplier, of_batch.supplier) offset 0
      ) as owner on true
    ), counted as materialized (
      select organisation, count(*) as events from owned group by organisation
    ), moved as (
      insert into event_heads as head (organisation, position)
      select organisation, events from counted order by organisation
      on conflict (organisation) do update set position = head.position + excluded.position
      returning organisation, position
    ), placed as materialized (
      select owned.id, owned.supplier, owned.organisation,
        moved.position - counted.events
          + row_number() over (partition by owned.organisation order by owned.id) as position
      from owned join counted on counted.organisation = owned.organisation
      join moved on moved.organisation = owned.organisation
    ), assigned as (
      update outbox set event_id = gen_random_uuid(), organisation = placed.organisation,
        import_supplier = placed.supplier, position = placed.position
      from placed where outbox.id = placed.id
      returning 1
    )
    select count(*)::int as count from assigned`)
  return assigned?.count ?? 0
})

const prunedRows = rowsOf(Schema.Struct({ organisation: Schema.String }))

/**
 * Deletes from the front of one organisation's events up to the first that is young enough. One
 * statement deletes them and reports what was deleted.
 */
export const prune = (sql: Sql, { before, limit }: Parameters<EventLog["Service"]["prune"]>[0]) => {
  const instant = DateTime.toDateUtc(before)
  return Effect.map(
    prunedRows(sql`
      with head as materialized (
        select organisation, pruned_through from event_heads
        where (select at from outbox where outbox.organisation = event_heads.organisation
          and outbox.position > pruned_through order by outbox.position limit 1) < ${instant}
        order by organisation limit 1 for no key update skip locked
      ), slice as materialized (
        select outbox.id, outbox.position, at from outbox, head
        where outbox.organisation = head.organisation and outbox.position > head.pruned_through
        order by outbox.position limit ${limit}
      ), old as materialized (
        select id, position from slice
        where position < coalesce((select min(position) from slice where at >= ${instant}),
          9223372036854775807)
      ), deleted as (
        delete from outbox using old where outbox.id = old.id
      )
      update event_heads set pruned_through = (select max(position) from old)
      from head where event_heads.organisation = head.organisation and exists (select from old)
      returning event_heads.organisation`),
    (pruned) => pruned.length > 0
  )
}
