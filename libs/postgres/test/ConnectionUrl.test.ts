/** Which URLs of a database are allowed, and whether the connection is protected. */
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it, layer } from "@effect/vitest"
import { ConfigProvider, Context, Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { chownSync, copyFileSync, chmodSync, statSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { explained } from "@data-import/domain/support/Settings"
import { connectionTo, setting } from "../src/connection/ConnectionUrl.ts"
import { layerWith, Database } from "../src/connection/Database.ts"
import * as DatabaseUsers from "../src/schema/DatabaseUsers.ts"
import { migrate } from "../src/schema/migrate.ts"
import * as EmbeddedPostgres from "../testing/EmbeddedPostgres.ts"
import { temporaryDataDir } from "../testing/temporaryFolder.ts"

const certificate = (name: string) => join(import.meta.dirname, "certificates", name)

const authority = certificate("authority.crt")

const tlsOf = (url: string) => {
  const { host, ssl } = connectionTo(Redacted.make(url))
  if (ssl === false) return { host, tls: "none" }
  const isVerified = ssl.rejectUnauthorized !== false
  const tls = !isVerified ? "any" : ssl.checkServerIdentity === undefined ? "name" : "authority"
  return { host, tls, ...(ssl.ca !== undefined && { ca: true }) }
}

const known: ReadonlyArray<readonly [url: string, expected: object]> = [
  ["postgres://u:p@db/d", { host: "db", tls: "name" }],
  ["postgresql://u:p@db.example.com:6432/d", { host: "db.example.com", tls: "name" }],
  ["postgres://u:p@10.0.0.1/d", { host: "10.0.0.1", tls: "name" }],
  ["postgres://u:p@[2001:db8::1]/d", { host: "2001:db8::1", tls: "name" }],
  ["postgres://u:p@0.0.0.0/d", { host: "0.0.0.0", tls: "name" }],
  ["postgres://u:p@127.example.com/d", { host: "127.example.com", tls: "name" }],
  ["postgres://u:p@localhost.example.com/d", { host: "localhost.example.com", tls: "name" }],
  ["postgres://u:p@127.0.0.1@db/d", { host: "db", tls: "name" }],
  ["postgres://u:p@127.0.0.1/d?host=db", { host: "db", tls: "name" }],
  ["postgres://u:p@127.0.0.1:5432/d", { host: "127.0.0.1", tls: "none" }],
  ["postgres://u:p@127.9.8.7/d", { host: "127.9.8.7", tls: "none" }],
  ["postgres://u:p@[::1]/d", { host: "::1", tls: "none" }],
  ["postgres://u:p@LocalHost/d", { host: "localhost", tls: "none" }],
  ["postgres:///d", { host: "localhost", tls: "none" }],
  ["postgres://u:p@localhost/d?host=/run/Postgres", { host: "/run/Postgres", tls: "none" }],
  ["postgres://u:p@%2Frun%2Fp/d?sslmode=require", { host: "/run/p", tls: "none" }],
  ["postgres://u:p@db/d?sslmode=disable", { host: "db", tls: "none" }],
  ["postgres://u:p@db/d?sslmode=require", { host: "db", tls: "any" }],
  ["postgres://u:p@127.0.0.1/d?sslmode=require", { host: "127.0.0.1", tls: "any" }],
  ["postgres://u:p@127.0.0.1/d?sslmode=verify-full", { host: "127.0.0.1", tls: "name" }],
  [`postgres://u:p@db/d?sslrootcert=${authority}`, { host: "db", tls: "name", ca: true }],
  [
    `postgres://u:p@db/d?sslmode=require&sslrootcert=${authority}`,
    { host: "db", tls: "authority", ca: true }
  ],
  [
    `postgres://u:p@db/d?sslmode=verify-ca&sslrootcert=${authority}`,
    { host: "db", tls: "authority", ca: true }
  ]
]

const refused: ReadonlyArray<readonly [url: string, why: string]> = [
  ["postgres://u:hunter2@db/d?sslmode=prefer", ": sslmode prefer protects nothing, "],
  ["postgres://u:hunter2@127.0.0.1/d?sslmode=allow", ": sslmode allow protects nothing, "],
  ["postgres://u:hunter2@db/d?sslmode=hunter2", ": its sslmode is not known."],
  ["postgres://u:hunter2@db/d?sslmode=", ": its sslmode is not known."],
  ["postgres://u:hunter2@db/d?sslmode=Disable", ": its sslmode is not known."],
  ["postgres://u:hunter2@db/d?ssl_mode=disable", ": it may have these parameters alone: "],
  ["postgres://u:hunter2@db/d?sslcert=a&sslkey=b", ": it may have these parameters alone: "],
  ["postgres://u:12?hunter2@db/d", ": it may have these parameters alone: "],
  ["postgres://u@db/d?password=hunter2", ": it may have these parameters alone: "],
  ["postgres://u:hunter2@db/d?sslmode=verify-full&sslmode=disable", ": it has a parameter twice."],
  ["postgres://u:hunter2@db/d?sslmode=verify-ca", ": sslmode verify-ca needs sslrootcert: "],
  [
    "postgres://u:hunter2@db/d?sslrootcert=/hunter2",
    ": its sslrootcert holds no certificate (ENOENT)."
  ],
  [
    `postgres://u:hunter2@db/d?sslrootcert=${import.meta.filename}`,
    ": its sslrootcert holds no certificate"
  ],
  ["postgres://u:hunter2@%zz/d", ": its host is not encoded as a URL demands."],
  ["mysql://user:hunter2@localhost", "."],
  ["hunter2", "."],
  ["postgres//user:hunter2@localhost", "."]
]

describe("a database URL", () => {
  it.each(known)("determines the connection: %s", (url, expected) => {
    expect(tlsOf(url)).toEqual(expected)
  })

  const read = (value: string) =>
    setting("DATABASE_URL").required.parse(ConfigProvider.fromUnknown({ DATABASE_URL: value }))

  it.effect.each(refused)("is refused in one line without the password: %s", ([url, why]) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(read(url))
      const message = exit._tag === "Failure" ? explained(exit.cause) : "accepted"
      expect(message).toContain(`DATABASE_URL is not valid${why}`)
      expect(message).toMatch(/^[^\n]* It must be a URL like [^\n]+\.$/)
      expect(message).not.toContain("hunter2")
    })
  )

  it.effect("is redacted", () =>
    Effect.gen(function* () {
      const value = "postgres://user:hunter2@localhost/db"
      const redacted = yield* read(value)
      expect(JSON.stringify(redacted)).not.toContain("hunter2")
      expect(Redacted.value(redacted)).toBe(value)
    })
  )
})

