/**
 * The scheduled checks: how far each walk has come, and the differences that stand. The query
 * service runs them, because it reads whole accounts anyway. What it may read beyond that holds no
 * content of accounts.
 *
 * Can be undone: yes, by dropping the tables; the checks begin anew.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export const checks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    create table check_walks (
      walk text constraint check_walks_pkey primary key,
      position bigint not null default 0,
      begun_at timestamptz not null default '-infinity'
    )`
  yield* sql`
    insert into check_walks (walk) values ('accounts'), ('batches'), ('audit_chains'), ('events')`
  yield* sql`
    create table check_differences (
      walk text not null constraint check_differences_walk_exists references check_walks,
      subject bigint not null,
      kind text not null,
      supplier text,
      detail text not null,
      found_at timestamptz not null,
      constraint check_differences_pkey primary key (walk, subject, kind)
    )`
  yield* grants
})

const grants = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    grant select, update (position, begun_at) on check_walks
    to data_import_query, data_import_operator`
  yield* sql`
    grant select, insert, delete, update (supplier, detail) on check_differences
    to data_import_query, data_import_operator`
  yield* sql`
    grant select (id, number, supplier, received, succeeded, already, failed, cancelled)
    on batches to data_import_query`
  yield* sql`
    grant select (batch, line_count, outcomes, unfinished) on batch_chunks to data_import_query`
  yield* sql`grant select on audit_log, audit_chains to data_import_query`
  yield* sql`grant select (id, at, position) on outbox to data_import_query, data_import_operator`
})
