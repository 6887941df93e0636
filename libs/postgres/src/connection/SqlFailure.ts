/**
 * What a failed statement means: either the database cannot do it right now, and the same request
 * may be sent again, or it is a defect of ours. What PostgreSQL says may quote the rows it speaks
 * of, and so personal data; of its words only the code and the name of the broken constraint go on.
 */
import { Cause, Data, Effect, Schema } from "effect"
import { SqlError } from "effect/sql"
import { StorageUnavailable } from "@data-import/domain/ports/StorageUnavailable"
import type { Trouble } from "./CircuitBreaker.ts"

/**
 * A statement that should never have failed; `sqlState` is PostgreSQL's code, as far as it
 * answered.
 */
export class StatementFailed extends Data.TaggedError("StatementFailed")<{
  readonly reason: string
  readonly sqlState: string | null
  readonly constraint: string | null
  /** What the driver says of a connection that it could not make. None of it is PostgreSQL's. */
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

/** PostgreSQL's code, or that of the connection; null where there is none. */
export const sqlStateOf = ({ reason }: SqlError.SqlError): string | null =>
  textAt(reason.cause, "code")

const described = (error: SqlError.SqlError): StatementFailed =>
  new StatementFailed({
    reason: error.reason._tag,
    sqlState: sqlStateOf(error),
    constraint: textAt(error.reason.cause, "constraint"),
    connecting: error.reason.operation === "connect" ? error.reason.message : null
  })

/**
 * Connection lost (08), resources exhausted (53), shut down or starting (57P), input or output
 * failed (58), gave way to another transaction (40), server read-only (25006), lock or statement
 * time-out.
 */
const passing = /^(?:08|53|57P|58|40)|^(?:25006|55P03|57014)$/

const isPassing = (error: SqlError.SqlError): boolean => {
  const { reason } = error
  if (reason._tag === "ConnectionError" || reason.operation === "connect") return true
  const sqlState = sqlStateOf(error)
  return sqlState !== null && passing.test(sqlState)
}

/** The server takes no writes: it is a standby, or was told to refuse them. */
class ServerReadOnly extends Data.TaggedError("ServerReadOnly") {
  override get message(): string {
    return "The server is read-only"
  }
}

/** What is said of a server that was asked whether it takes writes, and does not. */
export const readOnly = new StorageUnavailable({ cause: new ServerReadOnly() })

/**
 * The trouble for which the next statement would fail as well; null for a statement that gave way
 * or took too long, which says nothing about others.
 */
export const troubleOf = ({ cause }: StorageUnavailable): Trouble | null => {
  if (cause instanceof ServerReadOnly) return "read_only"
  if (!(cause instanceof StatementFailed)) return null
  if (cause.sqlState === "25006") return "read_only"
  // 28 and 3D: the user, or the database, is not there.
  const isAway =
    cause.reason === "ConnectionError" || /^(?:08|28|3D|53|57P)/.test(cause.sqlState ?? "")
  return isAway ? "away" : null
}

/**
 * A row that is needed was locked, or was changed after it was looked at. Nothing was stored; the
 * same statements may be run again.
 */
class RowContended extends Data.TaggedError("RowContended") {}

/** How an adapter asks `Database.run` to run its statements again after a pause. */
export const contended = new StorageUnavailable({ cause: new RowContended() })

/**
 * Whether statements gave way to another transaction: they found a row contended, a lock was not to
 * be had in time (55P03), or PostgreSQL ended them in favour of others (40001, 40P01).
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
 * Leaves the errors that a port names and turns the others into `StorageUnavailable` or defects. A
 * rollback that fails because the connection is gone arrives as a defect, and means no more than
 * that.
 */
export const sorted = <A, E, R>(
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
      if (undecoded !== undefined) return Effect.die(new Error("A row is not what it should be"))
      return Effect.failCause(cause as Cause.Cause<Exclude<E, Foreign>>)
    }
  )
