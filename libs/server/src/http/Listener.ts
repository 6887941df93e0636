/**
 * Node's HTTP server as the services use it: its timeouts, the refusal of malformed request heads,
 * and answers in the contract's envelope even to what Node refuses before there is a request.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { isIPv6, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Context } from "effect"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type { HttpServerRequest } from "effect/http"
import { headerBytes } from "@data-import/api/Limits"
import { HeadersTooLarge, RequestTimeout } from "@data-import/api/Refusal"
import { errorResponseOf } from "@data-import/api/ErrorResponse"
import { NotJson } from "@data-import/domain/schema/Json"
import * as RequestId from "./RequestId.ts"

/**
 * A connection may idle longer here than in a client's pool. So the client closes it first, and
 * sends no request on a connection that is being closed.
 */
const times = {
  keepAliveTimeout: 65_000,
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000
}

/** Timeouts for clients. Milliseconds. */
export interface ClientTimes {
  /** From one byte of a body to the next. */
  readonly bodyStall: number
  /** For a whole body. */
  readonly body: number
  /**
   * Without any transfer while a request is open. It is longer than any answer takes to begin, and
   * ends connections whose clients do not read their answers.
   */
  readonly idle: number
}

export const ClientTimes = Context.Reference<ClientTimes>("@data-import/server/ClientTimes", {
  defaultValue: () => ({ bodyStall: 10_000, body: 60_000, idle: 60_000 })
})

const malformed = new NotJson({ detail: "The request is no well-formed HTTP." })
/** Node's parser says the same of an unknown method and of bytes that are no HTTP at all. */
const unknownMethod = new NotJson({
  detail: "The request is no well-formed HTTP, or its method is unknown."
})
const badHost = new NotJson({ detail: "The Host header names no host." })
const noBodyDefined = new NotJson({ detail: "A request of this method has no body." })

const hostsIn = (rawHeaders: ReadonlyArray<string>): number => {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1
  }
  return hosts
}

/** A registered name or an address of IPv4, or one of IPv6 in brackets; then a port. */
const authority = /^(?:[\w.~!$&'()*+,;=%-]+|\[([^\]]*)\])(?::\d{0,5})?$/

/** Source: RFC 3986, 3.2; an empty Host says that there is no authority (RFC 9110, 7.2). */
const isHost = (host: string): boolean => {
  if (host === "") return true
  const found = authority.exec(host)
  return found !== null && (found[1] === undefined || isIPv6(found[1]))
}

/** The methods whose requests have a body (RFC 9110, 9.3; RFC 5789). */
const withBody: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"])

/** Whether the head announces a body of at least one byte. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) !== 0

/**
 * Refuses what RFC 9112 forbids but Node accepts, and what is only sent so that the next server
 * reads it differently.
 * Source: docs/contract/http.md#http-messages.
 */
export const refusalOfHead = (message: IncomingMessage): NotJson | undefined => {
  const { headers, httpVersion, method = "", rawHeaders } = message
  const encoding = headers["transfer-encoding"]
  const isHttp1 = httpVersion === "1.1" || httpVersion === "1.0"
  if (!isHttp1 || !mayFollow(message.socket)) return malformed
  const hosts = hostsIn(rawHeaders)
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) return malformed
  if (headers.host !== undefined && !isHost(headers.host)) return badHost
  if (encoding !== undefined && (encoding.toLowerCase() !== "chunked" || httpVersion === "1.0")) {
    return malformed
  }
  return hasBody(message) && !withBody.has(method) ? noBodyDefined : undefined
}

/** Connections that close after the pending answer. Nothing more on them is a request. */
const ending = new WeakSet<Socket>()

const mayFollow = (socket: Socket): boolean => !ending.has(socket)

/** Closes the connection after this answer. Further bytes on it are ignored. */
export const endAfter = (message: IncomingMessage, response: ServerResponse): void => {
  ending.add(message.socket)
  if (!response.headersSent) response.shouldKeepAlive = false
}

/** A pending response, and what to call when it ends. */
interface Pending {
  readonly response: ServerResponse
  readonly end: () => void
}

/** In the order of the requests. */
type Unanswered = Array<Pending>

const unanswered = new WeakMap<Duplex, Unanswered>()

const unansweredOn = (socket: Socket): Unanswered => {
  const known = unanswered.get(socket)
  if (known !== undefined) return known
  const open: Unanswered = []
  unanswered.set(socket, open)
  socket.once("close", () => [...open].forEach(({ end }) => end()))
  return open
}

interface Latest {
  readonly message: IncomingMessage
  readonly response: ServerResponse
}

/** The latest request of each connection. */
const latest = new WeakMap<Duplex, Latest>()

/** Whether the bytes that arrive now belong to a request that was already answered. */
const isAnswered = (socket: Duplex): boolean => {
  const last = latest.get(socket)
  return last !== undefined && !last.message.complete && last.response.headersSent
}

/** Requests whose bodies may arrive for as long as they want. */
const unlimited = new WeakSet<IncomingMessage>()

/** Lifts the time limit of the whole request. The idle timeout stays. */
export const withoutTimeLimit = (message: IncomingMessage): void => void unlimited.add(message)

/**
 * Begins the idle timeout again, when the service behind has told by 102 that it still works. That
 * is not passed on, because some clients would take it for the answer.
 */
export const stillActive = ({ socket }: ServerResponse): void => {
  if (socket?.timeout !== undefined) socket.setTimeout(socket.timeout)
}

/** Whether a body without a time limit is arriving. */
const mayContinue = (socket: Duplex): boolean => {
  const message = latest.get(socket)?.message
  return message !== undefined && !message.complete && unlimited.has(message)
}

/** The bytes of a connection that the operating system has accepted. */
const sentOn = ({ bytesWritten, writableLength }: Socket): number => bytesWritten - writableLength

/** The bytes that each connection had sent when its last answer was complete. */
const sentBefore = new WeakMap<Socket, number>()

/** The listener runs before that of Node, which starts the next answer. */
const watchSent = (socket: Socket, response: ServerResponse): void => {
  response.prependOnceListener("finish", () => sentBefore.set(socket, sentOn(socket)))
}

/** The bytes of this answer that were sent; 0 while it waits for an earlier answer. */
export const sentOf = ({ socket }: ServerResponse): number =>
  socket === null ? 0 : sentOn(socket) - (sentBefore.get(socket) ?? 0)

/**
 * Calls `ended` once, when the answer was sent or never will be. A response that waits for earlier
 * answers emits no event when its connection closes, so connections are watched as well.
 */
export const onEnd = (
  message: IncomingMessage,
  response: ServerResponse,
  ended: () => void
): void => {
  if (latest.get(message.socket)?.response !== response) watchSent(message.socket, response)
  latest.set(message.socket, { message, response })
  const open = unansweredOn(message.socket)
  const end = () => {
    const at = open.indexOf(pending)
    if (at === -1) return
    open.splice(at, 1)
    ended()
  }
  const pending: Pending = { response, end }
  open.push(pending)
  response.once("close", end)
}

const refusalOf = (code: string | undefined) => {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new RequestTimeout()
  if (code === "HPE_HEADER_OVERFLOW") return new HeadersTooLarge()
  if (code === "HPE_INVALID_METHOD") return unknownMethod
  return malformed
}

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  431: "Request Header Fields Too Large"
}

