/**
 * What changes in the headers of a request and its answer on their way through: what is meant for
 * one hop only stays behind, and what this hop knows for sure is written by it.
 */
import type { IncomingMessage } from "node:http"
import type { Arrival } from "./Dispatch.ts"
import * as RequestId from "./RequestId.ts"

/** Meant for the next hop only (RFC 9110, 7.6.1), or written anew here. */
const dropped: ReadonlySet<string> = new Set([
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

const namedByConnection = (header: string | undefined): ReadonlySet<string> | undefined => {
  if (header === undefined || /^(?:keep-alive|close)$/i.test(header)) return undefined
  return new Set(header.split(",").map((name) => name.trim().toLowerCase()))
}

/** A GET is sent on without a body: none is defined for it, and it could only confuse. */
export const hasBody = ({ headers, method }: IncomingMessage): boolean =>
  method !== "GET" &&
  method !== "HEAD" &&
  (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0)

/** The headers of the request, as a flat list; those of its trace stand in for the caller's. */
export const requestHeaders = (
  message: IncomingMessage,
  { clientAddress, requestId }: Arrival,
  trace: Readonly<Record<string, string>> | undefined
): Array<string> => {
  const raw = message.rawHeaders
  const named = namedByConnection(message.headers.connection)
  const withBody = hasBody(message)
  const headers = ["x-forwarded-for", clientAddress, RequestId.header, requestId]
  for (let index = 0; index < raw.length; index += 2) {
    const name = raw[index] as string
    const lower = name.toLowerCase()
    if (dropped.has(lower) || named?.has(lower)) continue
    if (!withBody && lower === "content-length") continue
    if (trace !== undefined && lower in trace) continue
    headers.push(name, raw[index + 1] as string)
  }
  for (const name in trace) headers.push(name, trace[name] as string)
  return headers
}

/** Received headers, names in lower case. */
export type AnswerHeaders = Record<string, string | Array<string> | undefined>

/** The headers of the answer, for Node. */
export const answerHeaders = (
  received: AnswerHeaders,
  requestId: string
): Record<string, string | Array<string>> => {
  const { connection } = received
  const named = namedByConnection(typeof connection === "string" ? connection : undefined)
  const headers: Record<string, string | Array<string>> = {}
  for (const name in received) {
    const value = received[name]
    if (value !== undefined && !dropped.has(name) && !named?.has(name)) headers[name] = value
  }
  headers[RequestId.header] = requestId
  return headers
}
