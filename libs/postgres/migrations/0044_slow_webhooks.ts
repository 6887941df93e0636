/**
 * Whether the last session of a webhook took long, so that its deliveries come after others.
 *
 * Can be undone: yes, by dropping the column.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const slowWebhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`alter table webhooks add column is_slow boolean not null default false`
  yield* sql`grant update (is_slow) on webhooks to data_import_events`
})
