/**
 * The parts of a statement that store the response of a write together with the write. The
 * statement first locks the reservation of the key. If it is lost, nothing is stored. The response
 * is stored for the rows of the common table expression `changed`, and so with the write or not at
 * all.
 */
import { DateTime, Effect } from "effect"
import type { Statement } from "effect/sql"
import {
  type ResponseRecorder,
  keptUntil,
  type Reservation
} from "@data-import/domain/idempotency/IdempotencyKey"
import { ReservationLost } from "@data-import/domain/idempotency/IdempotencyKeys"
import { inTimeSlices } from "@data-import/domain/support/Steps"
import type { Database } from "../connection/Database.ts"
import { recordSet } from "../tables/RecordSet.ts"

type Sql = Database["Service"]["sql"]

const expiryOf = ({ at, reservation }: Pick<BatchAnswers, "at" | "reservation">): Date =>
  DateTime.toDateUtc(keptUntil(reservation, at))

/** The condition that a row is this reservation, without a response. */
export const isReservation = (
  sql: Sql,
  { key, organisation, token }: Reservation
): Statement.Fragment =>
  sql`organisation = ${organisation} and key = ${key} and token = ${token} and answer is null`

/** The parts of a statement, all empty if no command has a key. */
export interface AnswerClauses {
  /** Common table expressions before `changed`. */
  readonly before: Statement.Fragment
  /** A further condition of `changed`. */
  readonly guard: Statement.Fragment
  /** Common table expressions after `changed`. */
  readonly after: Statement.Fragment
  /** After the final `select`: a row with its position and null for each lost reservation. */
  readonly lost: Statement.Fragment
}

/** The response to record if the write is the first of its import, and the one if it is not. */
export interface BatchAnswers {
  readonly reservation: Reservation
  readonly at: DateTime.Utc
  readonly first: string
  readonly later: string
}

/**
 * The parts of a statement of one or several commands. `sent` has their positions from 1, and
 * `stored` those of the stored ones, with the `id` of the import, the `account_id` that the answer
 * is about, if any, and how many `times` it was written. A command with a lost reservation does not
 * affect the others. The reservations are locked in the order of their keys, so two statements
 * never deadlock.
 */
export const answerClauses = (
  sql: Sql,
  commands: ReadonlyArray<BatchAnswers | null>
): AnswerClauses => {
  const keyed = commands.flatMap((kept, index) =>
    kept === null ? [] : [{ ...kept, position: index + 1 }]
  )
  const none = sql``
  if (keyed.length === 0) return { before: none, guard: none, after: none, lost: none }
  return {
    before: sql`
      keyed as (
        select * from ${recordSet(sql, "keyed", keyed, {
          position: ["bigint", ({ position }) => position],
          organisation: ["text", ({ reservation }) => reservation.organisation],
          key: ["text", ({ reservation }) => reservation.key],
          token: ["text", ({ reservation }) => reservation.token],
          first: ["text", ({ first }) => first],
          later: ["text", ({ later }) => later],
          kept_until: ["timestamptz", expiryOf]
        })}
      ),
      reserved as (
        select position from (select * from keyed order by organisation, key) as keyed, lateral (
          select from idempotency_keys known
          where known.organisation = keyed.organisation and known.key = keyed.key
            and known.token = keyed.token and answer is null
          for update
        ) as held
      ),`,
    guard: sql`
      and (position not in (select position from keyed)
        or position in (select position from reserved))`,
    after: sql`,
      kept as (
        update idempotency_keys known
        set answer = case times when 1 then first else later end, expires_at = kept_until,
          import_id = stored.id, account_id = stored.account_id
        from stored join keyed using (position)
        where known.organisation = keyed.organisation and known.key = keyed.key
          and known.token = keyed.token
      )`,
    lost: sql`
      union all
      select position, null from keyed where position not in (select position from reserved)`
  }
}

/**
 * Keeps the response of a write in its transaction, or frees the key if nothing was stored (null).
 * `about` is the id of the import that the response is about.
 * Fails, so that the transaction is rolled back, if the reservation is lost.
 */
export const keepInTransaction = Effect.fnUntraced(function* <A>(
  sql: Sql,
  recorder: ResponseRecorder<A> | null,
  answer: A | null,
  at: DateTime.Utc,
  about: bigint | null = null
) {
  if (recorder === null) return
  const { reservation, textOf } = recorder
  const held = isReservation(sql, reservation)
  const ended =
    answer === null
      ? yield* sql`delete from idempotency_keys where ${held} returning key`
      : yield* sql`
          update idempotency_keys
          set answer = ${yield* inTimeSlices(() => textOf(answer))},
            expires_at = ${expiryOf({ reservation, at })}, import_id = ${about}
          where ${held} returning key`
  if (ended.length === 0) yield* new ReservationLost()
})
