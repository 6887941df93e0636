/**
 * The properties of every answer: it conforms to the document, it is not a server error, and it
 * reveals nothing internal.
 */
import { complaints } from "@data-import/api/testing/ResponseCheck"
import type { Reply, Request } from "./Case.ts"
import { outcomeOf } from "./Expectation.ts"
import { leaks, sentTexts } from "./Leak.ts"
import { hiddenSupplier } from "./TenantNames.ts"
import { headersOf, type Target } from "./Wire.ts"

/** Words in references of payment instructions at which the simulated vendors fail. */
const vendorFails = /down|slow|fault_/

const asText = (body: Request["body"]): string =>
  body === undefined ? "" : Buffer.from(body as string).toString("utf8")

const isVendorAway = (reply: Reply): boolean =>
  outcomeOf(reply) === "500 payment_vendor_unavailable"

/** The only server error that a request can cause. */
const isRequestedFailure = (request: Request, reply: Reply): boolean =>
  isVendorAway(reply) && vendorFails.test(asText(request.body))

/** For how many seconds a vendor is not called after several failures. */
const vendorPause = 10

/**
 * After how many seconds to retry the request, if the service cannot answer it now; null if it has
 * answered. An overloaded machine causes this, as do vendors that failed for other requests.
 */
export const comeAgainAfter = (request: Request, reply: Reply): number | null => {
  if (isVendorAway(reply)) return isRequestedFailure(request, reply) ? null : vendorPause
  const seconds = reply.headers["retry-after"] ?? ""
  return reply.status === 503 && /^[1-9]\d{0,3}$/.test(seconds) ? Number(seconds) : null
}

const serverErrors = (request: Request, reply: Reply): ReadonlyArray<string> =>
  reply.status < 500 ||
  isRequestedFailure(request, reply) ||
  comeAgainAfter(request, reply) !== null
    ? []
    : [`the service answered ${outcomeOf(reply)}`]

/** Codes for requests that are refused before their operation is known. */
const beforeOperation = new Set([
  "400 parse_error",
  "405 method_not_allowed",
  "408 request_timeout",
  "413 payload_too_large",
  "431 headers_too_large"
])

/** The answer to HEAD has no body, and so no code. */
const isBeforeOperation = ({ method }: Request, reply: Reply): boolean =>
  method === "HEAD"
    ? [...beforeOperation].some((outcome) => outcome.startsWith(`${reply.status} `))
    : beforeOperation.has(outcomeOf(reply))

const ofOperation = /^the document has |^body|nobody describes|a method that is not there/

/** Whether every reader takes the bytes as this one request. */
export const isOneRequest = ({ raw, smuggled }: Request): boolean =>
  raw === undefined && smuggled === undefined

const joined = (headers: Request["headers"]): Readonly<Record<string, string>> => {
  const all: Record<string, string> = {}
  for (const [sent, value] of headers) {
    const name = sent.toLowerCase()
    const before = all[name]
    all[name] = before === undefined ? value.trim() : `${before}, ${value.trim()}`
  }
  return all
}

/** Of several requests in the same bytes, only the first is to HEAD, and has no body. */
const methodAnswered = (request: Request, { body }: Reply): string =>
  isOneRequest(request) || request.method !== "HEAD" || body === "" ? request.method : "GET"

/** Whether the answer is about what only hidden requests do, and this request does not. */
const ofHidden = ({ path }: Request, { body }: Reply): ReadonlyArray<string> =>
  body.includes(hiddenSupplier) && !path.includes(hiddenSupplier)
    ? ["the answer is one to a hidden request"]
    : []

const contract = (request: Request, reply: Reply, target: Target): ReadonlyArray<string> => {
  const { path } = request
  const headers = isOneRequest(request) ? joined(headersOf(request, target)) : {}
  const { headers: given, status, body: text } = reply
  const method = methodAnswered(request, reply)
  const found = complaints({ method, path, headers }, { status, headers: given, text })
  const isOfNone = request.malformed === true && isBeforeOperation(request, reply)
  return isOfNone || !isOneRequest(request)
    ? found.filter((complaint) => !ofOperation.test(complaint))
    : found
}

/** Everything that is wrong with this answer to this request. */
export const complaintsAbout = (
  request: Request,
  reply: Reply,
  target: Target,
  secrets: ReadonlyArray<string>
): ReadonlyArray<string> => [
  ...serverErrors(request, reply),
  ...contract(request, reply, target),
  ...ofHidden(request, reply),
  ...leaks({
    answer: reply.value ?? reply.body,
    sent: () => [
      ...sentTexts(`${request.raw ?? ""}${request.path}`, request.body),
      ...(request.sentBefore ?? "").split("\n").flatMap((text) => sentTexts(text, text))
    ],
    secrets
  })
]
