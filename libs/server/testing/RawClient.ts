/**
 * A client that sends exactly the bytes that a test gives it, even if malformed or late, and reads
 * answers one after the other from a kept connection. Clients of libraries do neither.
 */
import { connect, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

/** An answer as it came; header names in lower case. */
export interface Received {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly json: () => unknown
}

interface Parsed {
  readonly received: Received
  readonly length: number
}

const dechunked = (
  bytes: Buffer
): { readonly body: Buffer; readonly length: number } | undefined => {
  const parts: Array<Buffer> = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16)
    const next = lineEnd + 2 + size + 2
    if (bytes.length < next) return undefined
    if (size === 0) return { body: Buffer.concat(parts), length: next }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = next
  }
}

const bodyOf = (
  rest: Buffer,
  headers: Readonly<Record<string, string>>,
  withoutBody: boolean
): { readonly body: Buffer; readonly length: number } | undefined => {
  if (withoutBody) return { body: Buffer.alloc(0), length: 0 }
  if (headers["transfer-encoding"] === "chunked") return dechunked(rest)
  const length = Number(headers["content-length"] ?? 0)
  return rest.length < length ? undefined : { body: rest.subarray(0, length), length }
}

/** The first whole answer in these bytes; answers of the 1xx kind are answers as well. */
const parse = (bytes: Buffer, toHead: boolean): Parsed | undefined => {
  const headEnd = bytes.indexOf("\r\n\r\n")
  if (headEnd === -1) return undefined
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n")
  const status = Number(statusLine.split(" ")[1])
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":")
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    })
  )
  const withoutBody = toHead || status < 200 || status === 204 || status === 304
  const rest = bodyOf(bytes.subarray(headEnd + 4), headers, withoutBody)
  if (rest === undefined) return undefined
  const body = rest.body.toString("utf8")
  return {
    received: { status, headers, body, json: () => JSON.parse(body) as unknown },
    length: headEnd + 4 + rest.length
  }
}

/**
 * Every whole answer in these bytes, one after the other, and the bytes after them. `toHead` says
 * that the first of them answers a HEAD; an answer to bytes that are not a request has a body all
 * the same.
 */
export const answersIn = (
  bytes: Buffer,
  toHead: boolean
): { readonly answers: ReadonlyArray<Received>; readonly left: Buffer } => {
  const answers: Array<Received> = []
  let left = bytes
  for (;;) {
    const isToHead = toHead && answers.every(({ status }) => status < 200)
    const withoutBody = isToHead ? parse(left, true) : undefined
    const after = left.subarray(withoutBody?.length ?? 0)
    const isEnd = after.length === 0 || after.toString("latin1", 0, 5) === "HTTP/"
    const parsed = withoutBody !== undefined && isEnd ? withoutBody : parse(left, false)
    if (parsed === undefined) return { answers, left }
    answers.push(parsed.received)
    left = left.subarray(parsed.length)
  }
}

/** One connection. */
export class Connection {
  readonly #socket: Socket
  #bytes = Buffer.alloc(0)
  #closed = false
  #changed: () => void = () => {}
  /** The bytes of `pour` that the operating system has accepted. */
  poured = 0

  constructor(socket: Socket) {
    this.#socket = socket
    socket.on("data", (chunk) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk])
      this.#changed()
    })
    // A reset counts as an ordinary end; bytes that arrived before it are kept.
    socket.on("error", () => {})
    socket.on("end", () => socket.end())
    socket.on("close", () => {
      this.#closed = true
      this.#changed()
    })
  }

  send(...parts: ReadonlyArray<string | Uint8Array>): void {
    for (const part of parts) this.#socket.write(part)
  }

  /**
   * Sends this part `times` times, each once the operating system has accepted the previous one.
   */
  pour(part: Uint8Array, times: number): void {
    if (times === 0) return
    this.#socket.write(part, (error) => {
      if (error) return
      this.poured += part.length
      this.pour(part, times - 1)
    })
  }

  /** Waits until `pour` makes no progress, because the other side reads nothing more. */
  async stuck(): Promise<number> {
    for (let before = -1; before < this.poured || before === 0;) {
      before = this.poured
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    return this.poured
  }

  /** The next answer; rejects when the connection ends without one. */
  async receive(options: { readonly toHead?: boolean } = {}): Promise<Received> {
    for (;;) {
      const parsed = parse(this.#bytes, options.toHead ?? false)
      if (parsed !== undefined) {
        this.#bytes = this.#bytes.subarray(parsed.length)
        return parsed.received
      }
      if (this.#closed) {
        throw new Error(`the connection ended with: ${JSON.stringify(this.#bytes.toString())}`)
      }
      await this.#change()
    }
  }

  /** Waits until this text has arrived, as a part of an answer. */
  async until(text: string): Promise<void> {
    while (!this.#bytes.includes(text)) {
      if (this.#closed) throw new Error(`the connection ended before ${JSON.stringify(text)}`)
      await this.#change()
    }
  }

  /** Whatever arrives until the other side ends the connection. */
  async rest(): Promise<string> {
    while (!this.#closed) await this.#change()
    return this.#bytes.toString("latin1")
  }

  /** Reads nothing from now on. */
  pause(): void {
    this.#socket.pause()
  }

  /** Sends nothing more, and goes on reading. */
  end(): void {
    this.#socket.end()
  }

  /** Closes both directions, like a client that gives up. */
  drop(): void {
    this.#socket.destroy()
  }

  /** Resets the connection, like a client whose machine has forgotten it. */
  reset(): void {
    this.#socket.resetAndDestroy()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve
    })
  }
}

/** A connection to 127.0.0.1 that ends with the scope. */
export const open = (
  port: number,
  localAddress = "127.0.0.1"
): Effect.Effect<Connection, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<Connection>((resolve, reject) => {
          const socket = connect({
            port,
            host: "127.0.0.1",
            localAddress,
            noDelay: true,
            allowHalfOpen: true
          })
          socket.once("connect", () => resolve(new Connection(socket)))
          socket.once("error", reject)
        })
    ),
    (connection) => Effect.sync(() => connection.drop())
  )

export interface Sent {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

/** The bytes of a request; a body gets its Content-Length unless the headers say otherwise. */
export const bytesOf = ({ body, headers = {}, method = "GET", path }: Sent): Buffer => {
  const all = {
    host: "data-import.test",
    ...(body !== undefined &&
      headers["transfer-encoding"] === undefined && {
        "content-length": String(Buffer.byteLength(body))
      }),
    ...headers
  }
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join("")}\r\n`, "latin1"),
    Buffer.from(body ?? "")
  ])
}

/** One request and its answer on a new connection. */
export const request = (port: number, sent: Sent): Effect.Effect<Received> =>
  Effect.scoped(
    Effect.flatMap(open(port), (connection) => {
      connection.send(bytesOf(sent))
      return Effect.promise(() => connection.receive({ toHead: sent.method === "HEAD" }))
    })
  )
