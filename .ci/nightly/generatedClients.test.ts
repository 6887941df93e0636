/**
 * Clients that common generators make from the document. A call without optional fields compiles,
 * and so does one that reads an answer with new values.
 */
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { after, before, describe, it } from "node:test"
import { promisify } from "node:util"
import { createClient } from "@hey-api/openapi-ts"
import openapiTypes, { astToString } from "openapi-typescript"

const run = promisify(execFile)
const modules = join(import.meta.dirname, "node_modules")
const document = join(import.meta.dirname, "../../libs/api/openapi.json")
const folder = mkdtempSync(join(tmpdir(), "data-import-generated-"))

/** The minimal bodies of requests. */
const payload = '{ import_supplier: "S", external_account_number: "1", customers: [{}] }'
const batch = '{ import_supplier: "S", operation: "IMPORT", operations_team_name: "T" }'

/** The path of the generated modules, as the calls import them. */
const generated = "."

const calls = {
  "heyApi.ts": `
import { client } from "${generated}/heyApi/client.gen.ts"
import { createBatch, getBatch, listEvents, stageAccount } from "${generated}/heyApi/sdk.gen.ts"
client.setConfig({ baseUrl: "http://127.0.0.1", auth: "token" })
export const staged = await stageAccount({ body: { payload: ${payload} } })
export const made = await createBatch({ body: { payload: ${batch} }, headers: { "Idempotency-Key": "k" } })
const found = await getBatch({ path: { batch_id: "1" } })
export const isOfTomorrow: boolean = found.data?.state === "OF_TOMORROW"
export const events = await listEvents({ query: { after: 1 } })
// @ts-expect-error a request takes no other fields
await stageAccount({ body: { payload: { ...${payload}, acount_type: "DOMESTIC" } } })
// @ts-expect-error the number is required
await stageAccount({ body: { payload: { import_supplier: "S" } } })
`,
  "openapiTypescript.ts": `
import createClient from "openapi-fetch"
import type { paths } from "${generated}/paths.d.ts"
const client = createClient<paths>({ baseUrl: "http://127.0.0.1" })
const stage = "/v1/data-import/account-import-process/create-or-update/"
export const staged = await client.POST(stage, { body: { payload: ${payload} } })
export const made = await client.POST("/v1/data-import/batches/", { body: { payload: ${batch} } })
const path = { batch_id: "1" }
const found = await client.GET("/v1/data-import/batches/{batch_id}/", { params: { path } })
export const isOfTomorrow: boolean = found.data?.state === "OF_TOMORROW"
const query = { after: 1 }
export const events = await client.GET("/v1/data-import/events/", { params: { query } })
// @ts-expect-error the number is required
await client.POST(stage, { body: { payload: { import_supplier: "S" } } })
`
}

const compilerOptions = {
  module: "ESNext",
  moduleResolution: "Bundler",
  target: "ES2022",
  lib: ["ES2024", "DOM", "DOM.Iterable"],
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true
}

before(async () => {
  await createClient({
    input: document,
    output: { path: join(folder, "heyApi") },
    plugins: ["@hey-api/typescript", "@hey-api/sdk", "@hey-api/client-fetch"],
    logs: { level: "silent" }
  })
  const types = await openapiTypes(new URL(`file://${document}`))
  writeFileSync(join(folder, "paths.d.ts"), astToString(types))
  mkdirSync(join(folder, "node_modules"))
  for (const name of ["openapi-fetch", "openapi-typescript-helpers"]) {
    symlinkSync(join(modules, name), join(folder, "node_modules", name))
  }
  for (const [name, code] of Object.entries(calls)) writeFileSync(join(folder, name), code)
})

after(() => {
  rmSync(folder, { recursive: true, force: true })
})

void describe("a generated client", () => {
  for (const name of Object.keys(calls)) {
    void it(`compiles its calls: ${name}`, async () => {
      const config = join(folder, `${name}.json`)
      writeFileSync(config, JSON.stringify({ compilerOptions, files: [name] }))
      const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript")), "tsc.js")
      const output = await run(process.execPath, [compiler, "-p", config], { cwd: folder }).catch(
        (failed: { readonly stdout: string }) => failed
      )
      assert.equal(output.stdout, "")
    })
  }
})
