/**
 * Records refused writes, each once in the window of its API key. A repeated refusal is one read by
 * the primary key. A new one locks the key's row until its entry is stored, which happens a bounded
 * number of times in a window; nothing else takes that lock.
 */
import { DateTime } from "effect"
import type { Statement } from "effect/sql"
import { hash } from "node:crypto"
import {
  type AuditLog,
  moreRefused,
  refusalsInWindow,
  refusalWindow
} from "@data-import/domain/ports/AuditLog"
import type { Database } from "../connection/Database.ts"
import { auditEntry } from "./ChangeEntries.ts"

type Sql = Database["Service"]["sql"]
type Refusal = Parameters<AuditLog["Service"]["recordRefusal"]>[0]

const digestOf = ({ action, key, outcome }: Refusal): bigint => {
  const named = [action, outcome, key.import_supplier, key.external_account_number]
  return hash("sha256", JSON.stringify(named), "buffer").readBigInt64BE()
}

/** Adds the refusal to the window of its key. Returns a row if it is to be recorded. */
const windowed = (sql: Sql, refusal: Refusal): Statement.Fragment => {
  const { at, caller } = refusal
  const digest = sql`${digestOf(refusal)}::bigint`
  const begunBefore = DateTime.toDateUtc(DateTime.subtractDuration(at, refusalWindow))
  const isOver = sql`present.began_at <= ${begunBefore}`
  const isKnown = sql`(present.is_full or ${digest} = any (present.digests))`
  return sql`
    insert into refusal_windows as present (organisation, api_key, began_at, digests)
    select ${caller.organisation}, ${caller.apiKey}, ${DateTime.toDateUtc(at)}, array[${digest}]
    where not exists (
      select from refusal_windows as present
      where organisation = ${caller.organisation} and api_key = ${caller.apiKey}
        and not ${isOver} and ${isKnown})
    on conflict on constraint refusal_windows_pkey do update
    set began_at = case when ${isOver} then excluded.began_at else present.began_at end,
      digests = case when ${isOver} then excluded.digests
        when cardinality(present.digests) < ${refusalsInWindow}
        then present.digests || excluded.digests else present.digests end,
      is_full = not ${isOver} and cardinality(present.digests) >= ${refusalsInWindow}
    where ${isOver} or not ${isKnown}
    returning is_full`
}

export const recordRefusal = (sql: Sql, refusal: Refusal) => {
  const { key, outcome } = refusal
  const unlessFull = (value: string | null) => sql`case when not is_full then ${value} end`
  const entry = {
    ...refusal,
    outcome: sql`case when is_full then ${moreRefused} else ${outcome} end`,
    key: {
      import_supplier: unlessFull(key.import_supplier),
      external_account_number: unlessFull(key.external_account_number)
    }
  }
  return sql`with refused as (${windowed(sql, refusal)})
    ${auditEntry(sql, entry, sql`from refused`)}`
}
