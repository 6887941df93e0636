/**
 * Writes that only an Ongoing supplier accepts. Their statements check it, because what a process
 * knows of a supplier may be a second old.
 */
import { Effect, Schema } from "effect"
import type { NotOngoing } from "@data-import/domain/imports/ImportProcesses"
import { type SupplierCode, SupplierStatus } from "@data-import/domain/suppliers/Supplier"
import { type Database, rowsOf } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

/** A condition; `code` is SQL for the supplier's code. One lookup in its index. */
export const isOngoing = (sql: Sql, code: string) =>
  sql`not exists (
    select from suppliers where suppliers.code = ${sql.literal(code)} and status <> 'Ongoing')`

const statusRows = rowsOf(Schema.Struct({ status: SupplierStatus }))

/** Why a statement with this condition stored nothing; null if the supplier is Ongoing. */
export const notOngoing = (sql: Sql, code: SupplierCode) =>
  Effect.map(
    statusRows(sql`select status from suppliers where code = ${code} and status <> 'Ongoing'`),
    ([found]): NotOngoing | null =>
      found === undefined ? null : { _tag: "NotOngoing", status: found.status }
  )
