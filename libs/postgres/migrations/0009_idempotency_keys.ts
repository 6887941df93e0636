/**
 * Idempotency keys: the reservation of a key, then the answer that is kept under it for a day. An
 * answer may repeat what the client sent.
 *
 * Can be undone: yes, but a request that is sent again within a day takes effect again.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const idempotencyKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // No reference to the organisation: every key of one would lock the same row.
  yield* sql`
    create table idempotency_keys (
      organisation text collate "C" not null,
      key text collate "C" not null
        constraint idempotency_keys_key_length check (length(key) between 1 and 255),
      fingerprint text collate "C" not null,
      token text collate "C" not null,
      expires_at timestamptz not null,
      answer text,
      constraint idempotency_keys_pkey primary key (organisation, key)
    )`
  yield* sql`create index idempotency_keys_by_expiry on idempotency_keys (expires_at)`
  yield* sql`
    grant select, insert, delete, update (fingerprint, token, expires_at, answer)
    on idempotency_keys to data_import_account_import, data_import_post_import`
})
