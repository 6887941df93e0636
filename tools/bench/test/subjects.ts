/**
 * The services and the peer on one database, and a supplier for each of them, so that the same
 * requests can be sent to both.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { layer as accountImport } from "@data-import/account-import/AccountImport"
import { layer as postImport } from "@data-import/post-import/PostImport"
import { portsBeside } from "@data-import/postgres/testing/serviceDatabase"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { layer as query } from "@data-import/query/Query"
import { Listening } from "@data-import/server/lifecycle/Service"
import { running } from "@data-import/server/testing/RunningService"
import { freshTenant } from "@data-import/server/testing/Tenant"
import { layer as tokenMint, TokenIssuer } from "@data-import/server/testing/TokenIssuer"
import { layer as tokenSecrets } from "@data-import/server/auth/TokenSecrets"
import { makeServer } from "../peer/Server.ts"

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
  { readonly ours: Subject; readonly peer: Subject }
>()("@data-import/bench/test/Subjects") {}

const send = (url: string, init: RequestInit) =>
  Effect.promise(async () => {
    const answer = await fetch(url, init)
    const text = await answer.text()
    return { status: answer.status, json: JSON.parse(text) as unknown } satisfies Reply
  })

const sideAt = Effect.fnUntraced(function* (urlOf: (path: string) => string) {
  const { supplier, token: own } = yield* freshTenant()
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
    if (path.includes("/transactions/")) return urls.later
    return /validate-account|account-import-process\//.test(path) ? urls.accounts : urls.queries
  }
})

const peer = Effect.fnUntraced(function* (databaseUrl: string, jwksFile: string) {
  const server = yield* Effect.acquireRelease(
    Effect.sync(() => makeServer({ databaseUrl, jwksFile, connections: 4, logLevel: "error" })),
    (started) => Effect.promise(() => started.close())
  )
  const url = yield* Effect.promise(() => server.listen({ host: "127.0.0.1", port: 0 }))
  return () => url
})

const make = (databaseUrl: string) =>
  Effect.gen(function* () {
    const { jwksFile } = yield* TokenIssuer
    return Subjects.of({
      ours: yield* Effect.flatMap(services({ DATABASE_URL: databaseUrl }), sideAt),
      peer: yield* Effect.flatMap(peer(databaseUrl, jwksFile), sideAt)
    })
  })

/** Both subjects on a fresh database, and the ports to look at it. */
export const subjects = Layer.unwrap(
  Effect.map(freshUrl, (url) =>
    Layer.effect(Subjects, make(Redacted.value(url))).pipe(Layer.provideMerge(portsBeside(url)))
  )
).pipe(Layer.provideMerge(Layer.merge(tokenMint, tokenSecrets)))
