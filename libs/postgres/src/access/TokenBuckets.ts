/** Token buckets in PostgreSQL: one row for each organisation, locked while it changes. */
import { DateTime, Effect, Layer, Schema } from "effect"
import type { OrganisationName } from "@data-import/domain/suppliers/Organisation"
import {
  type TokenBucket,
  type TokenBucketChange,
  TokenBuckets
} from "@data-import/domain/access/TokenBuckets"
import { Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

const presentRows = rowsOf(
  Schema.Struct({
    requests: Schema.NullOr(Schema.Finite),
    at: Schema.NullOr(Schema.DateTimeUtcFromDate)
  })
)

/** Inserts an empty row if there is none, so that the first two changes also lock each other out. */
const locked = (sql: Sql, organisation: OrganisationName) =>
  presentRows(sql`
    insert into allowances (organisation) values (${organisation})
    on conflict (organisation) do update set at = allowances.at
    returning requests, at`).pipe(
    Effect.map(([row]): TokenBucket | null => {
      const { at = null, requests = null } = row ?? {}
      return at === null || requests === null ? null : { at, requests }
    })
  )

const change = Effect.fnUntraced(function* <A>(
  sql: Sql,
  organisation: OrganisationName,
  decide: (present: TokenBucket | null) => TokenBucketChange<A>
) {
  const { bucket, result } = decide(yield* locked(sql, organisation))
  yield* sql`
    update allowances set requests = ${bucket.requests}, at = ${DateTime.toDateUtc(bucket.at)}
    where organisation = ${organisation}`
  return result
})

export const layer: Layer.Layer<TokenBuckets, never, Database> = Layer.effect(
  TokenBuckets,
  Effect.map(Database, ({ run, sql }) =>
    TokenBuckets.of({
      change: (organisation, decide) => run(sql.withTransaction(change(sql, organisation, decide)))
    })
  )
)
