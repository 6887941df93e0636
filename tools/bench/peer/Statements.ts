/**
 * The SQL of the peer: one statement per operation. Each is prepared under its name. Parameters are
 * positional, and those of a change begin with the import and the caller.
 */

export interface Statement<Row extends object> {
  readonly name: string
  readonly text: string
  /** Never set; carries the type of the rows. */
  readonly row?: Row
}

export const statement = <Row extends object = object>(
  name: string,
  text: string
): Statement<Row> => ({ name, text })

/** Every change has $1 supplier, $2 number, $3 at, $4 organisation, $5 API key, $6 request. */
export const trail = (action: string, outcome: string, event: string, codes = "null") => `
  audit as (
    insert into peer.audit_log
      (at, organisation, api_key, request_id, action, outcome, supplier, number)
    select $3, $4, $5, $6, '${action}', ${outcome}, $1, $2 from changed
  ),
  event as (
    insert into peer.outbox (at, name, supplier, number, codes)
    select $3, 'data_import.import_process.${event}', $1, $2, ${codes} from changed
  )`

/** The columns of an import that determine its state. */
export interface ImportRow {
  readonly skipped: boolean
  readonly leased_until: Date | null
  readonly account_number: string | null
}

export const activeKey = statement(
  "active_key",
  `select id from api_keys where id = $1 and revoked_at is null
     and (expires_at is null or expires_at > now())`
)

export interface Supplier {
  readonly organisation: string
  readonly status: "Ongoing" | "Paused" | "Complete"
  readonly time_zone: string
  readonly document_root: string
  readonly document_check: boolean
}

/** $1 supplier. */
export const supplier = statement<Supplier>(
  "supplier",
  `select organisation, status, time_zone, document_root, document_check
   from suppliers where code = $1`
)

export const codeLists = statement<{ readonly list: string; readonly values: Array<string> }>(
  "code_lists",
  `select list, array_agg(value order by added) as "values" from choices group by list`
)

/** $1 team. */
export const team = statement("team", "select from operations_teams where name = $1")

const isFree = `
  imports.account_number is null and not imports.skipped
  and (imports.leased_until is null or imports.leased_until <= $3)`

/** $7 payload. */
export const stage = statement<{ readonly stagings: number }>(
  "stage",
  `with changed as (
     insert into peer.imports as imports (supplier, number) values ($1, $2)
     on conflict (supplier, number) do update
     set lease = null, leased_until = null, failure = null where ${isFree}
     returning id
   ),
   payload as (
     insert into peer.payloads as present (import_id, payload, stagings, staged_at)
     select id, $7::jsonb, 1, $3 from changed
     on conflict (import_id) do update
     set payload = excluded.payload, stagings = present.stagings + 1, staged_at = $3
     returning stagings
   ),
   ${trail("stage", "(select stagings::text from payload)", "staged-v1")}
   select stagings from payload`
)

/** $1 supplier, $2 number. */
export const find = statement<ImportRow>(
  "find",
  `select skipped, leased_until, account_number from peer.imports
   where supplier = $1 and number = $2`
)

/** $1 supplier, $2 number, $3 at, $4 lease, $5 until. */
export const claim = statement<{
  readonly id: string
  readonly stagings: number
  readonly payload: unknown
}>(
  "claim",
  `update peer.imports set lease = $4, leased_until = $5
   from peer.payloads
   where supplier = $1 and number = $2 and import_id = imports.id and ${isFree}
   returning imports.id, stagings, payload`
)

/** $7 lease, $8 failure, $9 codes. */
export const release = statement(
  "release",
  `with changed as (
     update peer.imports set lease = null, leased_until = null, failure = $8
     where supplier = $1 and number = $2 and lease = $7
     returning id
   ),
   ${trail("process", "$8", "error-v1", "$9::text[]")}
   select id from changed`
)
