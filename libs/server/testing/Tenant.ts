/**
 * A client of the platform for one test: an organisation with its own supplier, which no other test
 * touches, and its tokens.
 */
import { Effect } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { type OrganisationName, Scope } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import type { Supplier } from "@data-import/domain/suppliers/Supplier"
import {
  callerOf,
  freshOrganisation,
  freshTestOrganisation,
  supplierOf,
  testSupplierOf
} from "@data-import/domain/testing/freshNames"
import { ExternalAccountNumber } from "@data-import/domain/accounts/Account"
import { TokenIssuer } from "./TokenIssuer.ts"

/** An API key of the organisation, and a token of it. */
export const freshToken = Effect.fnUntraced(function* (
  organisation: OrganisationName,
  scopes: ReadonlyArray<Scope>
) {
  const issue = yield* TokenIssuer
  const { key } = yield* issueKey({ organisation, label: "test", scopes, expiresAt: null })
  return { key, token: yield* issue.tokenOf(key) }
})

/** A further supplier of the organisation, Ongoing and without a limit unless configured. */
export const freshSupplierOf = Effect.fnUntraced(function* (
  organisation: OrganisationName,
  configured: Partial<Omit<Supplier, "code" | "organisation">> = {}
) {
  const setup = yield* Configuration
  const supplier: Supplier = { ...supplierOf(organisation), ...configured }
  yield* setup.createSupplier(supplier)
  return supplier
})

/** A client of this supplier, with a token for everything. */
const tenantOf = Effect.fnUntraced(function* (supplier: Supplier) {
  const { organisation } = supplier
  const { key, token } = yield* freshToken(organisation, Scope.literals)
  const keyOf = (number: string): ImportKey => ({
    import_supplier: supplier.code,
    external_account_number: ExternalAccountNumber.make(number)
  })
  /** The caller for tests that call the ports directly, without the service. */
  const caller = { ...callerOf(organisation), apiKey: key.id }
  return { organisation, supplier, apiKey: key, token, keyOf, caller }
})

/** An organisation with a supplier, whose documents are not checked, and a token for everything. */
export const freshTenant = Effect.fnUntraced(function* (
  configured: Parameters<typeof freshSupplierOf>[1] = {}
) {
  const { name } = yield* freshOrganisation
  return yield* tenantOf(yield* freshSupplierOf(name, { documentCheck: false, ...configured }))
})

/** The same in test mode: the test organisation of `live`, with the same supplier. */
export const testTenantOf = Effect.fnUntraced(function* (live: Supplier) {
  const setup = yield* Configuration
  const { name } = yield* freshTestOrganisation(live.organisation)
  const supplier = testSupplierOf(name, live)
  yield* setup.createSupplier(supplier)
  return yield* tenantOf(supplier)
})

export type Tenant = Effect.Success<ReturnType<typeof freshTenant>>
