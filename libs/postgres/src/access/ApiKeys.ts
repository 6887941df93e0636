/**
 * API keys, refresh tokens and failed attempts. A refresh token belongs to a family, and the family
 * to a key.
 */
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import {
  type ApiKey,
  ApiKeyId,
  isLive,
  issueOutcome,
  OrganisationName,
  revocationOutcome,
  Scope
} from "@data-import/domain/suppliers/Organisation"
import {
  ApiKeys,
  type FailedAttempt,
  type RefreshToken,
  type Rotation
} from "@data-import/domain/access/ApiKeys"
import { DoesNotExist } from "@data-import/domain/suppliers/Configuration"
import { recordOperator } from "../audit/ChangeEntries.ts"
import { Database, isStorable, rowsOf } from "../connection/Database.ts"
import { columnsOf } from "../tables/Selection.ts"

type Sql = Database["Service"]["sql"]

const Instant = Schema.DateTimeUtcFromDate
const { toDateUtc } = DateTime

const End = { expiresAt: Schema.NullOr(Instant), revokedAt: Schema.NullOr(Instant) }

const Listed = {
  id: ApiKeyId,
  organisation: OrganisationName,
  label: Schema.String,
  scopes: Schema.Array(Scope),
  createdAt: Instant,
  ...End
}

/** The operator may read the listed columns, but only the auth service the hash. */
const Key = { ...Listed, hash: Schema.String }

const endRows = rowsOf(Schema.Struct(End))
const listedRows = rowsOf(Schema.Struct(Listed))
const keyRows = rowsOf(Schema.Struct(Key))

const columns = (sql: Sql, fields: object) => sql.literal(columnsOf({ ...fields }, "api_keys"))

const dateOrNull = (instant: DateTime.Utc | null): Date | null => instant && toDateUtc(instant)

const idRows = rowsOf(Schema.Struct({ id: ApiKeyId }))

const issue = Effect.fnUntraced(function* (sql: Sql, key: ApiKey) {
  const { organisation } = key
  const rows = yield* idRows(sql`
    insert into api_keys
      (id, organisation, label, scopes, hash, created_at, expires_at, revoked_at)
    select ${key.id}, name, ${key.label}, ${key.scopes}::text[], ${key.hash},
      ${toDateUtc(key.createdAt)}, ${dateOrNull(key.expiresAt)}::timestamptz,
      ${dateOrNull(key.revokedAt)}::timestamptz
    from organisations where name = ${organisation}
    returning id`)
  if (rows.length === 0) {
    return yield* new DoesNotExist({ what: "organisation", name: organisation })
  }
  yield* recordOperator(sql, { action: "issue_key", outcome: issueOutcome(key), organisation })
})

const endOf = (sql: Sql, id: string) =>
  endRows(sql`select ${columns(sql, End)} from api_keys where id = ${id}`).pipe(
    Effect.map(([row]) => Option.fromNullishOr(row))
  )

const keyWith = (sql: Sql, hash: string) =>
  keyRows(sql`select ${columns(sql, Key)} from api_keys where hash = ${hash}`).pipe(
    Effect.map(([row]) => Option.fromNullishOr(row))
  )

const revokedRows = rowsOf(
  Schema.Struct({ organisation: OrganisationName, isFirst: Schema.Boolean })
)

const revoke = Effect.fnUntraced(function* (sql: Sql, id: ApiKeyId, at: DateTime.Utc) {
  const [revoked] = yield* revokedRows(sql`
    with before as (select id, revoked_at from api_keys where id = ${id} for update)
    update api_keys set revoked_at = coalesce(api_keys.revoked_at, ${toDateUtc(at)})
    from before where api_keys.id = before.id
    returning organisation, before.revoked_at is null as "isFirst"`)
  if (revoked === undefined) return false
  const { isFirst, organisation } = revoked
  const outcome = revocationOutcome(id, isFirst)
  yield* recordOperator(sql, { action: "revoke_key", outcome, organisation })
  return true
})

/** How long expired rows are kept. */
const keptFor = { days: 1 }

/**
 * Two common table expressions that delete a few expired refresh tokens and the families that this
 * leaves empty, so that the tables stay small. The expiry of a token is checked before anything
 * else, so the answers stay the same. Locked rows are skipped, so deleting never waits.
 */
const sweeping = (sql: Sql, at: DateTime.Utc) => sql`
  expired as materialized (
    select tokens.hash, families.family
    from refresh_tokens tokens join refresh_token_families families using (family)
    where tokens.expires_at < ${toDateUtc(DateTime.subtract(at, keptFor))}
    order by tokens.expires_at limit 100 for update skip locked
  ), swept as (
    delete from refresh_tokens where hash in (select hash from expired)
  ), emptied as (
    delete from refresh_token_families families
    where family in (select family from expired) and not exists (
      select from refresh_tokens tokens
      where tokens.family = families.family and hash not in (select hash from expired))
  )`

