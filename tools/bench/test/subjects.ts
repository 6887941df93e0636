/**
 * The services and the peer on one database, and a supplier for each of them, so that the same
 * requests can be sent to both.
 */
import { Context, Duration, Effect, Layer, Redacted } from "effect"
import { layer as accountImport } from "@data-import/account-import/AccountImport"
import { layer as postImport } from "@data-import/post-import/PostImport"
import { Database, layerWith } from "@data-import/postgres/connection/Database"
import { temporaryFolder } from "@data-import/postgres/testing/temporaryFolder"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { layer as query } from "@data-import/query/Query"
import { Listening } from "@data-import/server/lifecycle/Service"
import { running } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint, TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { storeInBucket, storeInFolder } from "../Installation.ts"
import { makeServer, type Settings } from "../peer/Server.ts"

export interface Reply {
  readonly status: number
  readonly json: unknown
}

/** Where requests go, and the supplier of this subject alone. */
export interface Subject {
  readonly supplier: string
  /** A body that is text goes out as it is. */
  readonly post: (path: string, body: unknown, token?: string) => Effect.Effect<Reply>
  readonly get: (path: string, token?: string) => Effect.Effect<Reply>
}

export class Subjects extends Context.Service<
  Subjects,
  {
    readonly ours: Subject
    readonly peer: Subject
    /** Runs a statement of the test on the database of both. */
    readonly query: (
      text: string,
      values: ReadonlyArray<unknown>
    ) => Effect.Effect<ReadonlyArray<Readonly<Record<string, unknown>>>>
  }
>()("@data-import/bench/test/Subjects") {}

const send = (url: string, init: RequestInit) =>
  Effect.promise(async () => {
    const answer = await fetch(url, init)
    const text = await answer.text()
    return { status: answer.status, json: JSON.parse(text) as unknown } satisfies Reply
  })

/** The documents of the samples exist, and are checked. */
const sideAt = Effect.fnUntraced(function* (
  urlOf: (path: string) => string,
  fill: (root: string) => Effect.Effect<void>
) {
  const { supplier, token: own } = yield* freshTenant({ documentCheck: true })
  yield* fill(supplier.documentRoot)
  const headers = (token: string) => ({ authorization: `Token ${token}` })
  return {
    supplier: supplier.code,
    get: (path, token = own) => send(`${urlOf(path)}${path}`, { headers: headers(token) }),
    post: (path, body, token = own) =>
      send(`${urlOf(path)}${path}`, {
        method: "POST",
        headers: { ...headers(token), "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body)
      })
  } satisfies Subject
})

const services = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>>) {
  const urlOf = <E, R>(service: Layer.Layer<Listening, E, R>) =>
    Effect.map(
      Layer.build(Layer.fresh(running(service, settings))),
      (context) => Context.get(context, Listening).url
    )
  const urls = {
    accounts: yield* urlOf(accountImport),
    later: yield* urlOf(postImport),
    queries: yield* urlOf(query)
  }
  return (path: string): string => {
    if (path.endsWith("/create/")) return urls.later
    return /validate-account|account-import-process\//.test(path) ? urls.accounts : urls.queries
  }
})

const peer = Effect.fnUntraced(function* (
  settings: Pick<Settings, "databaseUrl" | "documents" | "jwksFile">
) {
  // The tests change the setup and send requests at once, so nothing is cached.
  const server = yield* Effect.acquireRelease(
    Effect.sync(() =>
      makeServer({ ...settings, connections: 4, logLevel: "error", setupMillis: 0 })
    ),
    (started) => Effect.promise(() => started.close())
  )
  const url = yield* Effect.promise(() => server.listen({ host: "127.0.0.1", port: 0 }))
  return () => url
})

type Place = "bucket" | "folder"

/** Where the documents are, as the services and the peer are told. */
const placeOf = Effect.fnUntraced(function* (place: Place) {
  const store = yield* place === "folder"
    ? Effect.map(temporaryFolder(), storeInFolder)
    : storeInBucket
  const {
    DOCUMENTS_DIR: folder,
    S3_ENDPOINT: endpoint = "",
    S3_BUCKET: bucket = ""
  } = store.settings
  const documents = folder === undefined ? { bucket, endpoint, region: "us-east-1" } : { folder }
  return { ...store, documents }
})

const make = (databaseUrl: string, place: Place) =>
  Effect.gen(function* () {
    const { jwksFile } = yield* TokenIssuer
    const { documents, fill, settings } = yield* placeOf(place)
    // The client of the object storage reads them from the environment of the process.
    for (const name of ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) {
      process.env[name] = settings[name] ?? ""
    }
    const { run, sql } = Context.get(
      yield* Layer.build(
        layerWith({
          url: Redacted.make(databaseUrl),
          poolSize: 1,
          statementTimeout: Duration.seconds(20)
        })
      ),
      Database
    )
    const urlOfOurs = yield* services({ DATABASE_URL: databaseUrl, ...settings })
    const urlOfPeer = yield* peer({ databaseUrl, jwksFile, documents })
    return Subjects.of({
      ours: yield* sideAt(urlOfOurs, fill),
      peer: yield* sideAt(urlOfPeer, fill),
      query: (text, values) => Effect.orDie(run(sql.unsafe(text, values)))
    })
  })

/** Both subjects on a fresh database, and the ports to inspect it. */
export const subjectsWith = (place: Place) =>
  Layer.unwrap(
    Effect.map(freshUrl, (url) =>
      Layer.effect(Subjects, make(Redacted.value(url), place)).pipe(
        Layer.provideMerge(portsBeside(url))
      )
    )
  ).pipe(Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets)))
