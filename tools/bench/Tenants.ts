/** Clients of the platform, set up as an operator does it, with a token each. */
import { DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { utc } from "@data-import/domain/organisation/BusinessDay"
import { OrganisationName } from "@data-import/domain/organisation/Organisation"
import { Configuration } from "@data-import/domain/ports/Configuration"
import { issueKey } from "@data-import/domain/auth/ServiceToken"
import { SupplierCode } from "@data-import/domain/organisation/Supplier"
import { layerWith } from "@data-import/postgres/connection/Database"
import { layerPorts } from "@data-import/postgres/Storage"
import { TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import type { Database } from "./Database.ts"
import { team } from "./Workloads.ts"

/** `supplier` and `supplier_L` are its suppliers. */
export interface Tenant {
  readonly organisation: string
  readonly supplier: string
  readonly token: string
}

const tokenLifetime = Duration.hours(12)

const make = Effect.fnUntraced(function* (name: string) {
  const setup = yield* Configuration
  const issue = yield* TokenIssuer
  const organisation = OrganisationName.make(name)
  yield* setup.createOrganisation(organisation, yield* DateTime.now)
  const supplier = SupplierCode.make(name.toUpperCase())
  for (const code of [supplier, SupplierCode.make(`${supplier}_L`)]) {
    yield* setup.createSupplier({
      code,
      organisation,
      status: "Ongoing",
      documentRoot: code,
      documentCheck: false,
      customerEmails: false,
      concurrencyLimit: null,
      timeZone: utc
    })
  }
  const { key } = yield* issueKey({
    organisation,
    label: "bench",
    scopes: ["import:read", "import:write"],
    expiresAt: null
  })
  return {
    organisation,
    supplier,
    token: yield* issue.tokenOf(key, tokenLifetime)
  } satisfies Tenant
})

/** A tenant for each name, on a database that has none yet. */
export const makeAll = (database: Database, names: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const setup = yield* Configuration
    yield* setup.createTeam(team)
    return yield* Effect.forEach(names, make)
  }).pipe(
    Effect.provide(
      Layer.merge(layerPorts, tokenSecrets).pipe(
        Layer.provideMerge(
          layerWith({
            url: Redacted.make(database.url),
            poolSize: 2,
            statementTimeout: Duration.seconds(20)
          })
        ),
        Layer.fresh
      )
    ),
    Effect.orDie
  )
