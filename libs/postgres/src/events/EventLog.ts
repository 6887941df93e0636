/**
 * The event log in PostgreSQL: the rows of the outbox with a position. A row gets its position in a
 * transaction after the one that stored it. One such transaction runs at a time for each
 * organisation.
 */
import { type DateTime, Effect, Layer, Schema } from "effect"
import { EventLog, type EventPage, type EventQuery } from "@data-import/domain/events/EventLog"
import { Database, rowsOf } from "../connection/Database.ts"
import { eventColumns, eventJoins, EventRow, Position } from "./EventRow.ts"
import * as Positions from "./Positions.ts"

type Sql = Database["Service"]["sql"]

const headRows = rowsOf(
  Schema.Struct({ newest: Position, pruned: Position, scanned: Schema.NullOr(Position) })
)

const eventRows = rowsOf(EventRow)

/** How many events a filtered read looks at, so that rare events cost no long statement. */
const scanLimit = 5_000

/**
 * One row for each event, or one without an event. It is one statement, so that no event is deleted
 * between the look at the head and the read.
 */
const rowsFor = (sql: Sql, { after, limit, name, organisation, supplier }: EventQuery) => {
  const isFiltered = supplier !== null || name !== null
  return sql<{ readonly id: string | null }>`
    with head as materialized (
      select coalesce(max(position), 0) as newest, coalesce(max(pruned_through), 0) as pruned
      from event_heads where organisation = ${organisation}
    ), scanned as materialized (
      select outbox.* from outbox
      where organisation = ${organisation}
        and position > coalesce(${after}::bigint, (select pruned from head))
      order by position limit ${isFiltered ? Math.max(limit, scanLimit) : limit}
    ), found as materialized (
      select scanned.* from scanned
      where (${supplier}::text is null or import_supplier = ${supplier})
        and (${name}::text is null or name = ${name})
      order by position limit ${limit}
    )
    select newest::text, pruned::text, (select max(position) from scanned)::text as scanned,
      ${eventColumns(sql)}
    from head left join found on true ${eventJoins(sql)}
    order by found.position`
}

const read = Effect.fnUntraced(function* (sql: Sql, query: EventQuery) {
  const { after, limit } = query
  const rows = yield* rowsFor(sql, query)
  const [head] = yield* headRows(Effect.succeed(rows.slice(0, 1)))
  if (head === undefined) return yield* Effect.die(new Error("The head of the events is missing"))
  const { newest, pruned, scanned } = head
  if (after !== null && after > newest) return { _tag: "Unknown", newest } satisfies EventPage
  if (after !== null && after < pruned) {
    return { _tag: "Pruned", oldestAfter: pruned } satisfies EventPage
  }
  const events = yield* eventRows(Effect.succeed(rows.filter(({ id }) => id !== null)))
  const last = events.length === limit ? events.at(-1)?.position : undefined
  const nextAfter = last ?? scanned ?? after ?? pruned
  return { _tag: "Page", events, nextAfter } satisfies EventPage
})

const waitingRows = rowsOf(Schema.Struct({ at: Schema.DateTimeUtcFromDate }))

export const waitingSince = (sql: Sql) =>
  Effect.map(
    waitingRows(sql`select at from outbox where position is null order by id limit 1`),
    ([oldest]): DateTime.Utc | null => oldest?.at ?? null
  )

export const layer: Layer.Layer<EventLog, never, Database> = Layer.effect(
  EventLog,
  Effect.map(Database, ({ run, sql }) =>
    EventLog.of({
      read: (query) => run(read(sql, query)),
      assignPositions: (limit) => run(sql.withTransaction(Positions.assign(sql, limit))),
      waitingSince: run(waitingSince(sql)),
      prune: (command) => run(Positions.prune(sql, command))
    })
  )
)
