/**
 * The probe of the circuit breaker. It takes a connection of the requests' pool, checks that the
 * server takes writes, and takes the locks that statements take. It also measures the database's
 * clock, so that no request is admitted before the time is known. After a failover it discards the
 * connections to the old server.
 */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import type { State } from "./CircuitBreaker.ts"
import type { DatabaseClock } from "./DatabaseClock.ts"
import { answeredWithin, isNoAnswer } from "./Deadline.ts"
import { readOnly, classifyFailures, outageOf } from "./SqlFailure.ts"

/**
 * How long a statement of the probe may take. It waits for no lock while the breaker is closed, so
 * a database that does not answer in this time is silent. The wait for a connection has no limit
 * here.
 */
const timeout = Duration.seconds(2)

/** Takes every table lock that statements of this user take, to wait where requests would wait. */
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

const answered = <A, E>(statement: Effect.Effect<A, E>) => answeredWithin(statement, timeout)

/** The start time of the postmaster identifies a server behind a shared address. */
const reading = `select extract(epoch from clock_timestamp())::float8 * 1000 as millis,
  current_setting('transaction_read_only')::boolean as "isReadOnly",
  pg_postmaster_start_time()::text as server`

const Reading = Schema.Struct({
  millis: Schema.Finite,
  isReadOnly: Schema.Boolean,
  server: Schema.String
})

const oneReading = Schema.decodeUnknownEffect(Schema.Tuple([Reading]))

export interface Probed {
  readonly sql: Pick<PgClient.PgClient, "reserve">
  readonly clock: DatabaseClock
  /** Discards all open connections; running statements finish. */
  readonly discardConnections: Effect.Effect<void>
}

/** Returns the identity of the server. */
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
 * Probes the database of `sql`. An available database stays so until trouble is certain. One that
 * was not available must pass the whole probe. Connections are discarded if the server is read-only
 * or is not the same as before, because the pool may hold connections to both.
 */
export const probe = ({ discardConnections, ...probed }: Probed) => {
  let known: string | null = null

  const compare = (server: string) => {
    const isAnother = known !== null && known !== server
    known = server
    return isAnother ? discardConnections : Effect.void
  }

  return (present: State): Effect.Effect<State> =>
    classifyFailures(Effect.flatMap(ask(probed, present !== "available"), compare)).pipe(
      Effect.as<State>("available"),
      Effect.catch((failure) => {
        const isCertain = present !== "available" || isNoAnswer(failure)
        const unclear = isCertain ? "not_answering" : "available"
        const found: State = outageOf(failure) ?? unclear
        return Effect.as(found === "read_only" ? discardConnections : Effect.void, found)
      }),
      Effect.catchCause((cause) =>
        Effect.as(Effect.logError("The database could not be probed", cause), present)
      )
    )
}
