/** Stages accounts directly in the database, without a service: in the tables of either side. */
import { Duration, Effect, Schedule } from "effect"
import type { Installation } from "./Installation.ts"
import { accountMark, storedPayload } from "./Workloads.ts"

interface Order {
  readonly supplier: string
  readonly organisation: string
  /** The prefix of the account numbers. */
  readonly prefix: string
  /** The number of the first account, and of the one after the last. */
  readonly from: number
  readonly to: number
}

/** Stores the import, its event and its audit entry, as staging does. */
const services = `
  with staged as (
    insert into import_processes (supplier, external_account_number, payload, staged_at)
    select $1, $2 || '-' || lpad(n::text, 9, '0'),
      replace($3, '${accountMark}', $2 || '-' || lpad(n::text, 9, '0'))::json, now()
    from generate_series($4::bigint, $5::bigint - 1) as n
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

const present = {
  services: "select from import_processes where supplier = $1 and external_account_number = $2",
  peer: "select from peer.imports where supplier = $1 and number = $2"
}

/** The owner of the tables: the services or the peer. */
export type Side = keyof typeof present

const staging: Readonly<Record<Side, string>> = { services, peer }

const failing = `
  insert into import_attempts (import_id, id, dry_run, started_at, ended_at, outcome, errors)
  select id, 'bench ' || id, false, now(), now(), 'account_failed_validation',
    '[{"code": "invalid_email", "attr": "billing_email"}]'
  from import_processes
  where supplier = $1 and failed_staging is null and external_account_number like '%000'`

const failed = `
  update import_processes set failed_staging = stagings
  where supplier = $1 and failed_staging is null and external_account_number like '%000'`

/** Leaves an attempt that has failed on every thousandth import of the supplier. */
export const failSome = Effect.fnUntraced(function* ({ query }: Installation, supplier: string) {
  yield* query(failing, [supplier])
  yield* query(failed, [supplier])
})

const chunk = 20_000

export const stageMany = Effect.fnUntraced(function* (
  { query }: Installation,
  side: Side,
  order: Order
) {
  const { organisation, prefix, supplier } = order
  const payload = storedPayload(supplier)
  for (let from = order.from; from < order.to; from += chunk) {
    const to = Math.min(order.to, from + chunk)
    yield* query(staging[side], [supplier, prefix, payload, from, to, organisation])
  }
})

/**
 * Waits until the events of the services have positions, because assigning them loads PostgreSQL.
 */
export const untilNumbered = ({ query }: Installation) =>
  Effect.repeat(query("select from outbox where position is null limit 1"), {
    schedule: Schedule.spaced(Duration.millis(100)),
    while: ({ length }) => length > 0
  })

/** Stages the accounts unless the first one is already staged. */
export const stageOnce = Effect.fnUntraced(function* (
  installation: Installation,
  side: Side,
  {
    count,
    ...order
  }: Pick<Order, "organisation" | "prefix" | "supplier"> & {
    readonly count: number
  }
) {
  const first = [order.supplier, `${order.prefix}-000000000`]
  const found = yield* installation.query(present[side], first)
  if (found.length === 0) yield* stageMany(installation, side, { ...order, from: 0, to: count })
})
