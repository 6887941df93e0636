/** A tenant of the whole system whose requests the packaged client sends, through a faulty proxy. */
import { Effect, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Client from "@data-import/client/effect"
import { issueKey } from "@data-import/domain/access/ServiceToken"
import { Scope as KeyScope } from "@data-import/domain/suppliers/Organisation"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { freshSupplier } from "@data-import/domain/testing/freshNames"
import { faultyGateway, type Plan } from "./faultyGateway.ts"
import { WholeSystem } from "./wholeSystem.ts"

export const team = "Migration Team"

/** A supplier of its own, an API key for everything, and the gateway behind this plan of faults. */
export const clientTenant = Effect.fnUntraced(function* (plan: Plan = () => undefined) {
  const { gatewayUrl } = yield* WholeSystem
  const setup = yield* Configuration
  if (!(yield* setup.hasTeam(team))) yield* Effect.ignore(setup.createTeam(team))
  const { caller, supplier } = yield* freshSupplier
  yield* setup.configureSupplier(supplier.code, { documentCheck: false })
  const { organisation } = caller
  const scopes = KeyScope.literals
  const { secret } = yield* issueKey({ organisation, label: "client", scopes, expiresAt: null })
  const { seen, url } = yield* faultyGateway(gatewayUrl, plan)
  const accountOf = (external_account_number: string) => ({
    import_supplier: supplier.code as string,
    external_account_number,
    unknown_occupier: true,
    transfer_balance: "12.34"
  })
  return { accountOf, apiKey: secret, baseUrl: url, seen, supplier: supplier.code }
})

/** The client for Effect of such a tenant. */
export const effectClient = Effect.fnUntraced(function* (
  tenant: { readonly apiKey: string; readonly baseUrl: string },
  settings: Partial<Client.Settings> = {}
) {
  const { apiKey, baseUrl } = tenant
  return yield* Client.make({ baseUrl, apiKey: Redacted.make(apiKey), ...settings }).pipe(
    Effect.provide(FetchHttpClient.layer)
  )
})
