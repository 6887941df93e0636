/** How claims of an ID token are read. Source: docs/contract/board.md#roles. */
import { describe, expect, it } from "vitest"
import { userOf } from "../src/Claims.ts"

const names = { roleClaim: "role", organisationsClaim: "for", suppliersClaim: "of" }

const user = (claims: Readonly<Record<string, unknown>>) =>
  userOf({ sub: "s-1", role: "viewer", for: "acme", ...claims }, names)

describe("userOf", () => {
  it.each([
    ["viewer", "viewer"],
    ["manager", "manager"],
    [["viewer", "manager"], "manager"],
    [["other", "viewer"], "viewer"]
  ])("reads the role %j as %s", (role, expected) => {
    expect(user({ role })?.role).toBe(expected)
  })

  it.each([
    undefined,
    null,
    "",
    "admin",
    "Manager",
    ["managers"],
    { manager: true },
    1,
    [["viewer"]]
  ])("gives no role for %j", (role) => {
    expect(user({ role })).toBeNull()
  })

  it.each([
    ["acme", ["acme"]],
    [
      ["acme", "globex"],
      ["acme", "globex"]
    ],
    [["acme", "Not A Name", 7], ["acme"]],
    ["*", null],
    [["*"], null]
  ])("reads the organisations %j", (claim, expected) => {
    expect(user({ for: claim })?.organisations).toEqual(expected)
  })

  it.each([undefined, null, "", [], {}, 1, ["Not A Name"], "acme globex"])(
    "refuses a user with the organisations %j",
    (claim) => {
      expect(user({ for: claim })).toBeNull()
    }
  )

  it.each([
    ["ACME", ["ACME"]],
    [
      ["ACME", "GLOBEX"],
      ["ACME", "GLOBEX"]
    ],
    [["ACME", 7, "", "x".repeat(33)], ["ACME"]],
    // A test supplier is stored with a blank before its code.
    [" ACME", ["ACME"]],
    ["*", ["*"]]
  ])("reads the suppliers %j, and no organisation", (of, suppliers) => {
    expect(user({ role: "supplier", of })).toMatchObject({
      role: "supplier",
      organisations: [],
      suppliers
    })
  })

  it.each([undefined, null, "", " ", [], {}, 1])("refuses a user of the suppliers %j", (of) => {
    expect(user({ role: "supplier", of })).toBeNull()
  })

  it("gives the strongest role, which a supplier never widens", () => {
    expect(user({ role: ["supplier", "viewer"], of: "ACME" })).toMatchObject({
      role: "viewer",
      suppliers: null
    })
    expect(user({ role: ["supplier", "viewer"], for: [], of: "ACME" })).toBeNull()
  })

  it.each([
    [{ preferred_username: "ada", email: "ada@example.com", name: "Ada" }, "ada"],
    [{ email: "ada@example.com", name: "Ada" }, "ada@example.com"],
    [{ name: "Ada Løve" }, "Ada Løve"],
    [{}, "s-1"],
    [{ preferred_username: " \n\u200b", name: "A\u0007da" }, "Ada"],
    [{ name: "😀".repeat(99) }, "😀".repeat(64)],
    [{ name: ["Ada"], sub: "\n" }, "Ada"],
    [{ sub: "\n" }, "unnamed"]
  ])("takes the user's name from %j", (claims, expected) => {
    expect(user(claims)?.name).toBe(expected)
  })
})
