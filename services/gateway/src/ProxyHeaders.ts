/**
 * The headers of a request and its answer as a proxy forwards them. Hop-by-hop fields are left out,
 * and the proxy writes the fields that it knows itself. The framing of a message is never copied:
 * the client library writes it from the body that it sends.
 */
import type { IncomingMessage } from "node:http"
import type { IncomingRequest } from "@data-import/server/http/IncomingRequest"
import * as RequestId from "@data-import/server/http/RequestId"

/** Hop-by-hop (RFC 9110, 7.6.1), or written by the proxy. */
const hopByHop: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "forwarded",
  "x-forwarded-for",
  RequestId.header
])

/** Written by the proxy or its client library, even if the Connection header names them. */
const ownFields: ReadonlySet<string> = new Set(["content-length", "host"])

const namedByConnection = (header: string | undefined): ReadonlySet<string> | undefined => {
  if (header === undefined || /^(?:keep-alive|close)$/i.test(header)) return undefined
  return new Set(header.split(",").map((name) => name.trim().toLowerCase()))
}

/** The headers of the request as a flat list. Those of `trace` replace the caller's. */
export const requestHeaders = (
  message: IncomingMessage,
  { clientAddress, requestId }: IncomingRequest,
  trace: Readonly<Record<string, string>> | undefined
): Array<string> => {
  const raw = message.rawHeaders
  const named = namedByConnection(message.headers.connection)
  const headers = ["x-forwarded-for", clientAddress, RequestId.header, requestId]
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string
    const lower = name.toLowerCase()
    if (lower === "content-length" || hopByHop.has(lower)) continue
    if (named?.has(lower) && !ownFields.has(lower)) continue
    if (trace !== undefined && lower in trace) continue
    headers.push(name, raw[index + 1] as string)
  }
  for (const name in trace) headers.push(name, trace[name] as string)
  return headers
}

/** Received headers, with names in lower case. */
export type ResponseHeaders = Record<string, string | Array<string> | undefined>

/** The headers of the answer, for Node. */
export const responseHeaders = (
  received: ResponseHeaders,
  requestId: string
): Record<string, string | Array<string>> => {
  const { connection } = received
  const named = namedByConnection(typeof connection === "string" ? connection : undefined)
  const headers: Record<string, string | Array<string>> = {}
  for (const name in received) {
    const value = received[name]
    if (value === undefined || hopByHop.has(name)) continue
    if (named?.has(name) && !ownFields.has(name)) continue
    headers[name] = value
  }
  headers[RequestId.header] = requestId
  return headers
}
