/** Stages accounts directly in the database, without a service: in the tables of either side. */
import { Effect } from "effect"
import type { Installation } from "./Installation.ts"
import { accountMark, storedPayload } from "./Workloads.ts"

export interface Owner {
  readonly supplier: string
  readonly organisation: string
}

interface Range {
  /** The prefix of the account numbers. */
  readonly prefix: string
  /** The number of the first account, and of the one after the last. */
  readonly from: number
  readonly to: number
}

/** Stores the import, its event and its audit entry, as staging does. */
const services = `
  with staged as (
    insert into import_processes (supplier, external_account_number, payload, payload_bytes,
      payload_hash, staged_at)
    select $1, number, text::json, octet_length(text),
      sha256(convert_to(text, 'UTF8')), now()
    from generate_series($4::bigint, $5::bigint - 1) as n
      cross join lateral (select $2 || '-' || lpad(n::text, 9, '0') as number) as named
      cross join lateral (select replace($3, '${accountMark}', number) as text) as written
    returning id, supplier, external_account_number
  ),
  event as (
    insert into outbox (at, name, import_id)
    select now(), 'data_import.import_process.staged-v1', id from staged
  )
  insert into audit_log (at, organisation, api_key, request_id, action, outcome,
    import_supplier, external_account_number)
  select now(), $6, 'bench', 'bench', 'stage', 'created', supplier, external_account_number
  from staged`

/** The same in the tables of the peer. */
const peer = `
  with staged as (
    insert into peer.imports (supplier, number)
    select $1, $2 || '-' || lpad(n::text, 9, '0')
    from generate_series($4::bigint, $5::bigint - 1) as n
    returning id, supplier, number
  ),
  payload as (
    insert into peer.payloads (import_id, payload, stagings, staged_at)
    select id, replace($3, '${accountMark}', number)::jsonb, 1, now() from staged
  ),
  event as (
    insert into peer.outbox (at, name, supplier, number)
    select now(), 'data_import.import_process.staged-v1', supplier, number from staged
  )
  insert into peer.audit_log (at, organisation, api_key, request_id, action, outcome,
    supplier, number)
  select now(), $6, 'bench', 'bench', 'stage', 'created', supplier, number from staged`

const staging = { services, peer }

/** The owner of the tables: the services or the peer. */
export type Side = keyof typeof staging

const chunk = 20_000

export const stage = Effect.fnUntraced(function* (
  { query }: Installation,
  side: Side,
  { organisation, supplier }: Owner,
  { prefix, to, ...range }: Range
) {
  const payload = storedPayload(supplier)
  for (let from = range.from; from < to; from += chunk) {
    const end = Math.min(to, from + chunk)
    yield* query(staging[side], [supplier, prefix, payload, from, end, organisation])
  }
})
