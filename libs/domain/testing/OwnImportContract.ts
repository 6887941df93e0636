/** Imports of own suppliers: one part of the contract of `ImportProcesses`. */
import type { Vitest } from "@effect/vitest"
import { Effect, Option } from "effect"
import { ExternalAccountNumber } from "../src/accounts/Account.ts"
import type { OrganisationName } from "../src/suppliers/Organisation.ts"
import { type Supplier, WireCode, wireCode } from "../src/suppliers/Supplier.ts"
import type { AuditLog } from "../src/audit/AuditLog.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import { ImportProcesses } from "../src/imports/ImportProcesses.ts"
import {
  callerOf,
  expectSame,
  freshOrganisationName,
  freshSupplier,
  freshTestOrganisation,
  noon,
  supplierOf,
  testSupplierOf
} from "./freshNames.ts"
import { stagedHash } from "./importStates.ts"

type It = Vitest.MethodsNonLive<ImportProcesses | AuditLog | Configuration>

const number = ExternalAccountNumber.make("n")

const staged = Effect.fnUntraced(function* ({ code, organisation }: Supplier) {
  const imports = yield* ImportProcesses
  const key = { import_supplier: code, external_account_number: number }
  yield* imports.stage({
    key,
    payload: "{}",
    hash: stagedHash,
    caller: callerOf(organisation),
    at: noon
  })
  return yield* imports.find(key)
})

const found = (organisation: OrganisationName, supplier: WireCode, of = number) =>
  Effect.flatMap(ImportProcesses, (imports) =>
    imports.findOwn({ organisation, supplier, number: of })
  )

export const ownImportContract = (it: It): void => {
  it.effect("finds no import of another organisation's supplier", () =>
    Effect.gen(function* () {
      const { supplier } = yield* freshSupplier
      const { supplier: other } = yield* freshSupplier
      yield* staged(supplier)
      yield* staged(other)
      const code = wireCode(supplier.code)
      for (const organisation of [other.organisation, freshOrganisationName()]) {
        expectSame(yield* found(organisation, code), Option.none())
      }
    })
  )

  it.effect("finds the import of the organisation's mode if both modes have the code", () =>
    Effect.gen(function* () {
      const { supplier: live } = yield* freshSupplier
      const { name } = yield* freshTestOrganisation(live.organisation)
      const test = testSupplierOf(name, live)
      yield* (yield* Configuration).createSupplier(test)
      const code = wireCode(live.code)
      const ofLive = yield* staged(live)
      expectSame(yield* found(name, code), Option.none())
      const ofTest = yield* staged(test)
      expectSame(yield* found(name, code), ofTest)
      expectSame(yield* found(live.organisation, code), ofLive)
    })
  )

  it.effect("finds the right import for each of several concurrent requests", () =>
    Effect.gen(function* () {
      const suppliers = yield* Effect.forEach([1, 2, 3], () => freshSupplier)
      const processes = yield* Effect.forEach(suppliers, ({ supplier }) => staged(supplier))
      const sought = suppliers.map(({ supplier: { code, organisation } }) =>
        found(organisation, wireCode(code))
      )
      const unknown = supplierOf(freshOrganisationName())
      const none = found(unknown.organisation, wireCode(unknown.code))
      const all = yield* Effect.all([none, ...sought, none], { concurrency: "unbounded" })
      expectSame(all, [Option.none(), ...processes, Option.none()])
    })
  )

  it.effect("finds nothing for values that cannot be stored", () =>
    Effect.gen(function* () {
      const { supplier } = yield* freshSupplier
      const nul = ExternalAccountNumber.make("\0", { disableChecks: true })
      const code = wireCode(supplier.code)
      expectSame(yield* found(supplier.organisation, code, nul), Option.none())
      const noCode = WireCode.make("\ud800", { disableChecks: true })
      expectSame(yield* found(supplier.organisation, noCode), Option.none())
    })
  )
}
