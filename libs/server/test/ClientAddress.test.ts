import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { clientAddressOf } from "../src/http/ClientAddress.ts"

const socket = "10.0.0.9"

describe("the client's address", () => {
  it.each([
    ["without a trusted proxy is the socket's", 0, "192.0.2.1", socket],
    ["without the header is the socket's", 1, undefined, socket],
    ["with an empty header is the socket's", 2, "", socket],
    ["behind one proxy is the last entry", 1, "203.0.113.1, 192.0.2.1", "192.0.2.1"],
    ["behind two proxies is the last but one", 2, "203.0.113.1,192.0.2.1,10.0.0.1", "192.0.2.1"],
    [
      "is the leftmost entry where there are fewer than proxies",
      3,
      "192.0.2.1, 10.0.0.1",
      "192.0.2.1"
    ],
    [
      "is the entry of the next proxy where one is no address",
      2,
      "203.0.113.1, unknown, 10.0.0.1",
      "10.0.0.1"
    ],
    ["is the socket's where no trusted entry is an address", 1, "192.0.2.1, unknown", socket],
    ["is the socket's where the trusted entry is empty", 1, "192.0.2.1,", socket],
    ["is an IPv4 address where it is mapped", 1, "::ffff:192.0.2.1", "192.0.2.1"],
    ["is an IPv4 address where it is mapped in hexadecimal", 1, "::FFFF:c000:201", "192.0.2.1"],
    ["is an IPv6 address in its shortest form", 1, "2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["is without the port that a proxy wrote", 1, "192.0.2.1:4711", "192.0.2.1"],
    ["is without brackets and port", 1, "[2001:db8::1]:4711", "2001:db8::1"]
  ] as const)("%s", (_name, hops, forwarded, expected) => {
    expect(clientAddressOf(socket, forwarded, hops)).toBe(expected)
  })

  it.each([
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "127.0.0.1"],
    ["fe80::1%eth0", "fe80::1%eth0"],
    [undefined, ""]
  ])("of the socket %s is %s", (address, expected) => {
    expect(clientAddressOf(address, "192.0.2.1", 0)).toBe(expected)
  })

  it("does not depend on entries that the client writes", () => {
    const entry = fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom("", "unknown", "a b", "1.2.3.4:5"))
    const proxies = fc.array(entry, { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.string(), proxies, (written, entries) => {
        const own = entries.join(", ")
        const address = clientAddressOf(socket, own, entries.length)
        expect(clientAddressOf(socket, `${written}, ${own}`, entries.length)).toBe(address)
      })
    )
  })
})
