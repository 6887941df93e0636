import { layer } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { BatchId } from "@data-import/domain/batches/Batch"
import { RehearsalOutcomes } from "@data-import/domain/batches/RehearsalOutcomes"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import { begun, found } from "@data-import/domain/testing/begunBatches"
import { Database } from "../src/connection/Database.ts"
import * as TestDatabase from "../testing/TestDatabase.ts"

const n = Number(process.env["LINES"] ?? 1_000_000)
const timed = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const t = performance.now()
    const a = yield* effect
    console.error("MEASURED", name, Math.round(performance.now() - t), "ms")
    return a
  })

layer(Layer_(), { excludeTestServices: true, timeout: "20 minutes" })("m", (it) => {
  it.effect("measures", () =>
    Effect.gen(function* () {
      const { sql } = yield* Database
      const owner = yield* freshSupplier
      const supplier = owner.supplier.code
      const batch = yield* begun({ of: owner, operation: "PROCESS", dryRun: true })
      const id = batch.id
      yield* sql`set statement_timeout = 0`
      yield* sql`set session_replication_role = replica`
      yield* timed("imports", sql`insert into import_processes (supplier, external_account_number, payload, staged_at, account_id, account_number, account_created_at, payload_hash)
        select ${supplier}, 'AL-' || i, '{}', '2026-01-01', i, 'A-' || upper(lpad(to_hex(i), 8, '0')), '2026-01-01 13:00:01', sha256(i::text::bytea)
        from generate_series(1, ${n}::integer) i`)
      const rows = yield* sql`select min(id)::text as base from import_processes where supplier = ${supplier}`
      const base = Number((rows[0] as any).base) - 1
      yield* timed("attempts", sql`insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome, payload_hash, judged_by)
        select i + ${base}::integer, 'a' || i, false, '2026-01-01 13:00:00', '2026-01-01 13:00:01', 'created', sha256(i::text::bytea), '2026-01-01 1 0123456789abcdef'
        from generate_series(1, ${n}::integer) i`)
      yield* timed("accounts", sql`insert into accounts (id, import_id, number, created_at, operations_team, balance, payload)
        select i, i + ${base}::integer, 'A-' || upper(lpad(to_hex(i), 8, '0')), '2026-01-01 13:00:01', 'Migration Team', 12.34, '{}' from generate_series(1, ${n}::integer) i`)
      yield* timed("ledgers", sql`insert into ledgers (account_id, position, ledger_code, ledger_balance) select i, 0, 'ELECTRICITY_LEDGER', 12.34 from generate_series(1, ${n}::integer) i`)
      yield* timed("chunks", sql`insert into batch_chunks (batch, first_line, line_count, lines, numbers, tries, outcomes, results, unfinished, sizes)
        select ${id}, f, 100, array(select '{}'::bytea from generate_series(0, 99)), array(select 'AL-' || f + g from generate_series(0, 99) g),
          array(select 1::smallint from generate_series(0, 99)),
          array(select case when (f + g) % 50 = 0 then 'FAILED' else 'SUCCEEDED' end from generate_series(0, 99) g),
          array(select '{}' from generate_series(0, 99)), 0, array(select 2 from generate_series(0, 99))
        from generate_series(1, ${n}::integer, 100) f`)
      yield* sql`update batches set received = ${n}::integer, succeeded = ${n}::integer, started_at = '2026-01-01 12:00', api_key = 'x', finished_at = '2026-01-01 12:30' where id = ${id}`
      yield* sql`vacuum analyze batch_chunks`
      const size0 = yield* sql`select pg_total_relation_size('batch_chunks')::text as s`
      yield* timed("judged (with GIN)", sql`update batch_chunks set
        payload_hashes = array(select sha256((first_line + g)::text::bytea) from generate_series(0, 99) g),
        judged_by = array(select '2026-01-01 1 0123456789abcdef' from generate_series(0, 99) g),
        judged_at = array(select timestamptz '2026-01-01 12:10' + make_interval(secs => first_line * 0.001 + g * 0.0071) from generate_series(0, 99) g),
        judged_codes = array(select case when (first_line + g) % 50 = 0 then ' account_failed_validation invalid_phone_number ' end from generate_series(0, 99) g)
        where batch = ${id}`)
      console.error("MEASURED sizes", size0, yield* sql`select pg_relation_size('batch_chunks_judged')::text as gin,
        (avg(pg_column_size(payload_hashes)) / 100)::text as hash, (avg(pg_column_size(judged_by)) / 100)::text as by, (avg(pg_column_size(judged_at))/100)::text as at, (avg(pg_column_size(judged_codes))/100)::text as codes from batch_chunks`)
      yield* sql`insert into followed_rehearsals (batch, supplier) values (${id}, ${supplier})`
      yield* sql`insert into rehearsal_counts (batch, first_line, stale_since) select ${id}, f, now() from generate_series(1, ${n}::integer, 100) f`
      yield* sql`set session_replication_role = origin`
      yield* sql`analyze`
      const { counts, follow, lines } = yield* RehearsalOutcomes
      yield* timed("follow all", Effect.repeat(follow(Duration.zero), { while: (more) => more }))
      for (let i = 0; i < 3; i++) console.error(yield* timed("counts", counts(BatchId.make(id))))
      const rehearsal = yield* found(batch)
      for (const q of [{ happened: "CREATED", predicted: "SUCCEEDED" }, { happened: "CHANGED" }, { happened: "CREATED", predicted: "FAILED", afterLine: 900_000 }, { happened: "FAILED_OTHERWISE" }] as const)
        for (let i = 0; i < 2; i++)
        yield* timed(`lines ${JSON.stringify(q)}`, lines(rehearsal, { afterLine: 0, limit: 100, ...q }))
      yield* timed("10k changes", sql`insert into rehearsal_changes (import_id) select ${base}::integer + i * 97 from generate_series(1, 10000) i`)
      yield* timed("follow random 10k", Effect.repeat(follow(Duration.zero), { while: (more) => more }))
      yield* timed("10k changes", sql`insert into rehearsal_changes (import_id) select ${base}::integer + i from generate_series(1, 10000) i`)
      yield* timed("follow sequential 10k", Effect.repeat(follow(Duration.zero), { while: (more) => more }))
    }).pipe(Effect.scoped), 1_200_000
  )
})
function Layer_() { return TestDatabase.layerCountedPorts(Duration.minutes(10)) }
