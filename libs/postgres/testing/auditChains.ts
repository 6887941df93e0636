/** Audit chains as tests need them: of an earlier release, and with an erased number. */
import { Effect } from "effect"
import type { ImportKey } from "@data-import/domain/account/ImportProcess"
import { Database } from "../src/connection/Database.ts"

/** Rewrites the chains of these imports as releases before migration 0026 wrote them. */
export const asOfEarlierRelease = Effect.fnUntraced(function* (...keys: ReadonlyArray<ImportKey>) {
  const { run, sql } = yield* Database
  const numbers = keys.map((key) => key.external_account_number)
  const made = Effect.gen(function* () {
    yield* sql`set local session_replication_role = replica`
    const chains = sql`
      select id from audit_chains where external_account_number = any(${numbers}::text[])`
    yield* sql`
      with recursive earlier as (
        select id, chain, position, audit_hash(null, 1,
          audit_fields(audit_log) || netstring(external_account_number)) as hash
        from audit_log where position = 1 and chain in (${chains})
        union all
        select audit_log.id, audit_log.chain, audit_log.position, audit_hash(earlier.hash,
          audit_log.position, audit_fields(audit_log) || netstring(external_account_number))
        from earlier join audit_log
          on audit_log.chain = earlier.chain and audit_log.position = earlier.position + 1
      )
      update audit_log set hash = earlier.hash from earlier where earlier.id = audit_log.id`
    yield* sql`
      update audit_chains set salt = null, hmac = null, former_length = null, former_head = null,
        head = (select hash from audit_log where chain = audit_chains.id and position = length)
      where id in (${chains})`
    yield* sql`delete from earlier_audit_chains`
    yield* sql`insert into earlier_audit_chains select max(id), 0 from audit_chains`
  })
  yield* run(sql.withTransaction(made))
})

/** Erases the number with the operator's rights, and returns how many entries had it. */
export const eraseNumber = Effect.fnUntraced(function* (key: ImportKey) {
  const { run, sql } = yield* Database
  const erased = Effect.gen(function* () {
    yield* sql`set local role data_import_operator`
    const rows = yield* sql<{ entries: bigint }>`
      select erase_audited_number(${key.import_supplier}, ${key.external_account_number})
        as entries`
    return Number(rows[0]?.entries)
  })
  return yield* run(sql.withTransaction(erased))
})
