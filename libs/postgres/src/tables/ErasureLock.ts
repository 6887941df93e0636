/**
 * What copies account numbers of a supplier to other places does so before an erasure or after it.
 * Otherwise a copy that does not see an erasure, which has not committed yet, would keep a number
 * that the erasure cannot see. Erasures of a supplier hold the lock alone, copies together, until
 * their transactions end.
 */
import type { Statement } from "effect/sql"
import type { SupplierCode } from "@data-import/domain/suppliers/Supplier"
import type { Database } from "../connection/Database.ts"

type Sql = Database["Service"]["sql"]

const key = (sql: Sql, supplier: Statement.Fragment) =>
  sql`hashtextextended('erasures of ' || ${supplier}, 0)`

/** Waits for copies that have begun. */
export const erasing = (sql: Sql, supplier: SupplierCode) =>
  sql`select pg_advisory_xact_lock(${key(sql, sql`${supplier}::text`)})`

/** Waits for erasures that have begun. */
export const copying = (sql: Sql, supplier: SupplierCode) =>
  sql`select pg_advisory_xact_lock_shared(${key(sql, sql`${supplier}::text`)})`

/** A condition: no erasure has begun, and none begins before the transaction ends. */
export const mayCopy = (sql: Sql, supplier: Statement.Fragment) =>
  sql`pg_try_advisory_xact_lock_shared(${key(sql, supplier)})`
