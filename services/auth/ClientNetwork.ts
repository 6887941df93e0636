/**
 * The network that failed attempts are counted by. A site of IPv6 has at least 2^64 addresses and
 * may send each request from another, so they count as one; an address of IPv4 stands for itself,
 * however it is written.
 */
import { isIPv6 } from "node:net"

const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i

/** Eight groups, as the URL standard writes them: shortest, in lower case, no IPv4 at the end. */
const groupsOf = (address: string): ReadonlyArray<string> => {
  const { hostname } = new URL(`http://[${address}]`)
  const [head = [], tail] = hostname
    .slice(1, -1)
    .split("::")
    .map((half) => half.split(":").filter((group) => group !== ""))
  if (tail === undefined) return head
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail]
}

/** The address itself, or the /64 of an address of IPv6. What is no address stands for itself. */
export const networkOf = (address: string): string => {
  const inside = mapped.exec(address)?.[1]
  if (inside !== undefined) return inside
  const [withoutZone = ""] = address.split("%", 1)
  if (!isIPv6(withoutZone)) return address
  return `${groupsOf(withoutZone).slice(0, 4).join(":")}::/64`
}
