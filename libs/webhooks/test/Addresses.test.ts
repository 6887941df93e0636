/** Which addresses are public, and what a name may resolve to. */
import { describe, expect, it } from "vitest"
import { addressIn, isPublic, PrivateAddress, publicLookup } from "../src/Addresses.ts"

describe("an address", () => {
  it.each([
    "0.0.0.0",
    "10.0.0.1",
    "100.64.0.1",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.2.1",
    "192.168.1.1",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::a00:1",
    "fc00::1",
    "fd12::1",
    "fe80::1",
    "ff02::1",
    "2001::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "localhost",
    ""
  ])("%s is not public", (address) => {
    expect(isPublic(address)).toBe(false)
  })

  it.each(["8.8.8.8", "172.15.0.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1"])(
    "%s is public",
    (address) => {
      expect(isPublic(address)).toBe(true)
    }
  )

  it.each([
    ["https://[::1]:8443/", "::1"],
    ["https://0x7f000001/", "127.0.0.1"],
    ["https://127.1/", "127.0.0.1"],
    ["https://receiver.example/", undefined]
  ])("is found in %s", (url, address) => {
    expect(addressIn(new URL(url))).toBe(address)
  })
})

describe("a name", () => {
  it.each([{ all: true }, { all: false }])(
    "that resolves to this machine fails, %o",
    (options) =>
      new Promise<void>((resolve) => {
        publicLookup("localhost", options, (error) => {
          expect(error).toBeInstanceOf(PrivateAddress)
          resolve()
        })
      })
  )

  it("that does not resolve fails as such", () =>
    new Promise<void>((resolve) => {
      publicLookup("nobody.invalid", {}, (error) => {
        expect(error).not.toBeInstanceOf(PrivateAddress)
        expect(error).not.toBeNull()
        resolve()
      })
    }))
})
