/**
 * The network that failed attempts are counted by. A site of IPv6 has at least 2^64 addresses and
 * may send each request from another, so they count as one; an address of IPv4 stands for itself,
 * however it is written.
 */
import { Result } from "effect"
import { NetAddress } from "effect/net"

/** The address itself, or the /64 of an address of IPv6. What is no address stands for itself. */
export const networkOf = (address: string): string => {
  const [withoutZone = ""] = address.split("%", 1)
  const parsed = NetAddress.ipFromString(withoutZone)
  if (Result.isFailure(parsed)) return address
  const canonical = NetAddress.toCanonical(parsed.success)
  if (NetAddress.isIpv4Address(canonical)) return NetAddress.formatIp(canonical)
  const groups = NetAddress.ipv6ToSegments(canonical).slice(0, 4)
  return `${groups.map((group) => group.toString(16)).join(":")}::/64`
}
