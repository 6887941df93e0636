/** Finds imports in memory: those of an organisation, and what is staged of one. */
import { Option } from "effect"
import type { ImportKey } from "../../src/imports/ImportProcess.ts"
import type { OwnImport, Present } from "../../src/imports/ImportProcesses.ts"
import { smallBytes } from "../../src/requests/WorkBudget.ts"
import { codeIn } from "../../src/suppliers/Supplier.ts"
import { byteLength } from "../../src/support/Utf8.ts"
import { importOf, type MemoryStore } from "./Store.ts"

type Store = MemoryStore["Service"]

export const findOwn = (store: Store, { number, organisation, supplier }: OwnImport) => {
  const own = [codeIn("live", supplier), codeIn("test", supplier)].find(
    (code) => store.suppliers.get(code)?.organisation === organisation
  )
  const key = own && { import_supplier: own, external_account_number: number }
  return Option.fromNullishOr(key && importOf(store, key)?.process)
}

export const present = (store: Store, key: ImportKey): Option.Option<Present> =>
  Option.map(Option.fromNullishOr(importOf(store, key)), ({ hash, payload, process }) => {
    if (payload === null || hash === null) return { process, staged: null }
    const bytes = byteLength(payload)
    return { process, staged: { hash, payload: bytes <= smallBytes ? payload : { bytes } } }
  })
