/** The connection between a service and its database, which a test can cut. */
import { Context, Effect, Layer, Redacted, type Scope } from "effect"
import * as TcpProxy from "./TcpProxy.ts"

export class DatabaseProxy extends Context.Service<
  DatabaseProxy,
  {
    /** The database behind the proxy, for the service. */
    readonly url: Redacted.Redacted
    /** Ends the existing connections, and refuses new ones. */
    readonly cut: Effect.Effect<void>
    readonly mend: Effect.Effect<void>
    /** Leads new connections to this server; existing ones stay. */
    readonly leadTo: (url: Redacted.Redacted) => Effect.Effect<void>
  }
>()("@data-import/postgres/testing/DatabaseProxy") {}

const portOf = (url: Redacted.Redacted): number => Number(new URL(Redacted.value(url)).port)

/** The same database and user, through another port of this machine. */
export const throughPort = (url: Redacted.Redacted, port: number): Redacted.Redacted =>
  Redacted.make(Object.assign(new URL(Redacted.value(url)), { port: String(port) }).href)

const make = (
  url: Redacted.Redacted
): Effect.Effect<DatabaseProxy["Service"], never, Scope.Scope> =>
  Effect.map(TcpProxy.make({ target: portOf(url) }), (proxy) => ({
    url: throughPort(url, proxy.port),
    cut: Effect.promise(() => proxy.set({ _tag: "Refuse" })),
    mend: Effect.promise(() => proxy.set({ _tag: "Pass" })),
    leadTo: (other) => Effect.sync(() => proxy.leadTo(portOf(other)))
  }))

/** A proxy to the database at `url`, which ends with the scope. */
export const proxyTo = (url: Redacted.Redacted): Layer.Layer<DatabaseProxy> =>
  Layer.effect(DatabaseProxy, make(url))

/** What is made of a database whose connections a test can cut. */
export const behindProxy = <A, E, R>(
  url: Redacted.Redacted,
  make: (proxied: Redacted.Redacted) => Layer.Layer<A, E, R>
) =>
  Layer.unwrap(Effect.map(DatabaseProxy, (proxy) => make(proxy.url))).pipe(
    Layer.provideMerge(proxyTo(url))
  )

/** The database is away while the effect runs. */
export const away = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(DatabaseProxy, ({ cut, mend }) =>
    Effect.acquireUseRelease(
      cut,
      () => effect,
      () => mend
    )
  )
