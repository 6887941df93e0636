/**
 * What the circuit breaker asks of the database to know whether requests can be answered: a
 * connection of the pool that they use, and the locks that their statements take. It also measures
 * the database's clock, so that no request is let in before the time is known.
 */
import type { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schema } from "effect"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import type { State } from "./Breaker.ts"
import type { DatabaseClock } from "./DatabaseClock.ts"
import { sorted, troubleOf } from "./SqlFailure.ts"

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

const oneTime = Schema.decodeUnknownEffect(Schema.Tuple([Schema.Struct({ millis: Schema.Finite })]))

const ask = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  { monotonic, set }: DatabaseClock,
  isOpen: boolean
) {
  const connection = yield* sql.reserve
  if (isOpen) yield* answered(connection.executeUnprepared(takeLocks, [], undefined))
  const sent = monotonic()
  const read = connection.execute(
    "select extract(epoch from clock_timestamp())::float8 * 1000 as millis",
    [],
    undefined
  )
  const rows = yield* answered(read)
  const received = monotonic()
  const [{ millis }] = yield* oneTime(rows)
  set({ sent, received, shown: millis })
}, Effect.scoped)

/**
 * The state of the database that `sql` leads to. Where it was available it is so until it is known
 * to be away; where it was not, the probe must succeed whole.
 */
export const probe = (sql: PgClient.PgClient, clock: DatabaseClock) => (present: State) =>
  sorted(ask(sql, clock, present !== "available")).pipe(
    Effect.as<State>("available"),
    Effect.catch((failure) => {
      const unclear = present === "available" ? "available" : "not_answering"
      return Effect.succeed<State>(troubleOf(failure) ?? unclear)
    }),
    Effect.catchCause((cause) =>
      Effect.as(Effect.logError("The database could not be probed", cause), present)
    )
  )
