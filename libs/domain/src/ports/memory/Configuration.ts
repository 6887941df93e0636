/** The operator's configuration in memory. */
import { Effect, Layer, Option, Order, Result } from "effect"
import {
  overlappingRoot,
  type Supplier,
  type SupplierCode,
  type SupplierStatus
} from "../../organisation/Supplier.ts"
import { AlreadyExists, DocumentRootTaken, DoesNotExist, Configuration } from "../Configuration.ts"
import { codePointOrder, MemoryStore } from "./Store.ts"

const byName = <A>(name: (entry: A) => string): Order.Order<A> =>
  Order.mapInput(codePointOrder, name)

const suppliersOf = (store: MemoryStore["Service"]): ReadonlyArray<Supplier> =>
  [...store.suppliers.values()].sort(byName(({ code }) => code))

/** Stores the supplier unless its document root overlaps another organisation's. */
const storeWithRoot = (
  store: MemoryStore["Service"],
  supplier: Supplier
): Effect.Effect<void, DocumentRootTaken> => {
  const by = overlappingRoot(supplier, suppliersOf(store))
  if (by !== undefined) return new DocumentRootTaken({ documentRoot: supplier.documentRoot, by })
  store.suppliers.set(supplier.code, supplier)
  return Effect.void
}

export const layerMemory: Layer.Layer<Configuration> = Layer.effect(
  Configuration,
  Effect.map(MemoryStore, (store) =>
    Configuration.of({
      createOrganisation: (name, at) =>
        Effect.suspend(() => {
          if (store.organisations.has(name)) {
            return new AlreadyExists({ what: "organisation", name })
          }
          const organisation = { name, createdAt: at }
          store.organisations.set(name, organisation)
          return Effect.succeed(organisation)
        }),
      organisations: Effect.sync(() =>
        [...store.organisations.values()].sort(byName(({ name }) => name))
      ),
      createSupplier: (supplier) =>
        Effect.suspend(
          (): Effect.Effect<void, AlreadyExists | DoesNotExist | DocumentRootTaken> => {
            const { code, organisation } = supplier
            if (!store.organisations.has(organisation)) {
              return new DoesNotExist({ what: "organisation", name: organisation })
            }
            if (store.suppliers.has(code))
              return new AlreadyExists({ what: "supplier", name: code })
            return storeWithRoot(store, supplier)
          }
        ),
      supplier: (code) => Effect.sync(() => Option.fromNullishOr(store.suppliers.get(code))),
      suppliers: Effect.sync(() => suppliersOf(store)),
      changeSupplierStatus: <E>(
        code: SupplierCode,
        decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
      ) =>
        Effect.suspend((): Effect.Effect<Supplier, E | DoesNotExist> => {
          const present = store.suppliers.get(code)
          if (present === undefined) return new DoesNotExist({ what: "supplier", name: code })
          const decided = Result.map(decide(present.status), (status) => ({ ...present, status }))
          if (Result.isSuccess(decided)) store.suppliers.set(code, decided.success)
          return Effect.fromResult(decided)
        }),
      configureSupplier: (code, settings) =>
        Effect.suspend((): Effect.Effect<Supplier, DoesNotExist | DocumentRootTaken> => {
          const present = store.suppliers.get(code)
          if (present === undefined) return new DoesNotExist({ what: "supplier", name: code })
          const configured = { ...present, ...settings }
          if (settings.documentRoot !== undefined) {
            return Effect.as(storeWithRoot(store, configured), configured)
          }
          store.suppliers.set(code, configured)
          return Effect.succeed(configured)
        }),
      createTeam: (name) =>
        Effect.suspend(() => {
          if (store.teams.has(name)) return new AlreadyExists({ what: "team", name })
          store.teams.add(name)
          return Effect.void
        }),
      hasTeam: (name) => Effect.sync(() => store.teams.has(name)),
      teams: Effect.sync(() => [...store.teams].sort(codePointOrder)),
      addCode: (list, value) =>
        Effect.sync(() => {
          store.codeLists.set(list, (store.codeLists.get(list) ?? new Set()).add(value))
        }),
      codeLists: Effect.sync(() =>
        Object.fromEntries([...store.codeLists].map(([list, values]) => [list, [...values]]))
      )
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
