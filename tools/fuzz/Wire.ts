/**
 * Requests as bytes on a connection of their own, and what comes back: in time or not at all. No
 * library's client would send most of them.
 */
import { connect } from "node:net"
import { Connection, type Received } from "@data-import/server/testing/RawClient"
import type { Reply, Request, Who } from "./Case.ts"

/** Where requests go, and with whose tokens. */
export interface Target {
  readonly port: number
  readonly tokenOf: (who: Who) => string | null
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1")

/** The headers as they are sent. */
export const headersOf = (request: Request, { port, tokenOf }: Target): Request["headers"] => {
  const { body, framing = "length", headers, who } = request
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  const token = tokenOf(who)
  const own: Request["headers"] = [
    ["host", `127.0.0.1:${port}`],
    ...(token === null ? [] : [["authorization", `Token ${token}`] as const]),
    ...(typeof framing === "object" ? [["transfer-encoding", "chunked"] as const] : []),
    ...(body === undefined || typeof framing === "object" || given.has("transfer-encoding")
      ? []
      : [["content-length", String(Buffer.byteLength(body))] as const])
  ]
  return [...own.filter(([name]) => !given.has(name)), ...headers]
}

const chunked = (body: Buffer, size: number): ReadonlyArray<Buffer> => {
  const parts: Array<Buffer> = []
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size)
    parts.push(latin1(`${part.length.toString(16)}\r\n`), part, latin1("\r\n"))
  }
  return [...parts, latin1("0\r\n\r\n")]
}

const bodyParts = ({ body, framing = "length" }: Request): ReadonlyArray<Buffer> => {
  if (body === undefined || framing === "announced") return []
  const bytes = Buffer.from(body as string)
  if (framing === "stalled") return [bytes.subarray(0, -1)]
  return framing === "length" ? [bytes] : chunked(bytes, framing.chunk)
}

/** The request as it goes onto the wire. */
export const bytesOf = (request: Request, target: Target): Buffer => {
  if (request.raw !== undefined) return latin1(request.raw)
  const lines = headersOf(request, target).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${request.method} ${request.path} HTTP/1.1\r\n${lines.join("")}\r\n`
  return Buffer.concat([latin1(head), ...bodyParts(request)])
}

const open = (port: number, localAddress: string): Promise<Connection> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true })
    socket.once("connect", () => resolve(new Connection(socket)))
    socket.once("error", reject)
  })

/** Nobody answered in time, or the connection ended first. */
export class NoAnswer extends Error {}

const inTime = async <A>(answer: Promise<A>, seconds: number): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const say = () => reject(new NoAnswer(`no answer within ${seconds} seconds`))
    // What came while this process was busy with something else is looked at first.
    timer = setTimeout(() => setImmediate(() => setImmediate(say)), seconds * 1_000)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The answer after those that only say that there will be one. */
const received = async (connection: Connection, toHead: boolean): Promise<Received> => {
  for (;;) {
    const answer = await connection.receive({ toHead })
    if (answer.status >= 200) return answer
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const probeOf = (id: string): Request => ({
  method: "GET",
  path: "/v1/data-import/limits/",
  headers: [["x-request-id", id]],
  who: "demo"
})

/** Whether the next request on the connection gets its own answer, or what came instead. */
const followUp = async (
  connection: Connection,
  target: Target,
  first: Received
): Promise<string | null> => {
  if (first.headers["connection"] === "close") return null
  const id = "the-next-request"
  connection.send(bytesOf(probeOf(id), target))
  const next = await received(connection, false)
  const isItsOwn = [200, 503].includes(next.status) && next.headers["x-request-id"] === id
  return isItsOwn ? null : `the next request on the connection got ${next.status} ${next.body}`
}

export interface Sending {
  /** Within so many seconds there must be an answer. */
  readonly seconds: number
  /** The address that the request comes from, one of this machine. */
  readonly from: string
  /** Whether another request goes after it on the same connection. */
  readonly probe: boolean
}

export interface Exchange {
  readonly reply: Reply
  readonly milliseconds: number
  /** What is wrong with the connection after the answer. */
  readonly after: string | null
}

/**
 * Sends one request.
 * @throws NoAnswer when none comes in time.
 */
export const exchange = async (
  target: Target,
  request: Request,
  { from, probe, seconds }: Sending
): Promise<Exchange> => {
  const connection = await open(target.port, from)
  const begun = performance.now()
  try {
    connection.send(bytesOf(request, target))
    const answer = received(connection, request.method === "HEAD")
    const first = await inTime(
      answer.catch((error: unknown) => {
        throw new NoAnswer(error instanceof Error ? error.message : String(error))
      }),
      seconds
    )
    const milliseconds = performance.now() - begun
    const after = probe ? await inTime(followUp(connection, target, first), seconds) : null
    return { reply: { ...first, value: parsed(first.body) }, milliseconds, after }
  } finally {
    connection.drop()
  }
}
