/** Invitations of people of a supplier in PostgreSQL. */
import { DateTime, Duration, Effect, Layer, Schema } from "effect"
import {
  type Invitation,
  InvitationId,
  Invitations,
  invitedUser,
  longestUse,
  mostInvitations,
  subjectOf
} from "@data-import/domain/access/Invitations"
import { CurrentOperator } from "@data-import/domain/access/Operator"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { auditEntry } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"
import { create as createSession } from "./BoardSessions.ts"

type Sql = Database["Service"]["sql"]
type Port = Invitations["Service"]

const { toDateUtc } = DateTime

const noNumber = (supplier: SupplierCode) => ({
  import_supplier: supplier,
  external_account_number: null
})

const create = (sql: Sql, { caller, hash, invitation }: Parameters<Port["create"]>[0]) => {
  const { at, expiresAt, id, person, supplier } = invitation
  const write = {
    at,
    caller,
    action: "invite_supplier",
    outcome: `invited ${person}`,
    key: noNumber(supplier)
  } as const
  return Effect.map(
    sql`
      with changed as (
        insert into board_invitations
          (id, supplier, person, hash, invited_by, invited_at, expires_at)
        select ${id}::uuid, ${supplier}, ${person}, ${hash}, ${caller.apiKey}, ${toDateUtc(at)},
          ${toDateUtc(expiresAt)}
        where ${mostInvitations} > (select count(*) from board_invitations
          where supplier = ${supplier} and expires_at > ${toDateUtc(at)})
        returning id
      ),
      audit as (${auditEntry(sql, write)})
      select from changed`,
    (rows) => rows.length > 0
  )
}

const Instant = Schema.DateTimeUtcFromDate

const invitationRows = rowsOf(
  Schema.Struct({
    id: InvitationId,
    supplier: SupplierCode,
    person: Schema.String,
    by: Schema.String,
    at: Instant,
    expiresAt: Instant,
    usedAt: Schema.NullOr(Instant)
  })
)

const list = (sql: Sql, supplier: SupplierCode, at: DateTime.Utc) =>
  Effect.map(
    invitationRows(sql`
      select id, supplier, person, invited_by as by, invited_at as at, expires_at as "expiresAt",
        used_at as "usedAt"
      from board_invitations where supplier = ${supplier} and expires_at > ${toDateUtc(at)}
      order by invited_at desc, id`),
    (rows): ReadonlyArray<Invitation> => rows
  )

const endSession = (sql: Sql, id: InvitationId) =>
  sql`delete from board_sessions where subject = ${subjectOf(id)}`

/** The deletion waits for a use of the link, whose session is then ended. */
const revoke = Effect.fnUntraced(function* (
  sql: Sql,
  { at, caller, id, supplier }: Parameters<Port["revoke"]>[0]
) {
  const write = {
    at,
    caller,
    action: "revoke_invitation",
    outcome: sql`'revoked ' || person`,
    key: noNumber(supplier)
  } as const
  const revoked = yield* sql`
    with changed as (
      delete from board_invitations
      where id = ${id}::uuid and supplier = ${supplier} and expires_at > ${toDateUtc(at)}
      returning person
    ),
    audit as (${auditEntry(sql, write)})
    select from changed`
  if (revoked.length === 0) return false
  yield* endSession(sql, id)
  return true
})

const usedRows = rowsOf(
  Schema.Struct({ id: InvitationId, supplier: SupplierCode, person: Schema.String })
)

/** The lock on its row makes uses of one link wait for each other, so one session is left. */
const use = Effect.fnUntraced(function* (
  sql: Sql,
  { at, hash, requestId, sessionHash, sessionOf }: Parameters<Port["use"]>[0]
) {
  const [used] = yield* usedRows(sql`
    update board_invitations
    set used_at = ${toDateUtc(at)},
      expires_at = invited_at + make_interval(secs => ${Duration.toSeconds(longestUse)})
    where hash = ${hash} and expires_at > ${toDateUtc(at)}
    returning id, supplier, person`)
  if (used === undefined) return false
  const user = invitedUser(used)
  yield* endSession(sql, used.id)
  yield* createSession(sql, sessionHash, sessionOf(user)).pipe(
    Effect.provideService(CurrentOperator, { name: user.name, on: "board", requestId })
  )
  return true
})

export const layer: Layer.Layer<Invitations, never, Database> = Layer.effect(
  Invitations,
  Effect.map(Database, ({ run, sql }) =>
    Invitations.of({
      create: (command) => run(create(sql, command)),
      list: (supplier, at) => run(list(sql, supplier, at)),
      revoke: (command) => run(sql.withTransaction(revoke(sql, command))),
      use: (command) => run(sql.withTransaction(use(sql, command)))
    })
  )
)
