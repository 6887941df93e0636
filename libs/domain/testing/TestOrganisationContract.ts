/** Test organisations in `Configuration`: one for each live one, with suppliers of its own mode. */
import { expect, type Vitest } from "@effect/vitest"
import { Effect, Option } from "effect"
import { type OrganisationName } from "../src/suppliers/Organisation.ts"
import { SupplierCode } from "../src/suppliers/Supplier.ts"
import { Configuration } from "../src/suppliers/Configuration.ts"
import {
  expectSame,
  freshOrganisation,
  freshOrganisationName,
  freshSupplier,
  freshTestOrganisation,
  hex,
  noon,
  supplierOf,
  testSupplierOf
} from "./freshNames.ts"

type It = Vitest.MethodsNonLive<Configuration>

export const testOrganisations = (it: It): void => {
  it.effect("creates one test organisation for a live one, and none for a test organisation", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { name: live } = yield* freshOrganisation
      const name = freshOrganisationName()
      const create = (of: OrganisationName) =>
        configuration.createOrganisation(freshOrganisationName(), noon, of)
      const test = yield* configuration.createOrganisation(name, noon, live)
      expectSame(test, { name, createdAt: noon, testOf: live })
      expectSame(Option.getOrNull(yield* configuration.organisation(name)), test)
      const listed = (yield* configuration.organisations).filter(({ testOf }) => testOf === live)
      expectSame(listed, [test])
      expect(yield* Effect.flip(create(live))).toMatchObject({ _tag: "AlreadyExists", name })
      for (const none of [name, freshOrganisationName()]) {
        expect(yield* Effect.flip(create(none))).toMatchObject({ _tag: "DoesNotExist", name: none })
      }
    })
  )

  it.effect("stores the same code once in each mode, each for an organisation of its mode", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { supplier } = yield* freshSupplier
      const { name } = yield* freshTestOrganisation(supplier.organisation)
      const test = testSupplierOf(name, supplier)
      yield* configuration.createSupplier(test)
      expectSame(Option.getOrNull(yield* configuration.supplier(test.code)), test)
      expectSame(Option.getOrNull(yield* configuration.supplier(supplier.code)), supplier)
      const again = yield* Effect.flip(configuration.createSupplier(test))
      expect(again).toMatchObject({ _tag: "AlreadyExists", what: "supplier" })
      const { organisation } = supplier
      for (const mixed of [supplierOf(name), testSupplierOf(organisation)]) {
        const failure = yield* Effect.flip(configuration.createSupplier(mixed))
        expect(failure).toMatchObject({ _tag: "DoesNotExist", what: "organisation" })
      }
    })
  )

  it.effect("stores the longest code in both modes", () =>
    Effect.gen(function* () {
      const configuration = yield* Configuration
      const { name: organisation } = yield* freshOrganisation
      const { name } = yield* freshTestOrganisation(organisation)
      const live = { ...supplierOf(organisation), code: SupplierCode.make(hex(32)) }
      for (const supplier of [live, testSupplierOf(name, live)]) {
        yield* configuration.createSupplier(supplier)
        expectSame(Option.getOrNull(yield* configuration.supplier(supplier.code)), supplier)
      }
    })
  )
}
