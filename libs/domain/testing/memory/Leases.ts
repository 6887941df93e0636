/** The leases of imports in memory. */
import { DateTime } from "effect"
import type { MemoryStore } from "./Store.ts"

/** How many leases are held at this time, and how many have expired. */
export const leases = (store: MemoryStore["Service"], at: DateTime.Utc) => {
  const ends = [...store.imports.values()]
    .flatMap((ofSupplier) => [...ofSupplier.values()])
    .flatMap(({ process: { lease } }) => (lease === null ? [] : [lease.expiresAt]))
  const held = ends.filter((end) => DateTime.isGreaterThan(end, at)).length
  return { held, expired: ends.length - held }
}
