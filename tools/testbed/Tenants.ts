/** Clients of the platform, set up as an operator does it. */
import { randomBytes } from "node:crypto"
import { DateTime, Effect } from "effect"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { utc } from "@data-import/domain/suppliers/BusinessDay"
import { type ApiKey, OrganisationName, Scope } from "@data-import/domain/suppliers/Organisation"
import {
  defaultRevertWindow,
  type Supplier,
  SupplierCode
} from "@data-import/domain/suppliers/Supplier"
import { freshTestOrganisation } from "@data-import/domain/testing/freshNames"
import { Configuration } from "@data-import/domain/suppliers/Configuration"

/** The operations team of every tenant. */
export const team = "Migration Team"

type Settings = Partial<Omit<Supplier, "code" | "organisation">>

/** A supplier that is Ongoing, without a limit and without a document check unless given. */
export const supplierOf = (
  code: string,
  organisation: OrganisationName,
  settings: Settings = {}
): Supplier => {
  const made = SupplierCode.make(code)
  return {
    code: made,
    organisation,
    status: "Ongoing",
    documentRoot: made,
    documentCheck: false,
    customerEmails: false,
    concurrencyLimit: null,
    timeZone: utc,
    revertWindow: defaultRevertWindow,
    fourEyes: false,
    ...settings
  }
}

export interface Tenant {
  readonly organisation: OrganisationName
  readonly supplier: string
  /** The API key as it is stored, and its secret. */
  readonly key: ApiKey
  readonly apiKey: string
  readonly team: string
}

const keyOf = (organisation: OrganisationName) =>
  issueKey({ organisation, label: "testbed", scopes: Scope.literals, expiresAt: null })

/** The same with a key of an empty test organisation. */
export const sandboxOf = Effect.fnUntraced(function* (tenant: Tenant) {
  const { name: organisation } = yield* freshTestOrganisation(tenant.organisation)
  const { key, secret } = yield* keyOf(organisation)
  return { ...tenant, organisation, key, apiKey: secret } satisfies Tenant
}, Effect.orDie)

/** An organisation with a supplier and an API key, under names that nothing else uses. */
export const freshTenant = Effect.fnUntraced(function* (settings: Settings) {
  const setup = yield* Configuration
  const name = randomBytes(6).toString("hex")
  const organisation = OrganisationName.make(`org-${name}`)
  const supplier = supplierOf(`TESTBED_${name}`, organisation, settings)
  if (!(yield* setup.hasTeam(team))) yield* setup.createTeam(team)
  yield* setup.createOrganisation(organisation, yield* DateTime.now)
  yield* setup.createSupplier(supplier)
  const { key, secret } = yield* keyOf(organisation)
  return { organisation, supplier: supplier.code, key, apiKey: secret, team } satisfies Tenant
}, Effect.orDie)
