/**
 * Node's HTTP server as the services use it: its time limits, and answers in the contract's
 * envelope even to what Node refuses before there is a request, a header block that never ends or
 * is no HTTP.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import { NodeHttpServerRequest } from "@effect/platform-node"
import type { HttpServerRequest } from "effect/http"
import { PayloadTooLarge, RequestTimeout } from "@data-import/api/Refusal"
import { problemOf } from "@data-import/api/Problem"
import { NotJson } from "@data-import/domain/Json"
import * as RequestId from "./RequestId.ts"

/**
 * A connection idles longer here than in a client's pool, so that it is the client who ends it, and
 * no request is sent into a closing one.
 */
const times = {
  keepAliveTimeout: 65_000,
  headersTimeout: 15_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 2_000
}

const malformed = new NotJson({ detail: "The request is no well-formed HTTP." })

const hostsIn = (rawHeaders: ReadonlyArray<string>): number => {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === "host") hosts += 1
  }
  return hosts
}

/** What RFC 9112 wants refused and Node would not: HTTP/1.1 without a Host, or several of them. */
export const refusalOfHead = ({
  httpVersion,
  rawHeaders
}: IncomingMessage): NotJson | undefined => {
  const hosts = hostsIn(rawHeaders)
  return hosts > 1 || (hosts === 0 && httpVersion === "1.1") ? malformed : undefined
}

const refusalOf = (code: string | undefined) => {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new RequestTimeout()
  if (code === "HPE_HEADER_OVERFLOW") return new PayloadTooLarge()
  return malformed
}

const reasons: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Payload Too Large"
}

const refuse = (error: NodeJS.ErrnoException, socket: Duplex): void => {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy()
  const { body, status } = problemOf(refusalOf(error.code))
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

/**
 * A server that does not listen yet. An unknown expectation is ignored, as RFC 9110 allows; a
 * tunnel, for which Node has no request, is refused.
 */
export const make = (): Server => {
  const server = createServer({ ...times, requireHostHeader: false })
  server.on("clientError", refuse)
  server.on("connect", (_request, socket) => refuse(new Error("no tunnel"), socket))
  server.on("checkExpectation", (request, response) => server.emit("request", request, response))
  return server
}

/** Node's side of a request that came in here: it speaks HTTP/1.1. */
export const message = (request: HttpServerRequest.HttpServerRequest): IncomingMessage =>
  NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage

/** Node's side of the answer to a request that came in here. */
export const response = (request: HttpServerRequest.HttpServerRequest): ServerResponse =>
  NodeHttpServerRequest.toServerResponse(request) as ServerResponse
