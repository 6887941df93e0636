/**
 * Idempotency keys, reserved in batches and released one by one. A batch never waits for a write:
 * it inserts missing keys and reads the others. A separate statement takes over an expired
 * reservation, because it may wait for the write that still holds it.
 */
import { DateTime, Effect, Layer, Schema } from "effect"
import {
  expiredKeptFor,
  Fingerprint,
  type KeyRecord,
  keyStateAt
} from "@data-import/domain/idempotency/IdempotencyKey"
import { IdempotencyKeys, type Reserving } from "@data-import/domain/idempotency/IdempotencyKeys"
import { Database, rowsOf } from "../connection/Database.ts"
import { position, recordSet } from "../tables/RecordSet.ts"
import { isReservation } from "./StoredAnswers.ts"

type Command = Parameters<IdempotencyKeys["Service"]["reserve"]>[0]

const Present = Schema.Struct({
  position: Schema.BigInt,
  isReserved: Schema.Boolean,
  fingerprint: Schema.NullOr(Fingerprint),
  answer: Schema.NullOr(Schema.String),
  isReverted: Schema.NullOr(Schema.Boolean),
  expiresAt: Schema.NullOr(Schema.DateTimeUtcFromDate)
})

const rows = rowsOf(Present)

const leaseEnd = ({ at, lease }: Command): Date =>
  DateTime.toDateUtc(DateTime.addDuration(at, lease))

const sent = ({ sql }: Database["Service"], commands: ReadonlyArray<Command>) =>
  recordSet(sql, "command", commands, {
    organisation: ["text", ({ request }) => request.organisation],
    key: ["text", ({ request }) => request.key],
    fingerprint: ["text", ({ request }) => request.fingerprint],
    token: ["text", ({ token }) => token],
    lease_end: ["timestamptz", leaseEnd],
    position
  })

const latest = (commands: ReadonlyArray<Command>): DateTime.Utc =>
  commands.map(({ at }) => at).reduce((one, other) => DateTime.max(one, other))

/** Deletes a few keys that expired long ago. Locked keys are skipped. */
const swept = ({ sql }: Database["Service"], at: DateTime.Utc) => {
  const end = DateTime.subtractDuration(at, expiredKeptFor)
  return sql`
    delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where expires_at < ${DateTime.toDateUtc(end)}
      order by expires_at limit 100 for update skip locked))`
}

/**
 * Reserves the missing keys and reads the others. A kept response may be as large as a body, and is
 * read only for the same request. Otherwise a small request could fill the batches that all
 * organisations share.
 */
const insertOrRead = (database: Database["Service"]) => (commands: ReadonlyArray<Command>) =>
  rows(database.sql`
    with sent as (select * from ${sent(database, commands)}),
    present as (
      select position, found.* from sent, lateral (
        select known.fingerprint, known.expires_at, known.is_reverted,
          case when known.fingerprint = sent.fingerprint then known.answer end as answer
        from idempotency_keys known
        where known.organisation = sent.organisation and known.key = sent.key
        offset 0
      ) as found
    ),
    inserted as (
      insert into idempotency_keys
        (organisation, key, fingerprint, token, expires_at)
      select organisation, key, fingerprint, token, lease_end from sent
      where position not in (select position from present)
      order by organisation, key
      on conflict on constraint idempotency_keys_pkey do nothing
      returning organisation, key
    ),
    swept as (${swept(database, latest(commands))})
    select position, inserted.key is not null as "isReserved", present.fingerprint, answer,
      is_reverted as "isReverted", expires_at as "expiresAt"
    from sent left join inserted using (organisation, key) left join present using (position)
    order by position`)

const takenOver = ({ sql }: Database["Service"], command: Command) => {
  const { at, request, token } = command
  return sql`
    update idempotency_keys
    set fingerprint = ${request.fingerprint}, token = ${token}, answer = null,
      import_id = null, account_id = null, is_reverted = false, expires_at = ${leaseEnd(command)}
    where organisation = ${request.organisation} and key = ${request.key}
      and expires_at <= ${DateTime.toDateUtc(at)}
    returning key`.pipe(Effect.map((taken) => taken.length > 0))
}

const recordOf = ({
  answer,
  expiresAt,
  fingerprint,
  isReverted
}: typeof Present.Type): KeyRecord | null =>
  fingerprint === null || expiresAt === null
    ? null
    : { fingerprint, answer, isReverted: isReverted === true, expiresAt }

/** Repeats the attempt if the key was modified concurrently. */
const makeReserve = (database: Database["Service"]) => {
  const inserted = database.batched({
    identity: ({ request }: Command) => JSON.stringify([request.organisation, request.key]),
    run: insertOrRead(database),
    limits: { slots: 2, commands: 64 }
  })
  return Effect.fnUntraced(function* (command: Command) {
    for (;;) {
      const found = yield* inserted(command)
      if (found.isReserved) return { _tag: "Reserved" } satisfies Reserving
      const record = recordOf(found)
      if (record === null) continue
      const state = keyStateAt(record, command.request.fingerprint, command.at)
      if (state._tag !== "Free") return state satisfies Reserving
      if (yield* database.run(takenOver(database, command))) {
        return { _tag: "Reserved" } satisfies Reserving
      }
    }
  })
}

export const layer: Layer.Layer<IdempotencyKeys, never, Database> = Layer.effect(
  IdempotencyKeys,
  Effect.gen(function* () {
    const database = yield* Database
    const { run, sql } = database
    return IdempotencyKeys.of({
      reserve: makeReserve(database),
      release: (reservation) =>
        run(
          Effect.asVoid(sql`delete from idempotency_keys where ${isReservation(sql, reservation)}`)
        )
    })
  })
)
