import { isIPv6 } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { networkOf } from "../src/http/ClientNetwork.ts"

describe("the network of a client", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::FFFF:192.0.2.1", "192.0.2.1"],
    ["::ffff:c000:201", "192.0.2.1"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:DB8:0:0:ffff:ffff:ffff:ffff", "2001:db8:0:0::/64"],
    ["2001:0db8:0000:0000::", "2001:db8:0:0::/64"],
    ["2001:db8:0:1::1", "2001:db8:0:1::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["1::2:3:4:5:6:7", "1:0:2:3::/64"],
    ["::", "0:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
    ["", ""],
    ["unknown", "unknown"],
    ["[2001:db8::1]", "[2001:db8::1]"],
    ["2001:db8::1::1", "2001:db8::1::1"]
  ])("of %j is %j", (address, network) => {
    expect(networkOf(address)).toBe(network)
  })

  it("is the same for the addresses that share 64 bits, and for no other", () => {
    const group = fc.nat({ max: 0xffff })
    const four = fc.tuple(group, group, group, group)
    const written = (groups: ReadonlyArray<number>) =>
      groups.map((value) => value.toString(16)).join(":")
    fc.assert(
      fc.property(four, four, four, fc.nat({ max: 3 }), (net, one, other, changed) => {
        fc.pre(net[0] !== 0)
        const at = (host: ReadonlyArray<number>) => networkOf(written([...net, ...host]))
        expect(at(one)).toBe(at(other))
        const beside = net.map((value, index) => (index === changed ? value ^ 1 : value))
        expect(networkOf(written([...beside, ...one]))).not.toBe(at(one))
        expect(isIPv6(at(one).replace("/64", ""))).toBe(true)
      })
    )
  })
})
