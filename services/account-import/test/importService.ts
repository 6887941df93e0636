/** The running account-import service on a separate database, and helpers for its tests. */
import { Effect, Layer, Option, Redacted } from "effect"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { Configuration } from "@data-import/domain/suppliers/Configuration"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { type Wire } from "@data-import/domain/testing/wire"
import { rows } from "@data-import/postgres/testing/rows"
import { portsBeside, team } from "@data-import/postgres/testing/serviceDatabase"
import { freshUrl, databaseUsersAt } from "@data-import/postgres/testing/TestDatabase"
import { post, running } from "@data-import/server/testing/RunningService"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { layer as accountImport } from "../src/AccountImport.ts"

export const validatePath = "/v1/data-import/validate-account/"
export const stagePath = "/v1/data-import/account-import-process/create-or-update/"
export const processPath = "/v1/data-import/account-import-process/process/"

/** The URL with which the service logs in to the database at `url`. */
export const databaseUserUrl = (url: Redacted.Redacted): string =>
  Redacted.value(databaseUsersAt(url)["account-import"])

/** The service on the database at `url`, or on another one that the settings name. */
export const serviceOn = (
  url: Redacted.Redacted,
  settings: Readonly<Record<string, string>> = {}
) =>
  running(accountImport, { DATABASE_URL: databaseUserUrl(url), ...settings }).pipe(
    Layer.merge(portsBeside(url)),
    Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets))
  )

/** The service with these settings, on a fresh database. */
export const serviceWith = (settings: Readonly<Record<string, string>> = {}) =>
  Layer.unwrap(Effect.map(freshUrl, (url) => serviceOn(url, settings)))

export const service = serviceWith()

/** Everything that a test of this service may use. */
export type Service = Layer.Success<typeof service>

/** The full sample account under this key. */
export const accountOf = (key: ImportKey): Wire => ({ ...domesticPayload(), ...key })

export const validate = ({ token }: Tenant, payload: unknown) =>
  post(validatePath, token, { payload })

export const stage = ({ token }: Tenant, payload: unknown) => post(stagePath, token, { payload })

export const process = (
  { token }: Tenant,
  key: ImportKey,
  options: Readonly<Record<string, unknown>> = {}
) => post(processPath, token, { payload: { ...key, operations_team_name: team, ...options } })

/** The staged text of every import of the tenant. */
export const payloadsOf = ({ supplier }: Tenant) =>
  rows(
    (sql) => sql<{ payload: string }>`
    select payload::text from import_processes where supplier = ${supplier.code}`
  ).pipe(Effect.map((found) => found.map(({ payload }) => payload)))

/** A tenant with an import that is staged. */
export const stagedImport = Effect.fnUntraced(function* (
  configured: Parameters<typeof freshTenant>[0] = {}
) {
  const tenant = yield* freshTenant(configured)
  const key = tenant.keyOf("NL-0004711")
  const { status, text } = yield* stage(tenant, accountOf(key))
  if (status !== 201) return yield* Effect.die(new Error(`not staged: ${status} ${text}`))
  return { tenant, key }
})

/** A staged import whose documents were not looked up; from now on they are. */
export const uncheckedImport = Effect.fnUntraced(function* () {
  const staged = yield* stagedImport({ documentCheck: false })
  const { code } = staged.tenant.supplier
  yield* Effect.flatMap(Configuration, (configuration) =>
    configuration.configureSupplier(code, { documentCheck: true })
  )
  return staged
})

/** Whether an attempt holds the import. */
export const isInProgress = (key: ImportKey) =>
  Effect.flatMap(ImportProcesses, (imports) => imports.find(key)).pipe(
    Effect.map((found) => Option.exists(found, ({ lease }) => lease !== null))
  )
