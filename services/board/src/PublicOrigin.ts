/**
 * The address of the board as the browser sees it: BOARD_PUBLIC_URL, or on this machine the address
 * that was requested. Cookies and the origin check depend on it.
 */
import type { IncomingRequest } from "@data-import/server/http/IncomingRequest"

export interface PublicOrigin {
  readonly origin: string
  /** Whether the browser keeps cookies for https only. */
  readonly isSecure: boolean
}

type RequestSource = Pick<IncomingRequest, "clientAddress" | "request">

/** `address` is in canonical form. */
const isLoopback = (address: string): boolean => address === "::1" || address.startsWith("127.")

const loopbackHost = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i

/**
 * Whether the client is on this machine. The address alone is not enough: requests through a proxy
 * here, or to a foreign name that resolves to this machine, come from it too. Their host differs.
 */
export const isOnThisMachine = ({ clientAddress, request: { headers } }: RequestSource): boolean =>
  isLoopback(clientAddress) && loopbackHost.test(headers["host"] ?? "")

/** Sign-in links work on this machine also with a public URL, so the requested host decides. */
export const publicOriginOf = (asking: RequestSource, publicUrl: URL | null): PublicOrigin => {
  if (publicUrl === null || isOnThisMachine(asking)) {
    return { origin: `http://${asking.request.headers["host"] ?? ""}`, isSecure: false }
  }
  return { origin: publicUrl.origin, isSecure: publicUrl.protocol === "https:" }
}

/**
 * Whether a request that changes something comes from a page of the board. Browsers say so in
 * Sec-Fetch-Site, and older ones in Origin, which is `null` for forms of pages without a referrer.
 */
export const isSameOrigin = (
  { request: { headers } }: RequestSource,
  { origin }: PublicOrigin
): boolean => {
  const site = headers["sec-fetch-site"]
  const from = headers["origin"]
  if (site !== undefined) {
    return site === "same-origin" && (from === undefined || from === "null" || from === origin)
  }
  return from === origin
}
