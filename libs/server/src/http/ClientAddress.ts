/**
 * The address of a client: that of the socket, or the one that trusted proxies have written into
 * X-Forwarded-For. Only as many entries are used as there are trusted proxies, counted from the
 * right, because a client can write every entry before them.
 */
import { isIPv4 } from "node:net"
import { Result } from "effect"
import { NetAddress } from "effect/net"

/** Some proxies write the port as well. */
const parsed = (text: string): NetAddress.IpAddress | undefined => {
  const ip = NetAddress.ipFromString(text)
  if (Result.isSuccess(ip)) return ip.success
  const withPort = NetAddress.inetAddressFromString(text)
  return Result.isSuccess(withPort) ? withPort.success.address : undefined
}

/** One spelling for each address; an IPv4 address that is mapped into IPv6 is the IPv4 address. */
const canonical = (text: string): string | undefined => {
  // IPv4 has one spelling that Node accepts.
  if (isIPv4(text)) return text
  const address = parsed(text)
  return address && NetAddress.formatIp(NetAddress.toCanonical(address))
}

/**
 * The address of the client behind this many trusted proxies: the entry of the outermost proxy. If
 * an entry is not an address, the next proxy's entry is used, never one that a client could have
 * written. Without any entry it is the socket's address.
 */
export const clientAddressOf = (
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: number
): string => {
  if (trustedProxies > 0 && forwardedFor !== undefined) {
    for (const entry of forwardedFor.split(",").slice(-trustedProxies)) {
      const address = canonical(entry.trim())
      if (address !== undefined) return address
    }
  }
  return canonical(socketAddress ?? "") ?? socketAddress ?? ""
}
