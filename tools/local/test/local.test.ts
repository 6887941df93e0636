import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import {
  domesticPayload,
  notesPayload,
  statementsPayload
} from "@data-import/domain/testing/samples"
import { inherited, NodeProcess } from "@data-import/testbed/NodeProcess"
import { describe, expect, it } from "vitest"
import {
  demoIn,
  freshDataDir,
  operator,
  succeeded,
  takenPort,
  postgresOf,
  startLocal,
  stop
} from "./Process.ts"

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

/** While a busy machine starts, a service may warn that another one does not answer in time yet. */
const warning =
  /^.*"level":"WARN".*"(?:not ready, because what the service needs does not answer|The public keys of tokens cannot be fetched)".*"kind":"TimeoutError".*\n/gm

/** The tenant that the contract describes, with valid PDF documents. */
const expectDemoTenant = async (dataDir: string): Promise<void> => {
  const listed = async (noun: string): Promise<unknown> =>
    JSON.parse((await operator(dataDir, noun, "list", "--json")).out)
  const [organisations, suppliers] = await Promise.all([listed("organisation"), listed("supplier")])
  expect(organisations).toMatchObject([
    { name: "demo" },
    { name: "demo-test", testOf: "demo" },
    { name: "rival" }
  ])
  expect(suppliers).toMatchObject([
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
  it("starts with the demo tenant, and leaves no process", async () => {
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
    const { err, ...stopped } = await stop(first.process, "SIGTERM")
    expect({ ...stopped, err: err.replaceAll(warning, "") }).toEqual({
      ...succeeded,
      out: said(first)
    })
    expect(postgresOf(dataDir)).toBeNull()
  })
})
