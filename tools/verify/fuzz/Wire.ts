/**
 * Sends requests as bytes, each on a new connection, and reads the answers. Clients of libraries
 * would refuse to send most of them.
 */
import { connect, type Socket } from "node:net"
import { attacksHiding, partsOf as partsOfAttack } from "@data-import/server/testing/FramingAttacks"
import { answersIn, Connection, type Received } from "@data-import/server/testing/RawClient"
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

/** The parts of a request whose framing is attacked. */
const smuggledParts = (
  request: Request,
  { attack, request: hidden }: NonNullable<Request["smuggled"]>,
  target: Target
): ReadonlyArray<Buffer> => {
  const attacks = attacksHiding(bytesOf(hidden, target).toString("latin1"))
  const found = attacks.find(({ name }) => name === attack)
  if (found === undefined) throw new Error(`There is no attack on the framing like ${attack}`)
  const lines = headersOf(request, target).filter(([name]) => name !== "host")
  return partsOfAttack(
    found,
    request.method,
    request.path,
    lines.map(([name, value]) => `${name}: ${value}`)
  )
}

/** The request on the wire: the head, the empty line and the body. */
const partsOf = (request: Request, target: Target): ReadonlyArray<Buffer> => {
  const { method, path, raw, smuggled } = request
  if (raw !== undefined) return [latin1(raw)]
  if (smuggled !== undefined) return smuggledParts(request, smuggled, target)
  const lines = headersOf(request, target).map(([name, value]) => `${name}: ${value}\r\n`)
  return [
    latin1(`${method} ${path} HTTP/1.1\r\n${lines.join("")}`),
    latin1("\r\n"),
    Buffer.concat(bodyParts(request))
  ]
}

const bytesOf = (request: Request, target: Target): Buffer =>
  Buffer.concat(partsOf(request, target))

const open = (port: number, localAddress: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true })
    socket.once("connect", () => resolve(socket))
    socket.once("error", reject)
  })

/** There was no answer in time, or the connection ended first. */
export class NoAnswer extends Error {}

const inTime = async <A>(answer: Promise<A>, seconds: number): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const say = () => reject(new NoAnswer(`no answer within ${seconds} seconds`))
    // Data that arrived while this process was busy is read first.
    timer = setTimeout(() => setImmediate(() => setImmediate(say)), seconds * 1_000)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The final answer, after those of the 1xx kind. */
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

/** The body as JSON, or the value of every line if the answer is NDJSON. */
const valueOf = ({ body, headers }: Received): unknown =>
  headers["content-type"] === "application/x-ndjson"
    ? body.split("\n").slice(0, -1).map(parsed)
    : parsed(body)

/** The id of the request that is sent after another one on its connection. */
export const nextRequestId = "the-next-request"

const nextRequest: Request = {
  method: "GET",
  path: "/v1/data-import/limits/",
  headers: [["x-request-id", nextRequestId]],
  who: "demo"
}

export const isToNextRequest = ({ headers }: Received): boolean =>
  headers["x-request-id"] === nextRequestId

/** Whether the next request on the connection gets its own answer, or what came instead. */
const followUp = async (
  connection: Connection,
  target: Target,
  first: Received
): Promise<string | null> => {
  if (first.headers["connection"] === "close") return null
  connection.send(bytesOf(nextRequest, target))
  const next = await received(connection, false)
  const isItsOwn = [200, 503].includes(next.status) && isToNextRequest(next)
  return isItsOwn ? null : `the next request on the connection got ${next.status} ${next.body}`
}

export interface Sending {
  /** The answer must come within this many seconds. */
  readonly seconds: number
  /** The address that the request comes from, one of this machine. */
  readonly from: string
  /** Whether another request is sent after it on the same connection. */
  readonly probe: boolean
}

export interface Exchange {
  /** As many as there are answers. */
  readonly replies: ReadonlyArray<Reply>
  /** What is wrong with the connection after the answer. */
  readonly after: string | null
}

/** Returns when another client has its answer. By then the server has read what came before. */
const settled = async ({ port }: Target, from: string): Promise<void> => {
  const connection = new Connection(await open(port, from))
  try {
    connection.send("GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n")
    await received(connection, false)
  } finally {
    connection.drop()
  }
}

const send = async (
  connection: Connection,
  target: Target,
  request: Request,
  from: string
): Promise<void> => {
  if (request.split !== true) return connection.send(bytesOf(request, target))
  for (const part of partsOf(request, target)) {
    connection.send(part)
    await settled(target, from)
  }
}

/** The answers in everything that arrived until the connection ended. */
const answersOf = (bytes: Buffer, { method }: Request): ReadonlyArray<Received> => {
  const { answers, left } = answersIn(bytes, method === "HEAD")
  const final = answers.filter(({ status }) => status >= 200)
  if (final.length === 0 || left.length > 0) {
    throw new Error(`the connection ended with: ${JSON.stringify(left.toString("latin1"))}`)
  }
  return final
}

/** Reads until the connection ends, this many bytes in each iteration of the event loop. */
const readBy = (socket: Socket, size: number): Promise<Buffer> =>
  new Promise((resolve) => {
    const chunks: Array<Buffer> = []
    let isReading = false
    const read = () => {
      const chunk = socket.read(Math.min(size, socket.readableLength)) as Buffer | null
      isReading = chunk !== null
      if (chunk === null) return
      chunks.push(chunk)
      setImmediate(read)
    }
    socket.on("readable", () => {
      if (!isReading) read()
    })
    socket.once("close", () => resolve(Buffer.concat(chunks)))
  })

interface Conversation {
  /** One answer, unless the bytes may contain several requests. */
  readonly answers: ReadonlyArray<Received>
  /** Null if nothing more can be sent. */
  readonly connection: Connection | null
}

const converse = async (
  socket: Socket,
  target: Target,
  request: Request,
  from: string
): Promise<Conversation> => {
  const { bytesPerRead, halfClosed, method, smuggled } = request
  if (bytesPerRead !== undefined) {
    socket.write(bytesOf(request, target))
    await settled(target, from)
    return { answers: answersOf(await readBy(socket, bytesPerRead), request), connection: null }
  }
  const connection = new Connection(socket)
  await send(connection, target, request, from)
  if (smuggled !== undefined) connection.send(bytesOf(nextRequest, target))
  else if (halfClosed !== true) {
    return { answers: [await received(connection, method === "HEAD")], connection }
  }
  connection.end()
  const bytes = Buffer.from(await connection.rest(), "latin1")
  return { answers: answersOf(bytes, request), connection: null }
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
  const socket = await open(target.port, from)
  try {
    const { answers, connection } = await inTime(
      converse(socket, target, request, from).catch((error: unknown) => {
        throw new NoAnswer(error instanceof Error ? error.message : String(error))
      }),
      seconds
    )
    const last = answers.at(-1)
    const after =
      probe && last !== undefined && connection !== null
        ? await inTime(followUp(connection, target, last), seconds)
        : null
    const replies = answers.map((answer) => ({ ...answer, value: valueOf(answer) }))
    return { replies, after }
  } finally {
    socket.destroy()
  }
}
