/**
 * Records refused writes and writes without effect, each once in the window of its API key. A
 * repeated one is one read by the primary key. A new one locks the key's row until its entry is
 * stored, which happens a bounded number of times in a window; nothing else takes that lock.
 */
import { DateTime } from "effect"
import type { Statement } from "effect/sql"
import { hash } from "node:crypto"
import {
  type AuditLog,
  moreRefused,
  moreUnchanged,
  refusalsInWindow,
  refusalWindow
} from "@data-import/domain/audit/AuditLog"
import type { Database } from "../connection/Database.ts"
import { type AuditedWrite, auditEntry } from "./ChangeEntries.ts"

type Sql = Database["Service"]["sql"]
type Refusal = Parameters<AuditLog["Service"]["recordRefusal"]>[0]

/** What is recorded once. `window` names its window, and `more` stands for all further ones. */
interface Repeatable extends AuditedWrite {
  readonly outcome: string
  readonly key: Readonly<Record<keyof AuditedWrite["key"], string | null>>
  readonly window: string
  readonly more: string
}

const digestOf = ({ action, key, outcome }: Repeatable): bigint => {
  const named = [action, outcome, key.import_supplier, key.external_account_number]
  return hash("sha256", JSON.stringify(named), "buffer").readBigInt64BE()
}

/** Adds the write to its window, under the condition. Returns a row if it is to be recorded. */
const windowed = (sql: Sql, write: Repeatable, condition: Statement.Fragment) => {
  const { at, caller, window } = write
  const digest = sql`${digestOf(write)}::bigint`
  const begunBefore = DateTime.toDateUtc(DateTime.subtractDuration(at, refusalWindow))
  const isOver = sql`present.began_at <= ${begunBefore}`
  const isKnown = sql`(present.is_full or ${digest} = any (present.digests))`
  return sql`
    insert into refusal_windows as present (organisation, api_key, began_at, digests)
    select ${caller.organisation}, ${window}, ${DateTime.toDateUtc(at)}, array[${digest}]
    where ${condition} and not exists (
      select from refusal_windows as present
      where organisation = ${caller.organisation} and api_key = ${window}
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

/** The common table expression `first` that a statement records the write with, and the entry. */
const once = (sql: Sql, write: Repeatable, condition: Statement.Fragment = sql`true`) => {
  const { key, more, outcome } = write
  const unlessFull = (value: string | null) => sql`case when not is_full then ${value} end`
  const entry = {
    ...write,
    outcome: sql`case when is_full then ${more} else ${outcome} end`,
    key: {
      import_supplier: unlessFull(key.import_supplier),
      external_account_number: unlessFull(key.external_account_number)
    }
  }
  return {
    first: sql`first as (${windowed(sql, write, condition)})`,
    entry: auditEntry(sql, entry, sql`from first`)
  }
}

export const recordRefusal = (sql: Sql, refusal: Refusal) => {
  const window = refusal.caller.apiKey
  const { entry, first } = once(sql, { ...refusal, window, more: moreRefused })
  return sql`with ${first} ${entry}`
}

type Unchanged = Pick<Repeatable, "action" | "at" | "caller" | "key">

/**
 * The parts of a statement that record a write that stores nothing, under the condition. Their
 * window is one of its own, so that such writes hide no refusal.
 */
export const unchangedOnce = (sql: Sql, write: Unchanged, condition?: Statement.Fragment) => {
  const window = `unchanged ${write.caller.apiKey}`
  return once(sql, { ...write, outcome: "unchanged", window, more: moreUnchanged }, condition)
}

export const recordUnchanged = (sql: Sql, write: Unchanged) => {
  const { entry, first } = unchangedOnce(sql, write)
  return sql`with ${first} ${entry}`
}
