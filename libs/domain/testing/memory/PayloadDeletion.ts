/** Deletes the payloads of imports that became accounts long ago, in memory. */
import { DateTime } from "effect"
import { withoutContent } from "../../src/imports/ImportDetails.ts"
import type { ImportProcesses } from "../../src/imports/ImportProcesses.ts"
import { type MemoryStore, putImport } from "./Store.ts"

type Command = Parameters<ImportProcesses["Service"]["deletePayloads"]>[0]

export const deletePayloads = (
  store: MemoryStore["Service"],
  { importedBefore, limit }: Command
): boolean => {
  const due = [...store.imports.values()]
    .flatMap((ofSupplier) => [...ofSupplier.values()])
    .flatMap((stored) => {
      const at = stored.process.account?.createdAt
      const isDue = at && DateTime.isLessThan(at, importedBefore) && stored.payload !== null
      return isDue ? [{ stored, at }] : []
    })
    .toSorted((one, other) => DateTime.Order(one.at, other.at))
    .slice(0, limit)
  for (const { stored } of due) {
    const attempts = stored.attempts.map((attempt) => ({
      ...attempt,
      errors: attempt.errors.map(withoutContent)
    }))
    putImport(store, { ...stored, payload: null, attempts })
  }
  return due.length === limit
}
