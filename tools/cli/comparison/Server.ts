/** The local run as a server to compare with: a VALIDATE batch over HTTP, and its failed results. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { get } from "@data-import/domain/testing/wire"
import { decode } from "@data-import/local/DemoFile"
import * as LocalRun from "@data-import/testbed/LocalRun"
import { inherited, NodeProcess } from "@data-import/testbed/NodeProcess"

const root = "/v1/data-import/batches/"

/** The supplier whose lines are compared. Its day often differs from that of UTC. */
const supplier = "COMPARED"
const timeZone = "Pacific/Kiritimati"
const choices = { sales_channel: ["CARRIER_PIGEON"], payment_type: ["SHELLS"] }

export interface Server {
  readonly supplier: string
  /** The configuration file for `check`. */
  readonly configuration: string
  /** The failed results of a VALIDATE batch of these lines. */
  readonly failedResults: (book: Uint8Array<ArrayBuffer>) => Effect.Effect<string>
}

const operate = (dataDir: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const env = inherited({ DATA_DIR: dataDir })
    const { err, status } = await new NodeProcess({
      script: "tools/operator/main.ts",
      args,
      env
    }).ended
    if (status !== 0) throw new Error(`operator ${args.join(" ")} ended with ${status}: ${err}`)
  })

const setUp = Effect.fnUntraced(function* (dataDir: string) {
  const settings = ["--document-check", "off", "--time-zone", timeZone]
  yield* operate(dataDir, "supplier", "create", supplier, "--organisation", "demo", ...settings)
  for (const [list, values] of Object.entries(choices)) {
    for (const value of values) yield* operate(dataDir, "choice", "add", list, value)
  }
})

interface Sent {
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

const ask = async (url: string, method: string, { body, headers = {} }: Sent = {}) => {
  const answer = await fetch(url, { method, headers, body: body ?? null })
  if (answer.ok || answer.status === 304) return answer
  throw new Error(`${method} ${url} answered ${answer.status}: ${await answer.text()}`)
}

const jsonType = { "content-type": "application/json" }

const tokenFor = async (baseUrl: string, apiKey: string): Promise<string> => {
  const query = `mutation { obtainServiceToken(input: {APIKey: "${apiKey}"}) { token } }`
  const body = JSON.stringify({ query })
  const answer = await ask(`${baseUrl}/v1/graphql/`, "POST", { body, headers: jsonType })
  return String(get(await answer.json(), "data.obtainServiceToken.token"))
}

/** Waits until every line has ended. */
const follow = async (url: string, headers: Readonly<Record<string, string>>) => {
  let etag = ""
  for (;;) {
    const known = etag === "" ? headers : { ...headers, "if-none-match": etag }
    const answer = await ask(`${url}?wait=20`, "GET", { headers: known })
    etag = answer.headers.get("etag") ?? ""
    const text = await answer.text()
    if (answer.status === 200 && get(JSON.parse(text), "finished_at") !== null) return
  }
}

const validate = async (baseUrl: string, apiKey: string, book: Uint8Array<ArrayBuffer>) => {
  const headers = { authorization: `Token ${await tokenFor(baseUrl, apiKey)}` }
  const post = (path: string, payload: unknown) =>
    ask(`${baseUrl}${root}${path}`, "POST", {
      body: JSON.stringify({ payload }),
      headers: { ...headers, ...jsonType }
    })
  const created = await post("", { import_supplier: supplier, operation: "VALIDATE" })
  const path = `${String(get(await created.json(), "batch_id"))}/`
  const url = `${baseUrl}${root}${path}`
  const type = { "content-type": "application/x-ndjson" }
  const sent = await ask(`${url}lines/`, "PUT", { body: book, headers: { ...headers, ...type } })
  await post(`${path}start/`, { total_lines: get(await sent.json(), "lines_received") })
  await follow(url, headers)
  return (await ask(`${url}results/?outcome=FAILED`, "GET", { headers })).text()
}

/** A server that is up for as long as the scope. */
export const startServer = Effect.gen(function* () {
  const { baseUrl, dataDir } = yield* LocalRun.start()
  const { apiKey } = yield* decode(readFileSync(join(dataDir, "demo.json"), "utf8"))
  yield* setUp(dataDir)
  const server: Server = {
    supplier,
    configuration: JSON.stringify({ import_supplier: supplier, time_zone: timeZone, choices }),
    failedResults: (book) => Effect.promise(() => validate(baseUrl, apiKey, book))
  }
  return server
})
