/** Which addresses a webhook may have: public ones, unless the operator allows private ones. */
import { lookup as resolve, type LookupAddress } from "node:dns"
import { BlockList, isIP, type LookupFunction } from "node:net"

/** Addresses of version 4 that are not public. Source: the IANA special-purpose registry. */
const reserved = new BlockList()
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3]
] as const) {
  reserved.addSubnet(network, prefix, "ipv4")
}

/**
 * Global unicast addresses of version 6, and those among them that are not public or embed an IPv4
 * address.
 */
const unicast = new BlockList()
unicast.addSubnet("2000::", 3, "ipv6")
const reservedUnicast = new BlockList()
for (const [network, prefix] of [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20]
] as const) {
  reservedUnicast.addSubnet(network, prefix, "ipv6")
}

/** Whether an address is public. A text that is not an address is not public. */
export const isPublic = (address: string): boolean => {
  switch (isIP(address)) {
    case 4:
      return !reserved.check(address, "ipv4")
    case 6:
      return unicast.check(address, "ipv6") && !reservedUnicast.check(address, "ipv6")
    default:
      return false
  }
}

/** The name resolves to an address that is not public. */
export class PrivateAddress extends Error {
  override readonly name = "PrivateAddress"
}

/**
 * Resolves a name for a connection. It fails if any of the addresses is not public. So the
 * connection goes to an address that was checked.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses: Array<LookupAddress>) => {
    if (error !== null) return callback(error, [])
    if (!addresses.every(({ address }) => isPublic(address))) {
      return callback(new PrivateAddress(), [])
    }
    const [first] = addresses
    if (options.all === true || first === undefined) return callback(null, addresses)
    callback(null, first.address, first.family)
  })
}

/** The address in the host of a URL; undefined if it is a name. */
export const addressIn = ({ hostname }: URL): string | undefined => {
  const address = hostname.replace(/^\[|\]$/g, "")
  return isIP(address) === 0 ? undefined : address
}
