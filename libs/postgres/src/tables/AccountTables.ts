/** The tables of an account that only its import fills: the account itself and its ledgers. */
import { AccountNumber } from "@data-import/domain/accounts/Account"
import type { DescribedLedger } from "@data-import/domain/accounts/AccountDescription"
import {
  type ColumnsFor,
  date,
  instant,
  integer,
  numeric,
  optional,
  text,
  textOf
} from "./Column.ts"
import * as Table from "./Table.ts"

/** The payload is the staged one, which `target` has. */
export const accounts = Table.make(
  "accounts",
  {
    number: textOf(AccountNumber),
    created_at: instant,
    operations_team: text,
    balance: numeric,
    transfer_balance: optional(numeric),
    payload_notes: integer,
    entry: text,
    entry_sums: text
  },
  {
    key: "id",
    computed: {
      import_id: "target.import_id",
      payload: "target.staged",
      payload_bytes: "target.staged_bytes"
    }
  }
)

export const ledgerColumns = {
  ledger_code: text,
  last_statement_balance: optional(numeric),
  last_statement_closing_date: optional(date),
  ledger_balance: optional(numeric)
} satisfies ColumnsFor<DescribedLedger>

export const ledgers = Table.make("ledgers", { position: integer, ...ledgerColumns })
