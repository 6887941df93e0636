import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, statSync, watch } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import {
  domesticPayload,
  notesPayload,
  statementsPayload
} from "@data-import/domain/testing/samples"
import { createDatabase, databaseUrl, dropDatabase } from "@data-import/postgres/testing/databases"
import { freshUrl } from "@data-import/postgres/testing/TestDatabase"
import { inherited, NodeProcess } from "@data-import/testbed/NodeProcess"
import { Effect, Exit, Redacted, Scope } from "effect"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import {
  freshDataDir,
  launch,
  postgresOf,
  runToEnd,
  startLocal,
  stop,
  usedDataDir
} from "./Process.ts"

interface Demo {
  readonly baseUrl: string
  readonly apiKey: string
  readonly rivalApiKey: string
  readonly importSupplier: string
  readonly operationsTeamName: string
  readonly documentsDir: string
}

const demoIn = (dataDir: string): Demo =>
  JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as Demo

const operator = (dataDir: string, ...args: ReadonlyArray<string>) =>
  runToEnd("operator", args, { DATA_DIR: dataDir })

const succeeded = { status: 0, err: "" }

/** The output of a local run: its address, and how to sign in to the board. */
const said = ({ baseUrl, line }: { readonly baseUrl: string; readonly line: string }): unknown => {
  const link = `Sign in to the board, once: ${baseUrl}/board/sign-in/[\\w-]{43}/`
  return expect.stringMatching(new RegExp(`^${line}\n${link}\n$`))
}

const sampleDocuments = (): ReadonlyArray<string> => {
  const samples = JSON.stringify([domesticPayload(), notesPayload(), statementsPayload()])
  const paths = [...samples.matchAll(/"(?:document|statement)_path":"([^"]+)"/g)]
  expect(paths).toHaveLength(7)
  return paths.map(([, path = ""]) => path)
}

/** Expects a PDF file whose table of objects points at each of them. */
const expectPdf = (text: string): void => {
  expect(text).toMatch(/^%PDF-1\.4\n[^]*%%EOF\n$/)
  const table = text.slice(Number(/startxref\n(\d+)\n/.exec(text)?.[1]))
  expect(table).toMatch(/^xref\n0 6\n/)
  const [, ...objects] = [...table.matchAll(/^(\d{10}) \d{5} [nf] $/gm)]
  expect(objects).toHaveLength(5)
  objects.forEach(([, offset], index) => {
    expect(text.slice(Number(offset))).toMatch(new RegExp(`^${index + 1} 0 obj\\n`))
  })
}

/** The tenant that the contract describes, with valid PDF documents. */
const expectDemoTenant = async (dataDir: string): Promise<void> => {
  const listed = async (noun: string): Promise<unknown> =>
    JSON.parse((await operator(dataDir, noun, "list", "--json")).out)
  expect(await listed("organisation")).toMatchObject([
    { name: "demo" },
    { name: "demo-test", testOf: "demo" },
    { name: "rival" }
  ])
  expect(await listed("supplier")).toMatchObject([
    { code: "DEMO_COMPLETE", organisation: "demo-test", status: "Complete" },
    { code: "DEMO_ENERGY", organisation: "demo-test", status: "Ongoing" },
    { code: "DEMO_PAUSED", organisation: "demo-test", status: "Paused" },
    { code: "DEMO_COMPLETE", organisation: "demo", status: "Complete" },
    { code: "DEMO_ENERGY", organisation: "demo", status: "Ongoing" },
    { code: "DEMO_PAUSED", organisation: "demo", status: "Paused" },
    { code: "RIVAL_ENERGY", organisation: "rival", status: "Ongoing" }
  ])
  expect(statSync(join(dataDir, "demo.json")).mode & 0o077).toBe(0)
  for (const path of sampleDocuments()) {
    expectPdf(readFileSync(join(demoIn(dataDir).documentsDir, path), "latin1"))
  }
}

/** A port that is in use. */
const takenPort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe("npm start", () => {
  it("says at once what it starts and where, or that the port is taken", async () => {
    const dataDir = freshDataDir()
    const prepare = (port: number) => {
      const env = inherited({ DATA_DIR: dataDir, PORT: String(port) })
      return new NodeProcess({ script: "tools/local/prepare.ts", args: [], env })
    }
    const port = await takenPort()
    const taken = await prepare(port).ended
    expect(taken).toMatchObject({ status: 1, out: "" })
    expect(taken.err).toMatch(new RegExp(`^Port ${port} is in use: .* with PORT\\.\n$`))
  })
})

describe("the local run", { timeout: 300_000 }, () => {
  it("starts with the demo tenant, passes the demo, and keeps data over a restart", async () => {
    const dataDir = freshDataDir()
    const first = await startLocal(dataDir)
    expect(first.line).toBe(`Data Import answers at ${first.baseUrl}`)
    const demo = demoIn(dataDir)
    expect(demo).toEqual({
      baseUrl: first.baseUrl,
      apiKey: expect.stringMatching(/^sk_live_[\w-]{43}$/) as string,
      rivalApiKey: expect.stringMatching(/^sk_live_[\w-]{43}$/) as string,
      testApiKey: expect.stringMatching(/^sk_test_[\w-]{43}$/) as string,
      importSupplier: "DEMO_ENERGY",
      operationsTeamName: "Migration Team",
      documentsDir: join(dataDir, "documents", "DEMO_ENERGY")
    })
    await expectDemoTenant(dataDir)
    expect(await runToEnd("demo", [], { DATA_DIR: dataDir })).toMatchObject(succeeded)
    expect(await operator(dataDir, "team", "create", "Aftercare")).toMatchObject(succeeded)
    expect(await stop(first.process, "SIGTERM")).toEqual({ ...succeeded, out: said(first) })
    expect(postgresOf(dataDir)).toBeNull()

    const second = await startLocal(dataDir)
    expect(demoIn(dataDir)).toEqual({ ...demo, baseUrl: second.baseUrl })
    const teams = await operator(dataDir, "team", "list", "--json")
    expect(JSON.parse(teams.out)).toEqual([{ name: "Aftercare" }, { name: "Migration Team" }])
    expect(await stop(second.process, "SIGINT")).toEqual({ ...succeeded, out: said(second) })
    expect(postgresOf(dataDir)).toBeNull()
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
