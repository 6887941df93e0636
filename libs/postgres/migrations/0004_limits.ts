/**
 * The token buckets of organisations, and indexes by which sign-in tables are kept small.
 *
 * Can be undone: yes, by dropping the table of token buckets and the indexes.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const limits = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // A crash may empty it: every organisation then has its whole allowance again.
  yield* sql`
    create unlogged table allowances (
      organisation text collate "C"
        constraint allowances_pkey primary key
        constraint allowances_organisation_exists references organisations,
      requests double precision
        constraint allowances_requests_not_negative check (requests >= 0),
      at timestamptz,
      constraint allowances_whole check ((requests is null) = (at is null))
    )`

  yield* sql`create index refresh_tokens_by_expiry on refresh_tokens (expires_at)`
  yield* sql`create index refresh_tokens_by_family on refresh_tokens (family)`
})
