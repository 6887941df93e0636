/**
 * The embedded PostgreSQL keeps its data, and copes with anything that an earlier run left behind.
 */
import { PgClient } from "@effect/sql-pg"
import { describe, expect, it, layer } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { join } from "node:path"
import * as EmbeddedPostgres from "../testing/EmbeddedPostgres.ts"
import { commandLine, hasProc } from "../testing/processes.ts"
import { temporaryDataDir } from "../testing/temporaryFolder.ts"

const start = Effect.fnUntraced(function* (
  dataDir: string,
  options: Partial<EmbeddedPostgres.Options> = { durable: false }
) {
  const scope = yield* Scope.make()
  const server = yield* Scope.provide(EmbeddedPostgres.start({ dataDir, ...options }), scope)
  const stop = Scope.close(scope, Exit.void)
  yield* Effect.addFinalizer(() => stop)
  return { ...server, stop }
})

const query = (url: Redacted.Redacted, statement: string) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    return yield* sql.unsafe(statement)
  }).pipe(Effect.provide(PgClient.layer({ url, maxConnections: 1 })))

/** A port on which something else listens until the scope ends. */
const takenPort = Effect.acquireRelease(
  Effect.callback<Server>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
  }),
  (server) => Effect.sync(() => server.close())
).pipe(
  Effect.map((server) => {
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  })
)

/** A process that has ended but was not reaped yet is not alive. */
const isAlive = (pid: number): boolean => commandLine(pid) !== null

/** A data directory without a server; it is made once, because making one takes a second. */
class Initialised extends Context.Service<Initialised, string>()(
  "@data-import/postgres/test/Initialised"
) {}

const initialised = Layer.effect(
  Initialised,
  Effect.tap(temporaryDataDir(), (dataDir) =>
    Effect.scoped(EmbeddedPostgres.start({ dataDir, durable: false }))
  )
)

layer(initialised, { excludeTestServices: true })("the embedded PostgreSQL", (it) => {
  it.effect("is durable, private and uses UTF-8", () =>
    Effect.gen(function* () {
      const { url } = yield* start(yield* temporaryDataDir(), {})
      const settings = `select name, setting from pg_settings where name in
        ('fsync', 'synchronous_commit', 'listen_addresses', 'server_encoding',
         'password_encryption', 'TimeZone') order by name collate "C"`
      expect(yield* query(url, settings)).toStrictEqual([
        { name: "TimeZone", setting: "UTC" },
        { name: "fsync", setting: "on" },
        { name: "listen_addresses", setting: "127.0.0.1" },
        { name: "password_encryption", setting: "scram-sha-256" },
        { name: "server_encoding", setting: "UTF8" },
        { name: "synchronous_commit", setting: "on" }
      ])
      const guessed = new URL(Redacted.value(url))
      guessed.password = "postgres"
      const refused = yield* Effect.flip(query(Redacted.make(guessed.href), "select 1"))
      expect(refused.reason._tag).toBe("AuthenticationError")
    }).pipe(Effect.scoped)
  )

  it.effect("keeps its data over a restart, and leaves no process", () =>
    Effect.gen(function* () {
      const dataDir = yield* Initialised
      const first = yield* start(dataDir)
      yield* query(first.url, "create table kept as select 1 as one")
      yield* first.stop
      expect(isAlive(first.pid)).toBe(false)
      const second = yield* start(dataDir)
      expect(second.adopted).toBe(false)
      expect(yield* query(second.url, "select one from kept")).toStrictEqual([{ one: 1 }])
    }).pipe(Effect.scoped)
  )

  it.effect("adopts a running server, and stops it only if asked to", () =>
    Effect.gen(function* () {
      const dataDir = yield* Initialised
      const first = yield* start(dataDir)
      const visitor = yield* start(dataDir, { whenAdopted: "leave" })
      expect(visitor).toMatchObject({ pid: first.pid, adopted: true })
      yield* visitor.stop
      expect(isAlive(first.pid)).toBe(true)
      const heir = yield* start(dataDir)
      expect(heir).toMatchObject({ pid: first.pid, adopted: true })
      yield* heir.stop
      expect(isAlive(first.pid)).toBe(false)
    }).pipe(Effect.scoped)
  )

  it.effect("starts once under two concurrent starts", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir()
      const both = yield* Effect.all([start(dataDir), start(dataDir)], { concurrency: 2 })
      expect(both[0].pid).toBe(both[1].pid)
      for (const { url } of both) {
        expect(yield* query(url, "select 1 as one")).toStrictEqual([{ one: 1 }])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("recovers all committed data after it was killed", () =>
    Effect.gen(function* () {
      const dataDir = yield* Initialised
      const first = yield* start(dataDir)
      yield* query(first.url, "create table survived as select 1 as one")
      process.kill(first.pid, "SIGKILL")
      const second = yield* start(dataDir)
      expect(second.pid).not.toBe(first.pid)
      expect(yield* query(second.url, "select one from survived")).toStrictEqual([{ one: 1 }])
    }).pipe(Effect.scoped)
  )

  it.effect("ignores a stale lock file that names another process", () =>
    Effect.gen(function* () {
      const dataDir = yield* Initialised
      const first = yield* start(dataDir)
      yield* first.stop
      const bystander = spawn("sleep", ["60"])
      yield* Effect.addFinalizer(() => Effect.sync(() => bystander.kill()))
      const lock = [bystander.pid, dataDir, 0, 5432, "", "127.0.0.1", "", "ready"].join("\n")
      writeFileSync(join(dataDir, "postmaster.pid"), `${lock}\n`)
      const second = yield* start(dataDir)
      expect(second.adopted).toBe(false)
      expect(bystander.exitCode, "the other process is left alone").toBeNull()
    }).pipe(Effect.scoped)
  )

  it.effect("does not modify a folder with other content", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir()
      mkdirSync(dataDir)
      writeFileSync(join(dataDir, "letter.txt"), "mine")
      const refused = yield* Effect.flip(start(dataDir))
      expect(refused.message).toContain("neither empty nor the data directory")
    }).pipe(Effect.scoped)
  )

  it.effect("reports that its port is taken", () =>
    Effect.gen(function* () {
      const port = yield* takenPort
      const dataDir = yield* Initialised
      const refused = yield* Effect.flip(EmbeddedPostgres.start({ dataDir, port }))
      expect(refused.message).toContain("could not bind")
    }).pipe(Effect.scoped)
  )
})

describe.runIf(process.getuid?.() === 0 && hasProc)("the embedded PostgreSQL under root", () => {
  it.live("runs from a folder that only root can enter, and keeps its data there", () =>
    Effect.gen(function* () {
      const dataDir = yield* temporaryDataDir(0o700)
      const first = yield* start(dataDir)
      yield* query(first.url, "create table kept as select 1 as one")
      yield* first.stop
      const second = yield* start(dataDir)
      expect(yield* query(second.url, "select one from kept")).toStrictEqual([{ one: 1 }])
    }).pipe(Effect.scoped)
  )
})
