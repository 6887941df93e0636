/** Sessions of the board and its sign-in links in PostgreSQL. */
import { DateTime, Effect, Layer, Option, Schema, Struct } from "effect"
import { BoardRole, type BoardUser } from "@data-import/domain/access/BoardUser"
import { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import {
  beginning,
  type BoardSession,
  BoardSessions,
  type Ending,
  linkIssued,
  prolonged,
  sessionsEnded,
  signedIn
} from "@data-import/domain/access/BoardSessions"
import { recordOperator } from "../audit/ChangeEntries.ts"
import { Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]
type Port = BoardSessions["Service"]

const Instant = Schema.DateTimeUtcFromDate
const { toDateUtc } = DateTime

const Row = Schema.Struct({
  subject: Schema.String,
  name: Schema.String,
  role: BoardRole,
  organisations: Schema.NullOr(Schema.Array(OrganisationName)),
  suppliers: Schema.NullOr(Schema.Array(SupplierCode)),
  csrfToken: Schema.String,
  createdAt: Instant,
  lastSeenAt: Instant,
  prolongedUntil: Schema.NullOr(Instant)
})

const sessionRows = rowsOf(Row)

/** All but the token, which only the board reads. */
const columns = `subject, name, role, organisations, suppliers,
  created_at as "createdAt", last_seen_at as "lastSeenAt", prolonged_until as "prolongedUntil"`

/** The organisations of the suppliers that a user sees, for the audit log. */
const namedSuppliers = rowsOf(
  Schema.Struct({ import_supplier: SupplierCode, organisation: OrganisationName })
)

/**
 * In each organisation of the user; of a user of suppliers, with each of them. One entry at least:
 * the claims may name suppliers that do not exist.
 */
const signInEntries = Effect.fnUntraced(function* (sql: Sql, user: BoardUser) {
  if (user.suppliers === null) return signedIn(user)
  const found = yield* namedSuppliers(sql`
    select code as import_supplier, organisation from suppliers
    where code = any(${user.suppliers}::text[])`)
  const entries = found.map(({ import_supplier, organisation }) => ({
    ...beginning(organisation),
    key: { import_supplier, external_account_number: null }
  }))
  return entries.length === 0 ? [beginning(null)] : entries
})

export const create = Effect.fnUntraced(function* (sql: Sql, hash: string, session: BoardSession) {
  const { createdAt, csrfToken, lastSeenAt, user } = session
  yield* sql`
    insert into board_sessions
      (hash, subject, name, role, organisations, suppliers, csrf_token, created_at, last_seen_at)
    values (${hash}, ${user.subject}, ${user.name}, ${user.role}, ${user.organisations}::text[],
      ${user.suppliers}::text[], ${csrfToken}, ${toDateUtc(createdAt)}, ${toDateUtc(lastSeenAt)})`
  yield* sql`
    update alert_settings
    set name = ${user.name}, organisations = ${user.organisations}::text[],
      signed_in_at = ${toDateUtc(createdAt)}
    where subject = ${user.subject}`
  for (const entry of yield* signInEntries(sql, user)) yield* recordOperator(sql, entry)
})

const find = (sql: Sql, hash: string) =>
  sessionRows(sql`
    select ${sql.literal(columns)}, csrf_token as "csrfToken"
    from board_sessions where hash = ${hash}`).pipe(
    Effect.map(([row]) =>
      Option.map(
        Option.fromNullishOr(row),
        ({ createdAt, csrfToken, lastSeenAt, prolongedUntil, ...user }): BoardSession => ({
          user,
          csrfToken,
          createdAt,
          lastSeenAt,
          prolongedUntil
        })
      )
    )
  )

const listedRows = rowsOf(Schema.Struct(Struct.omit(Row.fields, ["csrfToken"])))

const list = (sql: Sql) =>
  listedRows(sql`
    select ${sql.literal(columns)} from board_sessions
    order by created_at desc`).pipe(
    Effect.map((rows) =>
      rows.map(({ createdAt, lastSeenAt, prolongedUntil, ...user }) => ({
        user,
        createdAt,
        lastSeenAt,
        prolongedUntil
      }))
    )
  )

const prolong = Effect.fnUntraced(function* (
  sql: Sql,
  hash: string,
  until: DateTime.Utc,
  user: BoardUser
) {
  const changed = yield* sql`
    update board_sessions set prolonged_until = ${toDateUtc(until)}
    where hash = ${hash} and prolonged_until is null returning hash`
  if (changed.length === 0) return
  for (const entry of prolonged(user, until)) yield* recordOperator(sql, entry)
})

const endAll = Effect.fnUntraced(function* (sql: Sql, ending: Ending) {
  const isOfUser = ending === "all" ? sql`true` : sql`${ending.user} in (subject, name)`
  // First, because it waits for uses of them, whose sessions are then ended.
  if (ending === "all") yield* sql`delete from board_invitations`
  const ended = yield* sql`delete from board_sessions where ${isOfUser} returning created_at`
  // Who may have lost access is told nothing either, until the next sign-in.
  yield* sql`update alert_settings set organisations = '{}' where ${isOfUser}`
  if (ending === "all") yield* sql`delete from board_links`
  yield* recordOperator(sql, sessionsEnded(ending, ended.length))
  return ended.length
})

const createLink = Effect.fnUntraced(function* (
  sql: Sql,
  { expiresAt, hash }: Parameters<Port["createLink"]>[0]
) {
  yield* sql`insert into board_links (hash, expires_at) values (${hash}, ${toDateUtc(expiresAt)})`
  yield* recordOperator(sql, linkIssued)
})

const takenRows = rowsOf(Schema.Struct({ expiresAt: Instant }))

const takeLink = (sql: Sql, hash: string, at: DateTime.Utc) =>
  takenRows(sql`
    delete from board_links where hash = ${hash} returning expires_at as "expiresAt"`).pipe(
    Effect.map(([taken]) => taken !== undefined && DateTime.isGreaterThan(taken.expiresAt, at))
  )

const prune = Effect.fnUntraced(function* (
  sql: Sql,
  { at, createdThrough, seenThrough }: Parameters<Port["prune"]>[0]
) {
  yield* sql`
    delete from board_sessions
    where case when prolonged_until is null
      then created_at <= ${toDateUtc(createdThrough)} or last_seen_at <= ${toDateUtc(seenThrough)}
      else prolonged_until <= ${toDateUtc(at)} end`
  yield* sql`delete from board_links where expires_at <= ${toDateUtc(at)}`
  yield* sql`delete from board_invitations where expires_at <= ${toDateUtc(at)}`
})

export const layer: Layer.Layer<BoardSessions, never, Database> = Layer.effect(
  BoardSessions,
  Effect.map(Database, ({ run, sql }) =>
    BoardSessions.of({
      create: (hash, session) => run(sql.withTransaction(create(sql, hash, session))),
      find: (hash) => run(find(sql, hash)),
      renew: (hash, at) =>
        Effect.asVoid(
          run(sql`
            update board_sessions set last_seen_at = greatest(last_seen_at, ${toDateUtc(at)})
            where hash = ${hash}`)
        ),
      prolong: (hash, until, user) => run(sql.withTransaction(prolong(sql, hash, until, user))),
      end: (hash) => Effect.asVoid(run(sql`delete from board_sessions where hash = ${hash}`)),
      list: run(list(sql)),
      endAll: (ending) => run(sql.withTransaction(endAll(sql, ending))),
      createLink: (link) => run(sql.withTransaction(createLink(sql, link))),
      takeLink: (hash, at) => run(takeLink(sql, hash, at)),
      prune: (ended) => run(prune(sql, ended))
    })
  )
)
