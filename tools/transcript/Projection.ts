/**
 * What the database holds after the exchanges: money, states, events in their order, and the audit
 * log, whose order differs where requests ran at once.
 */
import { Effect } from "effect"
import { Database } from "@data-import/postgres/connection/Database"
import { racing } from "./Fuzzed.ts"
import type { Names } from "./Names.ts"

const statements: Readonly<Record<string, string>> = {
  accounts: `
    select i.supplier, i.external_account_number, a.balance::text, a.transfer_balance::text,
      (select count(*) from transactions t where t.account_id = a.id) as transactions,
      (select count(*) from notes n where n.account_id = a.id) as notes,
      (select count(*) from statements s where s.account_id = a.id) as statements,
      (select count(*) from payment_instructions p where p.account_id = a.id) as instructions
    from import_processes i join accounts a on a.id = i.account_id
    order by i.supplier collate "C", i.external_account_number`,
  ledgers: `
    select i.supplier, i.external_account_number, l.ledger_code, l.ledger_balance::text
    from import_processes i join accounts a on a.id = i.account_id
      join ledgers l on l.account_id = a.id
    order by i.supplier collate "C", i.external_account_number, l.position`,
  imports: `
    select supplier, external_account_number, cohort, skipped, erased_at is not null as erased,
      (select json_agg(outcome order by sequence) from import_attempts
        where import_id = i.id) as attempts
    from import_processes i order by i.supplier collate "C", i.external_account_number`,
  batches: `
    select supplier, operation, name, received, succeeded, already, failed, cancelled, is_cancelled
    from batches where name is distinct from '${racing}' order by number`,
  events: `
    select o.name, o.import_supplier, i.external_account_number
    from outbox o left join import_processes i on i.id = o.import_id order by o.id`,
  audit: `
    select action, outcome, import_supplier, external_account_number from audit_log
    where action <> 'create_batch'
    order by import_supplier collate "C" nulls first, external_account_number nulls first, action,
      outcome`
}

const asJson = (statement: string) =>
  `select row_to_json(found)::text as row from (${statement}) as found`

const named = (names: Names, row: string): string => {
  names.begin()
  return names.named(row)
}

/** A row of each table on a line. */
export const projection = Effect.fnUntraced(function* (names: Names) {
  const { run, sql } = yield* Database
  const parts = yield* Effect.forEach(Object.entries(statements), ([name, statement]) =>
    Effect.map(run(sql.unsafe<{ row: string }>(asJson(statement))), (rows) => {
      const lines = rows.map(({ row }) => named(names, row))
      return [`# ${name}: ${lines.length}`, ...lines].join("\n")
    })
  )
  return `${parts.join("\n\n")}\n`
})
