/**
 * Sends requests to a running service and holds every answer to the contract. A path and a body go
 * out as they are given, without the tidying that `fetch` does to both, so that odd ones arrive.
 */
import { Agent, type IncomingMessage, request as open } from "node:http"
import { Effect } from "effect"
import { type Answered, complaints } from "./ResponseCheck.ts"
import { recordCoverage } from "./ContractCoverage.ts"

export interface Request {
  /** GET without a body, POST with one, unless given. */
  readonly method?: string
  /** Percent-encoded already. */
  readonly path: string
  /** Names in lower case. With `transfer-encoding: chunked` the body has no announced length. */
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface Reply extends Answered {
  /** The body as JSON; undefined where there is none, for NDJSON and JOSE. */
  readonly json: unknown
}

/** Kept open between requests, and never the reason for a request to wait. */
const agent = new Agent({ keepAlive: true, maxSockets: Infinity })

const headersOf = (message: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, [value].flat().join(", ")])
  )

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

interface Outgoing extends Required<Omit<Request, "body">> {
  readonly body: string | Uint8Array | undefined
}

/** Settles with the answer, also where the service gives it before it has taken the whole body. */
const exchange = (url: string, { body, headers, method, path }: Outgoing) =>
  new Promise<Answered>((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const isChunked = headers["transfer-encoding"] !== undefined
    // Node announces the length of some methods' bodies only.
    const announced =
      isChunked || body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
    const options = { agent, hostname, port, method, path, headers: { ...announced, ...headers } }
    const outgoing = open(options, (message) => {
      const chunks: Array<Buffer> = []
      message.on("data", (chunk: Buffer) => chunks.push(chunk))
      message.once("error", reject)
      message.once("end", () => {
        try {
          const text = utf8.decode(Buffer.concat(chunks))
          resolve({ status: message.statusCode ?? 0, headers: headersOf(message), text })
        } catch (cause) {
          reject(new Error("The answer is not UTF-8", { cause }))
        }
      })
    })
    outgoing.on("error", reject)
    if (isChunked) outgoing.write(body)
    outgoing.end(isChunked ? undefined : body)
  })

const described = (method: string, path: string, { headers, status, text }: Answered): string =>
  `${method} ${path} → ${status} ${JSON.stringify(headers)}\n${text.slice(0, 2_000)}`

/**
 * One request to the service at `url`, and its answer. An answer that breaks the contract fails the
 * test, and the message says in what.
 */
export const send = (url: string, request: Request): Effect.Effect<Reply> =>
  Effect.promise(async () => {
    const { body, headers = {}, path } = request
    const method = request.method ?? (body === undefined ? "GET" : "POST")
    const answered = await exchange(url, { body, headers, method, path })
    const wrong = complaints({ method, path, headers }, answered)
    if (wrong.length > 0) {
      throw new Error(`${wrong.join("; ")}\n${described(method, path, answered)}`)
    }
    recordCoverage({ method, path }, answered)
    const type = answered.headers["content-type"] ?? ""
    const isJson = answered.text !== "" && !/ndjson|jose/.test(type)
    const json = !isJson ? undefined : (JSON.parse(answered.text) as unknown)
    return { ...answered, json }
  })
