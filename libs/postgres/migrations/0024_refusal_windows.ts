/**
 * Which refusals of an API key were recorded in its present window, so that repeated ones are not
 * recorded again. A key has one row, which the next window overwrites: the table does not grow
 * with refusals.
 *
 * Can be undone: yes, by dropping the table.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const refusalWindows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table refusal_windows (
      organisation text collate "C" not null,
      api_key text collate "C" not null,
      began_at timestamptz not null,
      digests bigint[] not null,
      is_full boolean not null default false,
      constraint refusal_windows_pkey primary key (organisation, api_key)
    )`
  yield* sql`
    grant select, insert, update (began_at, digests, is_full) on refusal_windows
    to data_import_account_import, data_import_post_import, data_import_batches,
      data_import_batch_worker`
})
