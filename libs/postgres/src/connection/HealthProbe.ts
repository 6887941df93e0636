/**
 * What the circuit breaker asks of the database to know whether requests can be answered: a
 * connection of the pool that they use, whether its server takes writes, and the locks that their
 * statements take. It also measures the database's clock, so that no request is let in before the
 * time is known. After a failover it discards the connections that lead to the old server.
 */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import type { State } from "./CircuitBreaker.ts"
import type { DatabaseClock } from "./DatabaseClock.ts"
import { readOnly, sorted, troubleOf } from "./SqlFailure.ts"

/** How long a statement of the probe may take; a connection is waited for as long as it takes. */
const timeout = Duration.seconds(2)

/**
 * Takes every lock for a moment that a statement of this user can take on a table, so that it waits
 * where requests would wait.
 */
const takeLocks = `do $$
  declare place record;
  begin
    for place in
      select oid::regclass as name, has_table_privilege(oid, 'insert, update, delete') as is_written
      from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and has_any_column_privilege(oid, 'select, insert')
    loop
      if place.is_written then
        execute format('lock table %s in row exclusive mode', place.name);
      else
        execute format('select from %s limit 0', place.name);
      end if;
    end loop;
  end $$`

const answered = <A, E>(statement: Effect.Effect<A, E>) =>
  Effect.timeoutOrElse(statement, {
    duration: timeout,
    orElse: () => Effect.fail(new StorageUnavailable({ cause: new Error("No answer") }))
  })

/** The start of its postmaster tells servers apart that lie behind one address. */
const reading = `select extract(epoch from clock_timestamp())::float8 * 1000 as millis,
  current_setting('transaction_read_only')::boolean as "isReadOnly",
  pg_postmaster_start_time()::text as server`

const Reading = Schema.Struct({
  millis: Schema.Finite,
  isReadOnly: Schema.Boolean,
  server: Schema.String
})

const oneReading = Schema.decodeUnknownEffect(Schema.Tuple([Reading]))

/** What the probe works on. */
export interface Probed {
  readonly sql: PgClient.PgClient
  readonly clock: DatabaseClock
  /** Lets no statement begin on a connection that is open now. */
  readonly discardConnections: Effect.Effect<void>
}

/** Gives the server that was found, by what tells it from others. */
const ask = Effect.fnUntraced(function* (
  { clock, sql }: Omit<Probed, "discardConnections">,
  isOpen: boolean
) {
  const connection = yield* sql.reserve
  const sent = clock.monotonic()
  const rows = yield* answered(connection.execute(reading, [], undefined))
  const received = clock.monotonic()
  const [{ isReadOnly, millis, server }] = yield* oneReading(rows)
  if (isReadOnly) return yield* Effect.fail(readOnly)
  clock.set({ sent, received, shown: millis })
  if (isOpen) yield* answered(connection.executeUnprepared(takeLocks, [], undefined))
  return server
}, Effect.scoped)

/**
 * The state of the database that `sql` leads to. Where it was available it is so until it is known
 * not to be; where it was not, the probe must succeed whole. Connections are discarded when the
 * server is read-only, and when it is another than before: the pool may hold connections to both.
 */
export const probe = ({ discardConnections, ...probed }: Probed) => {
  let known: string | null = null

  const compare = (server: string) => {
    const isAnother = known !== null && known !== server
    known = server
    return isAnother ? discardConnections : Effect.void
  }

  return (present: State): Effect.Effect<State> =>
    sorted(Effect.flatMap(ask(probed, present !== "available"), compare)).pipe(
      Effect.as<State>("available"),
      Effect.catch((failure) => {
        const unclear = present === "available" ? "available" : "not_answering"
        const found: State = troubleOf(failure) ?? unclear
        return Effect.as(found === "read_only" ? discardConnections : Effect.void, found)
      }),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("The database could not be probed", cause), present)
      )
    )
}
