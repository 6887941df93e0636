/** Reads imports: the state that decides an operation, and the reason of a refusal. */
import { Effect, Option, Schema } from "effect"
import { AccountNumber } from "@data-import/domain/accounts/Account"
import {
  AttemptId,
  type ImportKey,
  type ImportProcess,
  PayloadHash
} from "@data-import/domain/imports/ImportProcess"
import type { OwnImport, Present } from "@data-import/domain/imports/ImportProcesses"
import { smallBytes } from "@data-import/domain/requests/WorkBudget"
import { codeIn, SupplierCode } from "@data-import/domain/suppliers/Supplier"
import { type Database, isStorable, rowsOf } from "../connection/Database.ts"
import { byPosition, position, recordSet } from "./RecordSet.ts"
import { columnsOf } from "./Selection.ts"

const Instant = Schema.DateTimeUtcFromDate

const Row = Schema.Struct({
  skipped: Schema.Boolean,
  erased_at: Schema.NullOr(Instant),
  lease_attempt: Schema.NullOr(AttemptId),
  lease_expires_at: Schema.NullOr(Instant),
  lease_dry_run: Schema.Boolean,
  account_number: Schema.NullOr(AccountNumber),
  account_created_at: Schema.NullOr(Instant),
  reverted_at: Schema.NullOr(Instant)
})

const processOf = (key: ImportKey, row: typeof Row.Type): ImportProcess => ({
  key,
  skipped: row.skipped && row.erased_at === null,
  erased: row.erased_at !== null,
  lease:
    row.lease_attempt !== null && row.lease_expires_at !== null
      ? {
          attempt: row.lease_attempt,
          expiresAt: row.lease_expires_at,
          isDryRun: row.lease_dry_run
        }
      : null,
  account:
    row.account_number !== null && row.account_created_at !== null
      ? { number: row.account_number, createdAt: row.account_created_at }
      : null,
  revertedAt: row.reverted_at
})

/** Whether an attempt of `present` holds the lease, once it has expired, that was no dry run. */
export const brokenOff = (sql: Database["Service"]["sql"]) =>
  sql`(present.lease_attempt is not null and not present.lease_dry_run)`

/** Whether what is staged has not failed yet, written as in the indexes. */
export const hasNotFailed = (sql: Database["Service"]["sql"]) =>
  sql`coalesce(failed_staging, 0) = 0`

const columns = columnsOf(Row.fields)

const rows = rowsOf(Row)

const foundRows = rowsOf(Schema.Struct({ ...Row.fields, position: Schema.BigInt }))

/** Whether PostgreSQL can store both parts of the key. */
export const isStorableKey = (key: ImportKey): boolean =>
  isStorable(key.import_supplier) && isStorable(key.external_account_number)

/**
 * The import of this key. `locked` locks its row until the transaction ends, and fails at once if
 * another transaction has locked it.
 */
export const readImport = ({ sql }: Database["Service"], key: ImportKey, locked = false) =>
  rows(sql`
    select ${sql.literal(columns)} from import_processes
    where supplier = ${key.import_supplier}
      and external_account_number = ${key.external_account_number}
    ${locked ? sql`for no key update nowait` : sql``}`).pipe(
    Effect.map(([row]) =>
      row === undefined ? Option.none<ImportProcess>() : Option.some(processOf(key, row))
    )
  )

/**
 * Selects from the imports of these keys. Each is a separate lookup, because a plan that was made
 * for a small table must also be good for a large one.
 */
const selectImports = (
  sql: Database["Service"]["sql"],
  keys: ReadonlyArray<ImportKey>,
  more = ""
) =>
  sql`
    select position, found.* from ${recordSet(sql, "sought", keys, {
      supplier: ["text", (key) => key.import_supplier],
      external_account_number: ["text", (key) => key.external_account_number],
      position
    })}, lateral (
      select ${sql.literal(columns + more)} from import_processes present
      where present.supplier = sought.supplier
        and present.external_account_number = sought.external_account_number
      offset 0
    ) as found`

const readImports = ({ sql }: Database["Service"], keys: ReadonlyArray<ImportKey>) =>
  Effect.map(foundRows(selectImports(sql, keys)), (rows) =>
    byPosition(keys, rows, (found, key) =>
      Option.map(Option.fromUndefinedOr(found), (row) => processOf(key, row))
    )
  )

/** Finds imports, in batches. */
export const makeFind = (database: Database["Service"]) =>
  database.batchedRead((keys: ReadonlyArray<ImportKey>) => readImports(database, keys))

const presentRows = rowsOf(
  Schema.Struct({
    ...Row.fields,
    position: Schema.BigInt,
    hash: Schema.NullOr(PayloadHash),
    text: Schema.NullOr(Schema.String),
    bytes: Schema.NullOr(Schema.Int)
  })
)

/** What is staged of an import, without a text that is large. */
const stagedColumns = `, encode(payload_hash, 'hex') as hash, payload_bytes as bytes,
  case when payload_bytes <= ${smallBytes} then payload::text end as text`

const readPresent = ({ sql }: Database["Service"], keys: ReadonlyArray<ImportKey>) =>
  Effect.map(presentRows(selectImports(sql, keys, stagedColumns)), (rows) =>
    byPosition(keys, rows, (found, key) =>
      Option.map(Option.fromUndefinedOr(found), ({ bytes, hash, text, ...row }): Present => ({
        process: processOf(key, row),
        staged: hash === null || bytes === null ? null : { hash, payload: text ?? { bytes } }
      }))
    )
  )

/** Finds imports with what is staged, in batches. */
export const makePresent = (database: Database["Service"]) =>
  database.batchedRead((keys: ReadonlyArray<ImportKey>) => readPresent(database, keys))

const ownRows = rowsOf(
  Schema.Struct({ ...Row.fields, supplier: SupplierCode, position: Schema.BigInt })
)

/** The imports of own suppliers, each by its indexes alone, as `readImports` does. */
const readOwnImports = ({ sql }: Database["Service"], imports: ReadonlyArray<OwnImport>) =>
  ownRows(sql`
    select position, found.* from ${recordSet(sql, "sought", imports, {
      organisation: ["text", ({ organisation }) => organisation],
      live: ["text", ({ supplier }) => codeIn("live", supplier)],
      test: ["text", ({ supplier }) => codeIn("test", supplier)],
      external_account_number: ["text", ({ number }) => number],
      position
    })}, lateral (
      select supplier, ${sql.literal(columns)}
      from suppliers join import_processes present on present.supplier = suppliers.code
        and present.external_account_number = sought.external_account_number
      where suppliers.code = any(array[sought.live, sought.test])
        and suppliers.organisation = sought.organisation
      offset 0
    ) as found`).pipe(
    Effect.map((rows) =>
      byPosition(imports, rows, (found, { number }) =>
        Option.map(Option.fromUndefinedOr(found), (row) =>
          processOf({ import_supplier: row.supplier, external_account_number: number }, row)
        )
      )
    )
  )

/** Finds imports of own suppliers, in batches. */
export const makeFindOwn = (database: Database["Service"]) => {
  const find = database.batchedRead((imports: ReadonlyArray<OwnImport>) =>
    readOwnImports(database, imports)
  )
  return (sought: OwnImport) =>
    isStorable(sought.supplier) && isStorable(sought.number) ? find(sought) : Effect.succeedNone
}