const refuseNow = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (isAnswered(socket)) return void socket.end()
  const { body, status } = errorResponseOf(refusalOf(error.code))
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${reasons[status]}`,
    "Content-Type: application/json",
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    `X-Request-Id: ${RequestId.of(undefined)}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Connection: close"
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${text}`)
}

/** The last pending answer to a complete request. */
const lastAwaited = (socket: Duplex): ServerResponse | undefined =>
  unanswered
    .get(socket)
    ?.map(({ response }) => response)
    .findLast(
      ({ destroyed, req, writableFinished }) => req.complete && !writableFinished && !destroyed
    )

/**
 * Answers bytes that are not a request. Earlier requests still get their answers, because they may
 * have had an effect. The last of these answers closes the connection.
 */
const refuse = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && mayContinue(socket)) return
  const awaited = lastAwaited(socket)
  if (awaited === undefined) return refuseNow(error, socket)
  if (!awaited.headersSent) awaited.shouldKeepAlive = false
  awaited.once("close", () => socket.end())
}

/** Node removes its own error listener from a connection that requests a tunnel. */
const refuseTunnel = (_request: IncomingMessage, socket: Duplex): void => {
  socket.on("error", () => socket.destroy())
  refuse(new Error("no tunnel"), socket)
}

/**
 * The most requests of one connection that may wait for their answers. Clients rarely pipeline, and
 * Node parses thousands of short requests from one packet without a pause for other connections.
 */
const mostPipelined = 16

/**
 * Reads nothing more from a connection. Node would go on after every message that it has parsed.
 */
const stopReading = (socket: Socket): void => {
  socket.pause()
  Object.assign(socket, { resume: () => socket })
}

/**
 * Whether this request exceeds the limit of pipelined requests. It is dropped, and the connection
 * closes after the last pending answer.
 */
const isExcess = ({ socket }: IncomingMessage): boolean => {
  const pending = unanswered.get(socket)
  if (pending === undefined || pending.length < mostPipelined) return false
  // A response may have several callbacks.
  if (new Set(pending.map(({ response }) => response)).size < mostPipelined) return false
  if (mayFollow(socket)) {
    ending.add(socket)
    stopReading(socket)
    const awaited = lastAwaited(socket)
    if (awaited === undefined) socket.destroy()
    else {
      if (!awaited.headersSent) awaited.shouldKeepAlive = false
      awaited.once("close", () => socket.destroySoon())
    }
  }
  return true
}

/** Overrides `emit`, because Node has no other hook before a request is handled. */
const dropExcess = (server: Server): void => {
  const emit: (event: string, ...values: ReadonlyArray<unknown>) => boolean =
    server.emit.bind(server)
  Object.assign(server, {
    emit: (event: string, ...values: ReadonlyArray<unknown>): boolean =>
      (event === "request" && isExcess(values[0] as IncomingMessage)) || emit(event, ...values)
  })
}

/**
 * Makes a server that does not listen yet. An unknown expectation and an Upgrade are ignored, as
 * RFC 9110 allows. A tunnel is refused, because Node makes no request of it. A connection with more
 * than 16 pending requests gets the answers to these and is closed. If `allowHalfOpen`, a client
 * that closes its sending side still gets its answer. Otherwise the connection is closed.
 */
export const make = ({ idle }: ClientTimes, allowHalfOpen: boolean): Server => {
  const server = createServer({
    ...times,
    requireHostHeader: false,
    maxHeaderSize: headerBytes,
    shouldUpgradeCallback: () => false
  })
  server.setTimeout(idle)
  // Node documents this property for `net` only.
  Object.assign(server, { httpAllowHalfOpen: allowHalfOpen })
  server.on("clientError", refuse)
  server.on("connect", refuseTunnel)
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  dropExcess(server)
  return server
}

/** Node's object for a request of this server. */
export const message = (request: HttpServerRequest.HttpServerRequest): IncomingMessage =>
  NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage

/** Node's object for the answer to a request of this server. */
export const response = (request: HttpServerRequest.HttpServerRequest): ServerResponse =>
  NodeHttpServerRequest.toServerResponse(request) as ServerResponse
