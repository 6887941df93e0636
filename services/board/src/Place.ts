/**
 * Where the browser of a request believes the board to be. It is BOARD_PUBLIC_URL, or on this
 * machine the address it asked for. Cookies and the check of origins depend on it.
 */
import type { IncomingRequest } from "@data-import/server/http/IncomingRequest"

export interface Place {
  readonly origin: string
  /** Whether the browser keeps cookies for https only. */
  readonly isSecure: boolean
}

type Asking = Pick<IncomingRequest, "clientAddress" | "request">

/** Addresses come in one spelling. */
export const isLoopback = (address: string): boolean =>
  address === "::1" || address.startsWith("127.")

const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i

/** A link works on this machine beside a public address, so the one that was asked for decides. */
export const placeOf = ({ clientAddress, request }: Asking, publicUrl: URL | null): Place => {
  const host = request.headers["host"] ?? ""
  const isLocal = isLoopback(clientAddress) && loopbackHost.test(host)
  if (publicUrl === null || isLocal) return { origin: `http://${host}`, isSecure: false }
  return { origin: publicUrl.origin, isSecure: publicUrl.protocol === "https:" }
}

/**
 * Whether a request that changes something comes from a page of the board. Browsers say so in
 * Sec-Fetch-Site, and older ones in Origin, which is `null` for forms of pages without a referrer.
 */
export const isOwn = ({ request: { headers } }: Asking, { origin }: Place): boolean => {
  const site = headers["sec-fetch-site"]
  const from = headers["origin"]
  if (site !== undefined) {
    return site === "same-origin" && (from === undefined || from === "null" || from === origin)
  }
  return from === origin
}
