/** Markers of suppliers in memory: all that counts as a change, as text. */
import { DateTime, Effect, Layer } from "effect"
import { detailedStateOf } from "../../account/ImportDetails.ts"
import type { SupplierCode } from "../../organisation/Supplier.ts"
import { SupplierChanges } from "../SupplierChanges.ts"
import { MemoryStore } from "./Store.ts"

type Store = MemoryStore["Service"]

const importsOf = (store: Store, code: SupplierCode, now: DateTime.Utc) =>
  [...(store.imports.get(code)?.values() ?? [])].map((stored) => [
    stored.process.key.external_account_number,
    stored.cohort,
    detailedStateOf(stored, now)
  ])

const batchesOf = (store: Store, code: SupplierCode) =>
  [...store.batches.values()]
    .filter(({ batch }) => batch.settings.supplier === code)
    .map(({ batch, lines }) => [batch.id, batch, lines.filter(({ end }) => end !== null).length])

export const layerMemory: Layer.Layer<SupplierChanges> = Layer.effect(
  SupplierChanges,
  Effect.map(MemoryStore, (store) =>
    SupplierChanges.of({
      markers: Effect.map(DateTime.now, (now) =>
        [...store.suppliers.values()]
          .filter(({ organisation }) => store.organisations.get(organisation)?.testOf === null)
          .map(({ code, organisation, status }) => ({
            supplier: code,
            organisation,
            marker: JSON.stringify([status, importsOf(store, code, now), batchesOf(store, code)])
          }))
      )
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
