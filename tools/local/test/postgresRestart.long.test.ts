/** The embedded PostgreSQL of the local run ends: it is restarted, or the run ends with it. */
import { renameSync } from "node:fs"
import { join } from "node:path"
import { domesticPayload } from "@data-import/domain/testing/samples"
import { describe, expect, it } from "vitest"
import { demoIn, postgresOf, startLocal, stop, usedDataDir } from "./Process.ts"

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })

/** A client of the demo tenant. */
const clientOf = async (dataDir: string, baseUrl: string) => {
  const { apiKey, importSupplier } = demoIn(dataDir)
  const query = `mutation { obtainServiceToken(input: {APIKey: "${apiKey}"}) { token } }`
  const { data } = (await (await post(`${baseUrl}/v1/graphql/`, { query })).json()) as {
    readonly data: { readonly obtainServiceToken: { readonly token: string } }
  }
  const headers = { authorization: `Token ${data.obtainServiceToken.token}` }
  const api = `${baseUrl}/v1/data-import`
  return {
    stage: async (number: string): Promise<number> => {
      const account = { import_supplier: importSupplier, external_account_number: number }
      const payload = { ...domesticPayload(), ...account }
      const path = "account-import-process/create-or-update"
      return (await post(`${api}/${path}/`, { payload }, headers)).status
    },
    staged: async (): Promise<ReadonlyArray<string>> => {
      const path = `all-account-import-processes/${importSupplier}`
      const list = () => fetch(`${api}/${path}/`, { headers })
      let answer = await list()
      // This is not the service that stages, so it has to notice the new PostgreSQL itself.
      while (answer.status === 503) answer = await list()
      const all = (await answer.json()) as ReadonlyArray<{
        readonly external_account_number: string
      }>
      return all.map((one) => one.external_account_number)
    }
  }
}

/** Kills the postmaster, and returns its process id. */
const killPostgres = (dataDir: string): number => {
  const pid = postgresOf(dataDir)
  if (pid === null) throw new Error("PostgreSQL does not run")
  process.kill(pid, "SIGKILL")
  return pid
}

describe("the local run", { timeout: 240_000 }, () => {
  it("restarts PostgreSQL whenever it ends, and loses nothing acknowledged", async () => {
    const dataDir = await usedDataDir()
    const local = await startLocal(dataDir)
    const { stage, staged } = await clientOf(dataDir, local.baseUrl)
    const acknowledged: Array<string> = []
    let next = 0
    const stageOne = async (): Promise<boolean> => {
      const number = `K-${next++}`
      const status = await stage(number)
      expect([201, 503]).toContain(status)
      if (status === 201) acknowledged.push(number)
      return status === 201
    }
    for (let kill = 0; kill < 2; kill++) {
      for (let count = 0; count < 5; count++) await stageOne()
      const killed = killPostgres(dataDir)
      await stageOne()
      while (!(await stageOne()));
      expect(postgresOf(dataDir)).not.toBe(killed)
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(12)
    const there = new Set(await staged())
    expect(acknowledged.filter((number) => !there.has(number))).toEqual([])

    const { err, status } = await stop(local.process, "SIGTERM")
    expect(status).toBe(0)
    expect(err.match(/PostgreSQL has ended; it is started again/g)).toHaveLength(2)
    expect(postgresOf(dataDir)).toBeNull()
  })

  it("ends with an error when PostgreSQL cannot be restarted", async () => {
    const dataDir = await usedDataDir()
    const local = await startLocal(dataDir)
    renameSync(join(dataDir, "postgres", "global"), join(dataDir, "global"))
    killPostgres(dataDir)
    const { err, out, status } = await local.process.ended
    expect({ status, out }).toEqual({ status: 1, out: `${local.line}\n` })
    expect(err).toMatch(/^PostgreSQL ended and could not be started again\. .+$/m)
    expect(err).not.toMatch(/^ +at /m)
    expect(postgresOf(dataDir)).toBeNull()
    await expect(fetch(`${local.baseUrl}/health/live`)).rejects.toThrow()
  })

  it("stops at once while PostgreSQL cannot be restarted", async () => {
    const dataDir = await usedDataDir()
    const local = await startLocal(dataDir)
    renameSync(join(dataDir, "postgres", "global"), join(dataDir, "global"))
    killPostgres(dataDir)
    await new Promise<void>((resolve) => {
      local.process.child.stderr?.on("data", (text: string) => {
        if (text.includes("it is started again")) resolve()
      })
    })
    expect((await stop(local.process, "SIGTERM")).status).toBe(0)
    expect(postgresOf(dataDir)).toBeNull()
  })
})
