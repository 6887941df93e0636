/** The query service as it runs, on a database of its own, and what the tests ask it about. */
import { ConfigProvider, DateTime, Duration, Effect, Layer, Redacted } from "effect"
import { type Request, send } from "@data-import/api/testing/Client"
import { ImportProcesses } from "@data-import/domain/ports/ImportProcesses"
import { OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import { freshAttempt, newAccountFor } from "@data-import/domain/testing/fresh"
import { Database, layerWith } from "@data-import/postgres/Database"
import { layerPorts } from "@data-import/postgres/Storage"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { Output } from "@data-import/server/Log"
import { Listening } from "@data-import/server/Service"
import type { Tenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint, TokenMint } from "@data-import/server/testing/TokenMint"
import { layer as tokenSecrets } from "@data-import/server/TokenSecrets"
import { layer as query } from "../Query.ts"

const teamIsThere = Layer.effectDiscard(
  Effect.flatMap(OperatorSetup, (setup) => setup.createTeam("Migration Team"))
)

/**
 * What a test sets up beside the service, through connections of its own: fresh, because the same
 * layers would otherwise be those of the service.
 */
const besides = (url: Redacted.Redacted) =>
  teamIsThere.pipe(
    Layer.provideMerge(Layer.merge(layerPorts, tokenSecrets)),
    Layer.provideMerge(layerWith({ url, poolSize: 4, statementTimeout: Duration.seconds(20) })),
    Layer.fresh
  )

/** The service on a fresh database. */
export const service = Layer.unwrap(
  Effect.gen(function* () {
    const { jwksFile } = yield* TokenMint
    const url = yield* freshUrl
    const settings = { PORT: "0", DATABASE_URL: Redacted.value(url), JWKS_FILE: jwksFile }
    return query.pipe(
      Layer.provide([
        ConfigProvider.layer(ConfigProvider.fromUnknown(settings)),
        Layer.succeed(Output, () => {})
      ]),
      Layer.orDie,
      Layer.merge(besides(url))
    )
  })
).pipe(Layer.provideMerge(tokenMint))

/** Sends a request as it is. */
export const ask = (request: Request) => Effect.flatMap(Listening, ({ url }) => send(url, request))

export const get = ({ token }: Pick<Tenant, "token">, path: string, method = "GET") =>
  ask({ method, path, headers: { authorization: `Token ${token}` } })

/** The path of the status of an import, encoded. */
export const statusPath = (supplier: string, number: string): string =>
  `/v1/data-import/account-transfer-status/${encodeURIComponent(supplier)}/${encodeURIComponent(number)}/`

export const kinds = ["all", "pending", "imported"] as const

export const listPath = (kind: (typeof kinds)[number], supplier: string): string =>
  `/v1/data-import/${kind}-account-import-processes/${encodeURIComponent(supplier)}/`

/** Stages an import of this number. */
export const staged = Effect.fnUntraced(function* ({ caller, keyOf }: Tenant, number: string) {
  const imports = yield* ImportProcesses
  const key = keyOf(number)
  const at = yield* DateTime.now
  yield* imports.stage({ key, payload: `{"staged":true}`, caller, at })
  return key
})

/** An import in progress, under a lease of a minute. */
export const held = Effect.fnUntraced(function* (tenant: Tenant, number: string) {
  const imports = yield* ImportProcesses
  const { caller } = tenant
  const key = yield* staged(tenant, number)
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

/** Runs a statement of the test's own. */
export const run = (
  statement: (sql: Database["Service"]["sql"]) => Effect.Effect<unknown, unknown>
) => Effect.flatMap(Database, (database) => Effect.orDie(database.run(statement(database.sql))))
