/**
 * Classifies failed statements. Either the database is temporarily unable and the request may be
 * repeated, or it is a defect. PostgreSQL's messages may quote rows with personal data, so only the
 * code and the name of the violated constraint are passed on.
 */
import { Cause, Data, Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import { StorageUnavailable } from "@data-import/domain/requests/StorageUnavailable"
import type { Outage } from "./CircuitBreaker.ts"

/** A failed statement. `sqlState` is PostgreSQL's code, and null if it did not answer. */
export class StatementFailed extends Data.TaggedError("StatementFailed")<{
  readonly reason: string
  readonly sqlState: string | null
  readonly constraint: string | null
  /** The driver's message about a connection that failed. PostgreSQL wrote none of it. */
  readonly connecting: string | null
}> {
  override get message(): string {
    const parts = [this.reason, this.sqlState, this.constraint, this.connecting]
    return parts.filter((part) => part !== null).join(" ")
  }
}

const textAt = (value: unknown, name: string): string | null => {
  const found: unknown =
    typeof value === "object" && value !== null ? Reflect.get(value, name) : null
  return typeof found === "string" ? found : null
}

/** The code of PostgreSQL or of the connection; null if there is none. */
export const sqlStateOf = ({ reason }: SqlError.SqlError): string | null =>
  textAt(reason.cause, "code")

/** The parts of a failed statement that may be passed on. */
export const described = (error: SqlError.SqlError): StatementFailed =>
  new StatementFailed({
    reason: error.reason._tag,
    sqlState: sqlStateOf(error),
    constraint: textAt(error.reason.cause, "constraint"),
    connecting: error.reason.operation === "connect" ? error.reason.message : null
  })

/**
 * Connection lost (08), resources exhausted (53), shut down or starting (57P), input or output
 * failed (58), gave way to another transaction (40), server read-only (25006), transaction ended
 * because it was idle (25P03), lock or statement time-out.
 */
const transientSqlStates = /^(?:08|53|57P|58|40)|^(?:25006|25P03|55P03|57014)$/

const isPassing = (error: SqlError.SqlError): boolean => {
  const { reason } = error
  if (reason._tag === "ConnectionError" || reason.operation === "connect") return true
  const sqlState = sqlStateOf(error)
  return sqlState !== null && transientSqlStates.test(sqlState)
}

/** The server is a standby, or is configured to refuse writes. */
class ServerReadOnly extends Data.TaggedError("ServerReadOnly") {
  override get message(): string {
    return "The server is read-only"
  }
}

/** The failure of a server that refuses writes. */
export const readOnly = new StorageUnavailable({ cause: new ServerReadOnly() })

/**
 * The trouble for which the next statement would fail as well. Null for a statement that was
 * contended or too slow, because others may succeed.
 */
export const outageOf = ({ cause }: StorageUnavailable): Outage | null => {
  if (cause instanceof ServerReadOnly) return "read_only"
  if (!(cause instanceof StatementFailed)) return null
  if (cause.sqlState === "25006") return "read_only"
  // 28 and 3D: the user or the database does not exist.
  const isAway =
    cause.reason === "ConnectionError" || /^(?:08|28|3D|53|57P)/.test(cause.sqlState ?? "")
  return isAway ? "away" : null
}

/**
 * A row was locked or was modified concurrently. Nothing was stored, and the same statements may be
 * run again.
 */
class RowContended extends Data.TaggedError("RowContended") {}

/** Fail with this to have `Database.run` run the statements again after a pause. */
export const contended = new StorageUnavailable({ cause: new RowContended() })

/**
 * Whether statements were contended: they found a row contended, waited too long for a lock
 * (55P03), or PostgreSQL aborted them in favour of others (40001, 40P01).
 */
export const isContended = ({ cause }: StorageUnavailable): boolean =>
  cause instanceof RowContended ||
  (cause instanceof StatementFailed && /^(?:55P03|40001|40P01)$/.test(cause.sqlState ?? ""))

/** Whether the statement failed because it broke this unique constraint. */
export const breaks =
  (constraint: string) =>
  (error: unknown): boolean =>
    SqlError.isSqlError(error) &&
    error.reason._tag === "UniqueViolation" &&
    error.reason.constraint === constraint

type Foreign = SqlError.SqlError | Schema.SchemaError

/**
 * Passes on the errors that a port names and turns the others into `StorageUnavailable` or defects.
 * A rollback on a lost connection arrives as a defect, and counts as a lost connection.
 */
export const classifyFailures = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, Exclude<E, Foreign> | StorageUnavailable, R> =>
  Effect.catchCause(
    effect,
    (cause): Effect.Effect<never, Exclude<E, Foreign> | StorageUnavailable> => {
      const errors = cause.reasons.flatMap((reason): ReadonlyArray<unknown> => {
        if (Cause.isFailReason(reason)) return [reason.error]
        return Cause.isDieReason(reason) ? [reason.defect] : []
      })
      const ofDatabase = errors.filter(SqlError.isSqlError)
      const away = ofDatabase.find(isPassing)
      if (away !== undefined) return Effect.fail(new StorageUnavailable({ cause: described(away) }))
      const [failed] = ofDatabase
      if (failed !== undefined) return Effect.die(described(failed))
      const undecoded = errors.find(Schema.isSchemaError)
      if (undecoded !== undefined) return Effect.die(new Error("A row does not match its schema"))
      return Effect.failCause(cause as Cause.Cause<Exclude<E, Foreign>>)
    }
  )
