/** Gives the events of the outbox their positions, and deletes old events. */
import { DateTime, Effect, Schema } from "effect"
import type { EventLog } from "@data-import/domain/events/EventLog"
import { type Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

const lockedRows = rowsOf(Schema.Struct({ organisation: Schema.String }))

const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/**
 * Locks the organisations whose events wait, except those that another transaction assigns or
 * empties.
 */
const lockOrganisations = (sql: Sql) =>
  lockedRows(sql`
    with recursive waiting as (
      (select organisation from outbox where position is null order by organisation limit 1)
      union all
      select (
        select organisation from outbox
        where position is null and outbox.organisation > waiting.organisation
        order by organisation limit 1
      ) from waiting where organisation is not null
    )
    select organisation from waiting
    where organisation is not null and pg_try_advisory_xact_lock(
      hashtextextended('data-import event positions ' || organisation, 0))`)

/**
 * Has to run in a transaction. A separate statement takes the locks, so that the next one sees
 * everything that the last holder of a lock has committed. Ids are drawn while the row of the
 * import is locked, so the ids of one import's events are in the order of their commits. Events are
 * taken in turn over the organisations.
 */
export const assign = Effect.fnUntraced(function* (sql: Sql, limit: number) {
  const locked = yield* lockOrganisations(sql)
  if (locked.length === 0) return 0
  const [assigned] = yield* countRows(sql`
    with waiting as materialized (
      select found.id, locked.organisation,
        row_number() over (partition by locked.organisation order by found.id) as turn
      from unnest(${locked.map(({ organisation }) => organisation)}::text[])
        as locked(organisation),
      lateral (
        select id from outbox
        where position is null and outbox.organisation = locked.organisation
        order by id limit ${limit}
      ) as found
      order by turn, found.id limit ${limit}
    ), counted as materialized (
      select organisation, count(*) as events from waiting group by organisation
    ), moved as (
      insert into event_heads as head (organisation, position)
      select organisation, events from counted order by organisation
      on conflict (organisation) do update set position = head.position + excluded.position
      returning organisation, position
    ), placed as materialized (
      select waiting.id, moved.position - counted.events + turn as position
      from waiting join counted using (organisation) join moved using (organisation)
    ), assigned as (
      update outbox set event_id = gen_random_uuid(), position = placed.position
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
