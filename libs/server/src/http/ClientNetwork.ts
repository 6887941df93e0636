/**
 * The network by which clients are limited. A client with IPv6 has at least 2^64 addresses and may
 * use another one for each request, so a /64 network counts as one client. Each IPv4 address counts
 * as one client, however it is written.
 */
import { isIPv4 } from "node:net"
import { Result } from "effect"
import { NetAddress } from "effect/net"

/** An IPv4 address itself, or the /64 of an IPv6 address. Other text is returned as it is. */
export const networkOf = (address: string): string => {
  // IPv4 has one spelling that Node accepts.
  if (isIPv4(address)) return address
  const [withoutZone = ""] = address.split("%", 1)
  const parsed = NetAddress.ipFromString(withoutZone)
  if (Result.isFailure(parsed)) return address
  const canonical = NetAddress.toCanonical(parsed.success)
  if (NetAddress.isIpv4Address(canonical)) return NetAddress.formatIp(canonical)
  const groups = NetAddress.ipv6ToSegments(canonical).slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`
}
