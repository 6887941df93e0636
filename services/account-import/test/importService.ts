/** The account-import service as it runs, on a database of its own, and how the tests ask it. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ConfigProvider, Context, Duration, Effect, Layer, Redacted } from "effect"
import { type Reply, type Request, send } from "@data-import/api/testing/Client"
import type { ImportKey } from "@data-import/domain/ImportProcess"
import { History } from "@data-import/domain/ports/History"
import { OperatorSetup } from "@data-import/domain/ports/OperatorSetup"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { put, type Wire, type WirePath } from "@data-import/domain/testing/wire"
import { Database, layerWith } from "@data-import/postgres/Database"
import { layerPorts } from "@data-import/postgres/Storage"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { Output } from "@data-import/server/Log"
import { Listening } from "@data-import/server/Service"
import { freshTenant, type Tenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint, TokenMint } from "@data-import/server/testing/TokenMint"
import { layer as tokenSecrets } from "@data-import/server/TokenSecrets"
import { layer as accountImport } from "../AccountImport.ts"

export const validatePath = "/v1/data-import/validate-account/"
export const stagePath = "/v1/data-import/account-import-process/create-or-update/"
export const processPath = "/v1/data-import/account-import-process/process/"

/** The team under which the tests process. */
export const team = "Migration Team"

/** What the service runs on. */
export class Premises extends Context.Service<
  Premises,
  {
    /** The folder that stands for the bucket. */
    readonly documents: string
    /** Every line that was logged. */
    readonly log: ReadonlyArray<string>
  }
>()("test/Premises") {}

const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "data-import-documents-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

const teamIsThere = Layer.effectDiscard(
  Effect.flatMap(OperatorSetup, (setup) => setup.createTeam(team))
)

/**
 * What a test sets up and looks at beside the service, through connections of its own: fresh,
 * because the same layers would otherwise be those of the service.
 */
const besides = (url: Redacted.Redacted) =>
  teamIsThere.pipe(
    Layer.provideMerge(Layer.merge(layerPorts, tokenSecrets)),
    Layer.provideMerge(layerWith({ url, poolSize: 4, statementTimeout: Duration.seconds(20) })),
    Layer.fresh
  )

/** The service on this database, seen through `seenAt` where that is not the database itself. */
export const serviceOn = (
  url: Redacted.Redacted,
  settings: Readonly<Record<string, string>> = {}
) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { jwksFile } = yield* TokenMint
      const documents = yield* temporaryFolder
      const log: Array<string> = []
      const provider = ConfigProvider.fromUnknown({
        PORT: "0",
        DATABASE_URL: Redacted.value(url),
        JWKS_FILE: jwksFile,
        DOCUMENTS_DIR: documents,
        ...settings
      })
      return Layer.merge(accountImport, Layer.succeed(Premises, { documents, log })).pipe(
        Layer.provide([
          ConfigProvider.layer(provider),
          Layer.succeed(Output, (lines) => void log.push(lines))
        ]),
        Layer.orDie,
        Layer.merge(besides(url))
      )
    })
  ).pipe(Layer.provideMerge(tokenMint))

/** The service with these settings, on a fresh database. */
export const serviceWith = (settings: Readonly<Record<string, string>> = {}) =>
  Layer.unwrap(Effect.map(freshUrl, (url) => serviceOn(url, settings)))

export const service = serviceWith()

/** Everything that a test of this service may use. */
export type Service = Layer.Success<typeof service>

/** Sends a request as it is. */
export const ask = (request: Request) => Effect.flatMap(Listening, ({ url }) => send(url, request))

export const jsonHeaders = (token: string): Readonly<Record<string, string>> => ({
  authorization: `Token ${token}`,
  "content-type": "application/json"
})

/** Posts a body, text or bytes as they are and anything else as JSON. */
export const post = (path: string, token: string, body: unknown) =>
  ask({
    path,
    headers: jsonHeaders(token),
    body: typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body)
  })

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

/** The body with this JSON source at the path, for what `JSON.stringify` would not write. */
export const withSource = (body: Wire, path: WirePath, source: string): string => {
  const marker = "the source stands here"
  return JSON.stringify(put(body, path, marker)).replace(JSON.stringify(marker), () => source)
}

/** What an answer says is wrong: the code at the top, then each place with its code. */
export const faultsOf = ({ json }: Reply): ReadonlyArray<string> => {
  const { code, errors = [] } = json as {
    readonly code: string
    readonly errors?: ReadonlyArray<{ readonly attr: string; readonly code: string }>
  }
  return [code, ...errors.map((error) => `${error.attr}: ${error.code}`)]
}

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

/** Puts a document where the supplier's documents are. */
export const putDocument = Effect.fnUntraced(function* ({ supplier }: Tenant, path: string) {
  const { documents } = yield* Premises
  const file = join(documents, supplier.documentRoot, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `content of ${path}`)
})

/** Runs a statement of the test's own and gives its rows. */
export const rows = <Row extends object>(
  statement: (sql: Database["Service"]["sql"]) => Effect.Effect<ReadonlyArray<Row>, unknown>
) => Effect.flatMap(Database, ({ run, sql }) => Effect.orDie(run(statement(sql))))

/** What stands on record of an import, without the instants. */
export const recordOf = Effect.fnUntraced(function* (key: ImportKey) {
  const history = yield* History
  const audit = yield* history.audit(key)
  const events = yield* history.events(key)
  return {
    audit: audit.map(({ action, outcome }) => `${action} ${outcome}`),
    events: events.map(({ codes, name }) => [name, ...codes].join(" "))
  }
})

/** How many rows each table has, and a digest of them; those that only grow are left out. */
export const tablesBut = (...growing: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const tables = yield* rows(
      (sql) => sql<{ name: string }>`
      select table_name as name from information_schema.tables
      where table_schema = 'public' order by table_name`
    )
    const digests = yield* Effect.forEach(
      tables.filter(({ name }) => !growing.includes(name)),
      ({ name }) =>
        rows(
          (sql) => sql<object>`
          select ${name} as name, count(*)::integer as rows,
            md5(coalesce(string_agg(t::text, chr(10) order by t::text), '')) as digest
          from ${sql(name)} t`
        )
    )
    return digests.flat()
  })
