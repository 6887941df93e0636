/** The running query service on a separate database, and the imports that its tests query. */
import { DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { type Account, accountTextInSteps } from "@data-import/domain/accounts/Account"
import type { ImportKey } from "@data-import/domain/imports/ImportProcess"
import { ImportProcesses } from "@data-import/domain/imports/ImportProcesses"
import { freshAttempt, newAccountFor } from "@data-import/domain/testing/freshNames"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { freshUrl, databaseUsersAt } from "@data-import/postgres/testing/TestDatabase"
import { ask, running } from "@data-import/server/testing/RunningService"
import type { Tenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint } from "@data-import/server/testing/TokenIssuer"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { layer as query } from "../src/Query.ts"
import { finish } from "@data-import/domain/support/Steps"
import { stagedHash } from "@data-import/domain/testing/importStates"

/** The service with these settings on a fresh database. */
export const serviceWith = (settings: Readonly<Record<string, string>>) =>
  Layer.unwrap(
    Effect.map(freshUrl, (url) => {
      const DATABASE_URL = Redacted.value(databaseUsersAt(url).query)
      return Layer.merge(running(query, { DATABASE_URL, ...settings }), portsBeside(url))
    })
  ).pipe(Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets)))

export const service = serviceWith({})

export const get = ({ token }: Pick<Tenant, "token">, path: string, method = "GET") =>
  ask({ method, path, headers: { authorization: `Token ${token}` } })

/** The path of the status of an import, encoded. */
export const statusPath = (supplier: string, number: string): string =>
  `/v1/data-import/account-transfer-status/${encodeURIComponent(supplier)}/${encodeURIComponent(number)}/`

export const kinds = ["all", "pending", "imported"] as const

export const listPath = (kind: (typeof kinds)[number], supplier: string): string =>
  `/v1/data-import/${kind}-account-import-processes/${encodeURIComponent(supplier)}/`

/** Stages an import of this number, by default with a payload that does not matter. */
export const staged = Effect.fnUntraced(function* (
  { caller, keyOf }: Tenant,
  number: string,
  accountOf?: (key: ImportKey) => Account
) {
  const imports = yield* ImportProcesses
  const key = keyOf(number)
  const at = yield* DateTime.now
  const payload = accountOf ? finish(accountTextInSteps(accountOf(key))) : `{"staged":true}`
  yield* imports.stage({ key, payload, hash: stagedHash, caller, at })
  return key
})

/** An import in progress, under a lease of a minute. */
export const held = Effect.fnUntraced(function* (
  tenant: Tenant,
  number: string,
  accountOf?: (key: ImportKey) => Account
) {
  const imports = yield* ImportProcesses
  const { caller } = tenant
  const key = yield* staged(tenant, number, accountOf)
  const attempt = freshAttempt()
  const at = yield* DateTime.now
  const limits = { deployment: null, supplier: null }
  yield* imports.claim({
    key,
    attempt,
    dryRun: false,
    lease: Duration.seconds(60),
    limits,
    caller,
    at
  })
  return { key, attempt }
})

/** An import that has become an account. */
export const imported = Effect.fnUntraced(function* (tenant: Tenant, number: string) {
  const imports = yield* ImportProcesses
  const { attempt, key } = yield* held(tenant, number)
  const newAccount = newAccountFor(key, yield* DateTime.now)
  yield* imports.complete({ key, attempt, newAccount, caller: tenant.caller })
  return newAccount
})

/** An import that the operator has marked to be skipped. */
export const skipped = Effect.fnUntraced(function* (tenant: Tenant, number: string) {
  const imports = yield* ImportProcesses
  const key = yield* staged(tenant, number)
  yield* imports.setSkipped({ key, skipped: true, at: yield* DateTime.now })
  return key
})