class Server extends Context.Service<Server, Redacted.Redacted>()(
  "@data-import/postgres/test/TlsServer"
) {}

const isEncrypted = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(
    sql<{ ssl: boolean }>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`,
    ([row]) => row?.ssl
  )
)

const clientAt = (url: Redacted.Redacted) =>
  PgClient.layer({ ...connectionTo(url), maxConnections: 1 })

/** A server with a certificate for `localhost`. */
const server = Layer.effect(
  Server,
  Effect.gen(function* () {
    const dataDir = yield* temporaryDataDir()
    const { url } = yield* EmbeddedPostgres.start({ dataDir, durable: false })
    const { gid, uid } = statSync(join(dataDir, "PG_VERSION"))
    for (const name of ["server.crt", "server.key"]) {
      const file = join(dataDir, name)
      copyFileSync(certificate(name), file)
      chmodSync(file, 0o600)
      chownSync(file, uid, gid)
    }
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.andThen(sql`alter system set ssl = on`, sql`select pg_reload_conf()`)
    ).pipe(Effect.provide(clientAt(url)))
    const isOn = Effect.flatMap(
      SqlClient.SqlClient,
      (sql) => sql`select where current_setting('ssl')::boolean`
    ).pipe(Effect.provide(clientAt(url)))
    yield* Effect.repeat(isOn, { until: ({ length }) => length > 0 })
    return url
  })
)

const urlOf = (server: Redacted.Redacted, host: string, query: string) => {
  const url = new URL(Redacted.value(server))
  url.hostname = host
  url.search = query
  return Redacted.make(url.href)
}

const other = certificate("other-authority.crt")

const encrypted: ReadonlyArray<readonly [host: string, query: string, isEncrypted: boolean]> = [
  ["localhost", `sslmode=verify-full&sslrootcert=${authority}`, true],
  ["127.0.0.1", `sslmode=verify-ca&sslrootcert=${authority}`, true],
  ["127.0.0.1", `sslmode=require&sslrootcert=${authority}`, true],
  ["127.0.0.1", "sslmode=require", true],
  ["127.0.0.1", "sslmode=disable", false],
  ["127.0.0.1", "", false]
]

const notTrusted: ReadonlyArray<readonly [host: string, query: string, code: string]> = [
  ["127.0.0.1", `sslmode=verify-full&sslrootcert=${authority}`, "ERR_TLS_CERT_ALTNAME_INVALID"],
  ["localhost", `sslmode=verify-full&sslrootcert=${other}`, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ["localhost", "sslmode=verify-full", "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ["localhost", `sslmode=verify-ca&sslrootcert=${other}`, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"],
  ["localhost", `sslmode=require&sslrootcert=${other}`, "UNABLE_TO_VERIFY_LEAF_SIGNATURE"]
]

layer(server, { excludeTestServices: true })("a server with a certificate", (it) => {
  it.effect.each(encrypted)("is accepted: %s, %s", ([host, query, expected]) =>
    Effect.gen(function* () {
      const url = urlOf(yield* Server, host, query)
      expect(yield* Effect.provide(isEncrypted, clientAt(url))).toBe(expected)
    })
  )

  it.effect.each(notTrusted)("is refused: %s, %s", ([host, query, code]) =>
    Effect.gen(function* () {
      const url = urlOf(yield* Server, host, query)
      const failure = yield* Effect.flip(Effect.provide(isEncrypted, clientAt(url)))
      expect(failure.reason.cause).toMatchObject({ code })
      const { ready } = Context.get(
        yield* Layer.build(layerWith({ url, poolSize: 1, statementTimeout: Duration.seconds(1) })),
        Database
      )
      const unavailable = yield* Effect.flip(ready)
      expect(String(unavailable.cause)).toContain(code)
    }).pipe(Effect.scoped)
  )
})

/** A server without TLS, and everything that it received. */
const withoutTls = Effect.acquireRelease(
  Effect.promise(
    () =>
      new Promise<{ port: number; received: Array<Buffer>; close: () => void }>((resolve) => {
        const received: Array<Buffer> = []
        const listener = createServer((socket) => {
          socket.on("error", () => socket.destroy())
          socket.on("data", (chunk) => {
            received.push(chunk)
            socket.write("N")
          })
        })
        listener.listen(0, "127.0.0.1", () => {
          const address = listener.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resolve({ port, received, close: () => void listener.close() })
        })
      })
  ),
  ({ close }) => Effect.sync(close)
)

const sslRequest = Buffer.of(0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f)

const connecting: Readonly<
  Record<string, (url: Redacted.Redacted) => Effect.Effect<unknown, unknown>>
> = {
  "a service": (url) =>
    Effect.flatMap(Database, ({ ready }) => ready).pipe(
      Effect.provide(
        Layer.fresh(layerWith({ url, poolSize: 1, statementTimeout: Duration.seconds(1) }))
      )
    ),
  "the migration": migrate,
  "the database users": (url) =>
    DatabaseUsers.ensure(url, { query: Redacted.make("postgres://q:pw@db/d") })
}

describe.each(Object.entries(connecting))("%s", (_, connect) => {
  it.live("sends its user and password to no server that refuses TLS", () =>
    Effect.gen(function* () {
      const { port, received } = yield* withoutTls
      // This address leads to this machine, but does not count as local.
      const url = Redacted.make(`postgres://user:hunter2@0.0.0.0:${port}/d`)
      const failure = yield* Effect.flip(connect(url))
      expect(String(Reflect.get(failure as object, "cause") ?? failure)).toContain("TLS")
      for (const sent of received) expect(sent).toEqual(sslRequest)
      expect(received.length).toBeGreaterThan(0)
    }).pipe(Effect.scoped)
  )
})
