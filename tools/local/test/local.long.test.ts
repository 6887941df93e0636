/** The life of the local run, and the operator command with and without it. */
import { randomBytes } from "node:crypto"
import { existsSync, watch } from "node:fs"
import { dirname, join } from "node:path"
import { createDatabase, databaseUrl, dropDatabase } from "@data-import/postgres/testing/databases"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { Effect, Exit, Redacted, Scope } from "effect"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import {
  demoIn,
  freshDataDir,
  launch,
  operator,
  postgresOf,
  runToEnd,
  startLocal,
  stop,
  succeeded,
  takenPort,
  usedDataDir
} from "./Process.ts"

describe("the local run", { timeout: 300_000 }, () => {
  it("passes the demo", async () => {
    const dataDir = freshDataDir()
    const local = await startLocal(dataDir)
    expect(await runToEnd("demo", [], { DATA_DIR: dataDir })).toMatchObject(succeeded)
    expect((await stop(local.process, "SIGTERM")).status).toBe(0)
  })

  it("works on the database of DATABASE_URL, and leaves it running", async () => {
    const dataDir = freshDataDir()
    const scope = Scope.makeUnsafe()
    onTestFinished(() => Effect.runPromise(Scope.close(scope, Exit.void)))
    const url = Redacted.value(await Effect.runPromise(Scope.provide(freshUrl, scope)))
    const local = await startLocal(dataDir, { DATABASE_URL: url })
    expect(existsSync(join(dataDir, "postgres"))).toBe(false)
    expect((await stop(local.process, "SIGTERM")).status).toBe(0)
    const teams = await runToEnd("operator", ["team", "list", "--json"], { DATABASE_URL: url })
    expect(JSON.parse(teams.out)).toEqual([{ name: "Migration Team" }])
  })

  it("reports that the port is in use, and stops PostgreSQL", async () => {
    const dataDir = await usedDataDir()
    const port = await takenPort()
    const { err, out, status } = await runToEnd("local", [], {
      DATA_DIR: dataDir,
      PORT: String(port)
    })
    expect({ status, out }).toEqual({ status: 1, out: "" })
    expect(err).toBe(
      `Port ${port} is in use: stop what uses it, or choose another one with PORT.\n`
    )
    expect(postgresOf(dataDir)).toBeNull()
  })

  it("names the wrong setting", async () => {
    const { err, status } = await runToEnd("local", [], { DATA_DIR: freshDataDir(), PORT: "no" })
    expect(status).toBe(1)
    expect(err).toBe('PORT is "no". It must be a whole number from 0 to 65535.\n')
  })

  it("is refused on the data directory of a running one, which continues", async () => {
    const dataDir = await usedDataDir()
    const { baseUrl } = await startLocal(dataDir)
    const second = await runToEnd("local", [], { DATA_DIR: dataDir, PORT: "0" })
    expect(second).toEqual({
      status: 1,
      out: "",
      err: `A local run is up on ${dataDir} already.\n`
    })
    expect((await fetch(`${baseUrl}/health/ready`)).status).toBe(200)
  })

  it("takes over the PostgreSQL of a run that was killed, and stops it at its end", async () => {
    const dataDir = await usedDataDir()
    const killed = await startLocal(dataDir)
    const demo = demoIn(dataDir)
    await stop(killed.process, "SIGKILL")
    const left = postgresOf(dataDir)
    expect(left).not.toBeNull()
    const next = await startLocal(dataDir)
    expect(postgresOf(dataDir)).toBe(left)
    expect(demoIn(dataDir)).toEqual({ ...demo, baseUrl: next.baseUrl })
    expect((await stop(next.process, "SIGTERM")).status).toBe(0)
    expect(postgresOf(dataDir)).toBeNull()
  })

  it("stops on a signal that comes while it is starting", async () => {
    const dataDir = freshDataDir()
    const begun = new Promise<void>((resolve) => {
      const watcher = watch(dirname(dataDir), () => resolve())
      onTestFinished(() => watcher.close())
    })
    const starting = launch("local", [], { DATA_DIR: dataDir, PORT: "0" })
    await begun
    expect(await stop(starting, "SIGTERM")).toEqual({ ...succeeded, out: "" })
    expect(postgresOf(dataDir)).toBeNull()
  })
})

describe("the operator command without a local run", { timeout: 120_000 }, () => {
  it("starts and stops the database for each of several commands", async () => {
    const dataDir = freshDataDir()
    const names = ["one", "two", "three"]
    const created = await Promise.all(
      names.map((name) => operator(dataDir, "organisation", "create", name))
    )
    for (const end of created) expect(end).toMatchObject(succeeded)
    expect(postgresOf(dataDir)).toBeNull()
    const { out } = await operator(dataDir, "organisation", "list", "--json")
    const listed = JSON.parse(out) as ReadonlyArray<{ readonly name: string }>
    expect(listed.map(({ name }) => name)).toEqual(names.toSorted())
    expect(postgresOf(dataDir)).toBeNull()
  })

  it("prints the reason, ends with status 2, and stops the database", async () => {
    const dataDir = freshDataDir()
    const { err, out, status } = await operator(dataDir, "key", "issue", "nobody", "--json")
    expect({ status, out }).toEqual({ status: 2, out: "" })
    expect(err).toContain("There is no organisation nobody")
    expect(postgresOf(dataDir)).toBeNull()
    expect(await operator(dataDir, "key", "shred")).toMatchObject({ status: 2, out: "" })
    expect(await operator(dataDir, "key")).toMatchObject({ status: 2, out: "" })
  })

  it("reports that the database of DATABASE_URL was never migrated", async () => {
    const server = Redacted.make(inject("databaseUrl"))
    const name = `bare_${randomBytes(6).toString("hex")}`
    await Effect.runPromise(createDatabase(server, name))
    onTestFinished(() => Effect.runPromise(dropDatabase(server, name)))
    const end = await runToEnd("operator", ["team", "list", "--json"], {
      DATABASE_URL: Redacted.value(databaseUrl(server, name))
    })
    expect(end).toMatchObject({ status: 2, out: "" })
    expect(end.err).toContain("npm run migrate")
  })

  it("reports that the database of DATABASE_URL cannot be reached", async () => {
    const port = await takenPort()
    const end = await runToEnd("operator", ["team", "list"], {
      DATABASE_URL: `postgres://operator:secret-word@127.0.0.1:${port}/nowhere`
    })
    expect(end).toMatchObject({ status: 2, out: "" })
    expect(end.err).toContain("The database cannot be reached")
    expect(end.err).not.toContain("secret-word")
  })
})
