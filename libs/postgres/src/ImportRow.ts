/** One import as its row says it: what every operation that was refused looks at. */
import { Effect, Option, Schema } from "effect"
import { AccountNumber } from "@data-import/domain/Account"
import { AttemptId, type ImportKey, type ImportProcess } from "@data-import/domain/ImportProcess"
import { type Database, isStorable, rowsOf } from "./Database.ts"

const Instant = Schema.DateTimeUtcFromDate

const Row = Schema.Struct({
  skipped: Schema.Boolean,
  lease_attempt: Schema.NullOr(AttemptId),
  lease_expires_at: Schema.NullOr(Instant),
  account_number: Schema.NullOr(AccountNumber),
  account_created_at: Schema.NullOr(Instant)
})

const processOf = (key: ImportKey, row: typeof Row.Type): ImportProcess => ({
  key,
  skipped: row.skipped,
  lease:
    row.lease_attempt !== null && row.lease_expires_at !== null
      ? { attempt: row.lease_attempt, expiresAt: row.lease_expires_at }
      : null,
  account:
    row.account_number !== null && row.account_created_at !== null
      ? { number: row.account_number, createdAt: row.account_created_at }
      : null
})

const rows = rowsOf(Row)

/** Whether both halves of the key can stand in the database at all. */
export const isStorableKey = (key: ImportKey): boolean =>
  isStorable(key.import_supplier) && isStorable(key.external_account_number)

/** The import of this key; `locked` keeps others from changing it until the transaction ends. */
export const readImport = ({ sql }: Database["Service"], key: ImportKey, locked = false) =>
  rows(sql`
    select skipped, lease_attempt, lease_expires_at, account_number, account_created_at
    from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    ${locked ? sql`for update` : sql``}`).pipe(
    Effect.map(([row]) =>
      row === undefined ? Option.none<ImportProcess>() : Option.some(processOf(key, row))
    )
  )
