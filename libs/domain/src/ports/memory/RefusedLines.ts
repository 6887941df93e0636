/** The refused lines of ended batches in memory, looked for at each request. */
import { isErased } from "../ErasedLine.ts"
import { stages } from "../../batch/Batch.ts"
import type { SupplierCode } from "../../organisation/Supplier.ts"
import type { MemoryStore, StoredBatch, StoredLine } from "./Store.ts"

type Store = MemoryStore["Service"]

/** A line without a number is known by what was sent. */
const identityOf = ({ batch }: StoredBatch, line: StoredLine): string =>
  line.externalAccountNumber ??
  `\0${line.bytes === null ? `${batch.id} ${line.line}` : line.bytes.join()}`

/** The cohorts of the batches of refused lines, one for each account whose import is not there. */
export const cohortsOfRefused = (
  store: Store,
  supplier: SupplierCode
): ReadonlyArray<string | null> => {
  const imports = store.imports.get(supplier)
  const found = new Map<string, string | null>()
  for (const stored of store.batches.values()) {
    const { finishedAt, settings } = stored.batch
    if (settings.supplier !== supplier || finishedAt === null || !stages(settings)) continue
    for (const line of stored.lines) {
      const number = line.externalAccountNumber
      const isRefused = line.end?.outcome === "FAILED" && !isErased(line.end.text)
      const isCopy = number === null && line.bytes === null && line.sourceLine !== null
      if (!isRefused || isCopy || (number !== null && imports?.has(number) === true)) continue
      const identity = identityOf(stored, line)
      if (!found.has(identity)) found.set(identity, settings.cohort)
    }
  }
  return [...found.values()]
}
