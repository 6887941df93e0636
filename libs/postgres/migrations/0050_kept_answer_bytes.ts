/**
 * The bytes of kept answers to keyed writes, which count in what an organisation stores. An answer
 * may be as large as a body, and is kept for a day. Only large ones are summed, by an index; a
 * small one is not larger than what any request leaves.
 *
 * Can be undone: yes, by dropping the function.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const keptAnswerBytes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create function kept_answer_bytes(of_organisation text) returns bigint
    language sql stable security definer set search_path = public, pg_temp as $$
      select coalesce(sum(octet_length(answer)), 0)::bigint from idempotency_keys
      where organisation = of_organisation and octet_length(answer) > 16384
    $$`
  yield* sql`
    grant execute on function kept_answer_bytes
    to data_import_batches, data_import_board, data_import_operator`
})