const saveRefreshToken = (sql: Sql, token: RefreshToken, at: DateTime.Utc) => sql`
  with ${sweeping(sql, at)}, family as (
    insert into refresh_token_families (family, api_key) values (${token.family}, ${token.apiKey})
    on conflict do nothing
  )
  insert into refresh_tokens (hash, family, expires_at)
  values (${token.hash}, ${token.family}, ${toDateUtc(token.expiresAt)})`

const tokenRows = rowsOf(
  Schema.Struct({
    ...Key,
    family: Schema.String,
    tokenExpiresAt: Instant,
    usedAt: Schema.NullOr(Instant),
    familyRevokedAt: Schema.NullOr(Instant)
  })
)

/** The token with its key. Its family is locked until the transaction ends. */
const lockedToken = (sql: Sql, hash: string) =>
  tokenRows(sql`
    select ${columns(sql, Key)}, families.family, families.revoked_at as "familyRevokedAt",
      tokens.expires_at as "tokenExpiresAt", tokens.used_at as "usedAt"
    from refresh_tokens tokens join refresh_token_families families using (family)
      join api_keys on api_keys.id = families.api_key
    where tokens.hash = ${hash} for update of families, tokens`)

const rotate = Effect.fnUntraced(function* (
  sql: Sql,
  { at, hash, successor }: Parameters<ApiKeys["Service"]["rotateRefreshToken"]>[0]
) {
  const [token] = yield* lockedToken(sql, hash)
  if (token === undefined) return { _tag: "Refused" } satisfies Rotation
  const { family, familyRevokedAt, tokenExpiresAt, usedAt, ...apiKey } = token
  const isValid =
    familyRevokedAt === null && DateTime.isGreaterThan(tokenExpiresAt, at) && isLive(apiKey, at)
  if (!isValid) return { _tag: "Refused" } satisfies Rotation
  if (usedAt !== null) {
    yield* sql`
      update refresh_token_families set revoked_at = ${toDateUtc(at)} where family = ${family}`
    return { _tag: "Reused" } satisfies Rotation
  }
  yield* sql`
    with ${sweeping(sql, at)}, used as (
      update refresh_tokens set used_at = ${toDateUtc(at)} where hash = ${hash}
    )
    insert into refresh_tokens (hash, family, expires_at)
    values (${successor.hash}, ${family}, ${toDateUtc(successor.expiresAt)})`
  return { _tag: "Rotated", apiKey } satisfies Rotation
})

const instantRows = rowsOf(Schema.Struct({ at: Instant }))

/**
 * A separate statement, because a statement that waits for a lock does not see what was committed
 * during the wait.
 */
const lockAttempts = (sql: Sql, clientAddress: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`attempts of ${clientAddress}`}, 0))`

/**
 * Also deletes attempts of the address that no longer count, and a few old ones of other addresses,
 * so that the table stays small. Locked rows are skipped, so deleting never waits.
 */
const recordFailedAttempt = Effect.fnUntraced(function* (
  sql: Sql,
  { at, clientAddress, limit, since }: FailedAttempt
) {
  yield* lockAttempts(sql, clientAddress)
  const [blocking] = yield* instantRows(sql`
    with blocking as materialized (
      select at from failed_token_attempts
      where client_address = ${clientAddress} and at > ${toDateUtc(since)}
      order by at desc limit 1 offset ${limit - 1}
    ), ended as materialized (
      select id from failed_token_attempts
      where client_address = ${clientAddress} and at <= ${toDateUtc(since)}
      order by at limit 100 for update skip locked
    ), old as materialized (
      select id from failed_token_attempts
      where at < ${toDateUtc(DateTime.subtract(at, keptFor))}
      order by at limit 100 for update skip locked
    ), deleted as (
      delete from failed_token_attempts
      where id in (select id from ended union all select id from old)
    ), recorded as (
      insert into failed_token_attempts (client_address, at)
      select ${clientAddress}, ${toDateUtc(at)}::timestamptz
      where not exists (select from blocking)
    )
    select at from blocking`)
  return Option.map(Option.fromNullishOr(blocking), (row) => row.at)
})

export const layer: Layer.Layer<ApiKeys, never, Database> = Layer.effect(
  ApiKeys,
  Effect.map(Database, ({ run, sql }) =>
    ApiKeys.of({
      issue: (key) => run(sql.withTransaction(issue(sql, key))),
      findEnd: (id) => (isStorable(id) ? run(endOf(sql, id)) : Effect.succeedNone),
      findByHash: (hash) => (isStorable(hash) ? run(keyWith(sql, hash)) : Effect.succeedNone),
      list: (organisation) =>
        run(
          listedRows(sql`
            select ${columns(sql, Listed)} from api_keys where organisation = ${organisation}
            order by created_at, id`)
        ),
      revoke: (id, at) => run(sql.withTransaction(revoke(sql, id, at))),
      saveRefreshToken: (token, at) => run(Effect.asVoid(saveRefreshToken(sql, token, at))),
      rotateRefreshToken: (command) => run(sql.withTransaction(rotate(sql, command))),
      recordFailedAttempt: (attempt) => run(sql.withTransaction(recordFailedAttempt(sql, attempt)))
    })
  )
)
