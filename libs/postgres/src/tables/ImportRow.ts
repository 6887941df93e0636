/** One import as its row says it: what every operation that was refused looks at. */
import { Effect, Option, Schema } from "effect"
import { AccountNumber } from "@data-import/domain/account/Account"
import {
  AttemptId,
  type ImportKey,
  type ImportProcess
} from "@data-import/domain/account/ImportProcess"
import { type Database, isStorable, rowsOf } from "../connection/Database.ts"

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

const foundRows = rowsOf(Schema.Struct({ ...Row.fields, position: Schema.BigInt }))

/** Whether both halves of the key can stand in the database at all. */
export const isStorableKey = (key: ImportKey): boolean =>
  isStorable(key.import_supplier) && isStorable(key.external_account_number)

/**
 * The import of this key; `locked` keeps others from changing it until the transaction ends, and
 * fails at once where another transaction does so already.
 */
export const readImport = ({ sql }: Database["Service"], key: ImportKey, locked = false) =>
  rows(sql`
    select skipped, lease_attempt, lease_expires_at, account_number, account_created_at
    from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    ${locked ? sql`for no key update nowait` : sql``}`).pipe(
    Effect.map(([row]) =>
      row === undefined ? Option.none<ImportProcess>() : Option.some(processOf(key, row))
    )
  )

/**
 * The imports of these keys, each sought by itself, since a plan that was made while there were few
 * must also be good when there are many.
 */
const readImports = ({ sql }: Database["Service"], keys: ReadonlyArray<ImportKey>) =>
  foundRows(sql`
    select position, found.* from unnest(
      ${keys.map((key) => key.import_supplier)}::text[],
      ${keys.map((key) => key.external_account_number)}::text[]
    ) with ordinality as sought(supplier, external_account_number, position),
    lateral (
      select skipped, lease_attempt, lease_expires_at, account_number, account_created_at
      from import_processes present
      where present.supplier = sought.supplier
        and present.external_account_number = sought.external_account_number
      offset 0
    ) as found`).pipe(
    Effect.map((rows) => {
      const found = new Map(rows.map((row) => [Number(row.position), row]))
      return keys.map((key, index) =>
        Option.map(Option.fromUndefinedOr(found.get(index + 1)), (row) => processOf(key, row))
      )
    })
  )

/** Finds imports; those that are asked for together are read together. */
export const makeFind = (database: Database["Service"]) =>
  database.batched({
    run: (keys: ReadonlyArray<ImportKey>) => readImports(database, keys),
    isRead: true,
    limits: { slots: 2, commands: 64 }
  })
