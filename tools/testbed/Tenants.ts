/** Clients of the platform, set up as an operator does it. */
import { randomBytes } from "node:crypto"
import { DateTime, Effect } from "effect"
import { issueKey } from "@data-import/domain/auth/ServiceToken"
import { utc } from "@data-import/domain/organisation/BusinessDay"
import {
  type ApiKey,
  OrganisationName,
  type Scope
} from "@data-import/domain/organisation/Organisation"
import { type Supplier, SupplierCode } from "@data-import/domain/organisation/Supplier"
import { Configuration } from "@data-import/domain/ports/Configuration"

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

export interface Named {
  readonly organisation: OrganisationName
  /** At least one; the tenant is known by the first. */
  readonly suppliers: readonly [string, ...ReadonlyArray<string>]
}

const everything: ReadonlyArray<Scope> = ["import:read", "import:write"]

/** Makes an organisation with its suppliers, an API key, and the team where there is none yet. */
export const makeTenant = Effect.fnUntraced(function* (
  { organisation, suppliers }: Named,
  settings: Settings = {}
) {
  const setup = yield* Configuration
  if (!(yield* setup.hasTeam(team))) yield* setup.createTeam(team)
  yield* setup.createOrganisation(organisation, yield* DateTime.now)
  for (const code of suppliers) {
    yield* setup.createSupplier(supplierOf(code, organisation, settings))
  }
  const { key, secret } = yield* issueKey({
    organisation,
    label: "testbed",
    scopes: everything,
    expiresAt: null
  })
  const [supplier] = suppliers
  return { organisation, supplier, key, apiKey: secret, team } satisfies Tenant
}, Effect.orDie)

/** A tenant under names that nobody else uses. */
export const freshTenant = (settings: Settings = {}) =>
  Effect.suspend(() => {
    const name = randomBytes(6).toString("hex")
    const organisation = OrganisationName.make(`org-${name}`)
    return makeTenant({ organisation, suppliers: [`TESTBED_${name}`] }, settings)
  })
