/** The operator's configuration in memory. */
import { Effect, Layer, Option, Order, type Result } from "effect"
import { creationOutcome, modeOf, type Organisation } from "../../src/suppliers/Organisation.ts"
import {
  modeOfSupplier,
  overlappingRoot,
  settingsOutcome,
  statusOutcome,
  type Supplier,
  type SupplierCode,
  type SupplierSettings,
  type SupplierStatus
} from "../../src/suppliers/Supplier.ts"
import {
  AlreadyExists,
  DocumentRootTaken,
  DoesNotExist,
  Configuration
} from "../../src/suppliers/Configuration.ts"
import type { OperatorAction } from "../../src/audit/AuditLog.ts"
import { codePointOrder, MemoryStore, recordOperator } from "./Store.ts"

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

const recordSupplier = (
  store: MemoryStore["Service"],
  { code, organisation }: Supplier,
  action: OperatorAction,
  outcome: string
) => {
  const key = { import_supplier: code, external_account_number: null }
  return recordOperator(store, { action, outcome, organisation, key })
}

const createOrganisation = Effect.fnUntraced(function* (
  store: MemoryStore["Service"],
  organisation: Organisation
) {
  const { name, testOf } = organisation
  const what = "organisation"
  if (testOf !== null) {
    const live = store.organisations.get(testOf)
    if (live === undefined || modeOf(live) !== "live") {
      return yield* new DoesNotExist({ what, name: testOf })
    }
    const present = store.organisations.values().find((other) => other.testOf === testOf)
    if (present !== undefined) return yield* new AlreadyExists({ what, name: present.name })
  }
  if (store.organisations.has(name)) return yield* new AlreadyExists({ what, name })
  store.organisations.set(name, organisation)
  const outcome = creationOutcome(organisation)
  yield* recordOperator(store, { action: "create_organisation", outcome, organisation: name })
  return organisation
})

const createSupplier = Effect.fnUntraced(function* (
  store: MemoryStore["Service"],
  supplier: Supplier
) {
  const { code, organisation } = supplier
  const owner = store.organisations.get(organisation)
  if (owner === undefined || modeOf(owner) !== modeOfSupplier(code)) {
    return yield* new DoesNotExist({ what: "organisation", name: organisation })
  }
  if (store.suppliers.has(code)) return yield* new AlreadyExists({ what: "supplier", name: code })
  yield* storeWithRoot(store, supplier)
  yield* recordSupplier(store, supplier, "create_supplier", "created")
})

const changeSupplierStatus = Effect.fnUntraced(function* <E>(
  store: MemoryStore["Service"],
  code: SupplierCode,
  decide: (present: SupplierStatus) => Result.Result<SupplierStatus, E>
) {
  const present = store.suppliers.get(code)
  if (present === undefined) return yield* new DoesNotExist({ what: "supplier", name: code })
  const status = yield* Effect.fromResult(decide(present.status))
  const changed: Supplier = { ...present, status }
  store.suppliers.set(code, changed)
  const outcome = statusOutcome(present.status, status)
  yield* recordSupplier(store, changed, "change_supplier_status", outcome)
  return changed
})

const configureSupplier = Effect.fnUntraced(function* (
  store: MemoryStore["Service"],
  code: SupplierCode,
  settings: Partial<SupplierSettings>
) {
  const present = store.suppliers.get(code)
  if (present === undefined) return yield* new DoesNotExist({ what: "supplier", name: code })
  const configured = { ...present, ...settings }
  if (settings.documentRoot === undefined) store.suppliers.set(code, configured)
  else yield* storeWithRoot(store, configured)
  yield* recordSupplier(store, configured, "configure_supplier", settingsOutcome(settings))
  return configured
})

export const layerMemory: Layer.Layer<Configuration> = Layer.effect(
  Configuration,
  Effect.map(MemoryStore, (store) =>
    Configuration.of({
      createOrganisation: (name, at, testOf = null) =>
        createOrganisation(store, { name, createdAt: at, testOf }),
      organisation: (name) =>
        Effect.sync(() => Option.fromNullishOr(store.organisations.get(name))),
      organisations: Effect.sync(() =>
        [...store.organisations.values()].sort(byName(({ name }) => name))
      ),
      createSupplier: (supplier) => createSupplier(store, supplier),
      supplier: (code) => Effect.sync(() => Option.fromNullishOr(store.suppliers.get(code))),
      suppliers: Effect.sync(() => suppliersOf(store)),
      changeSupplierStatus: (code, decide) => changeSupplierStatus(store, code, decide),
      configureSupplier: (code, settings) => configureSupplier(store, code, settings),
      createTeam: (name) =>
        Effect.suspend(() => {
          if (store.teams.has(name)) return new AlreadyExists({ what: "team", name })
          store.teams.add(name)
          const outcome = `created ${name}`
          return recordOperator(store, { action: "create_team", outcome, organisation: null })
        }),
      hasTeam: (name) => Effect.sync(() => store.teams.has(name)),
      teams: Effect.sync(() => [...store.teams].sort(codePointOrder)),
      addCode: (list, value) =>
        Effect.suspend(() => {
          const values = store.codeLists.get(list) ?? new Set()
          const outcome = values.has(value) ? "unchanged" : `added ${list} ${value}`
          store.codeLists.set(list, values.add(value))
          return recordOperator(store, { action: "add_choice", outcome, organisation: null })
        }),
      codeLists: Effect.sync(() =>
        Object.fromEntries([...store.codeLists].map(([list, values]) => [list, [...values]]))
      )
    })
  )
).pipe(Layer.provide(MemoryStore.layer))
