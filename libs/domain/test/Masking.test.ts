import { describe, expect, it } from "@effect/vitest"
import fc from "fast-check"
import { Account } from "../src/accounts/Account.ts"
import { maskedAccount, maskedDetail, maskedPath, maskedText } from "../src/board/Masking.ts"
import { registry } from "../src/codes/Code.ts"
import { schemaTreeOf, type SchemaTree } from "../src/schema/SchemaTree.ts"
import { accountPayload } from "../testing/arbitraries.ts"

/** The fields whose texts, dates and free objects are personal; every other leaf is shown. */
const personal = new Set(
  (
    "billing_email billing_name billing_sub_name billing_customer_reference name organization " +
    "street_address locality postal_code delivery_point_identifier structured_street_address " +
    "given_name family_name email mobile landline date_of_birth title salutation body " +
    "document_path statement_path key value supply_postcode supply_address1 reason display_note " +
    "note reference"
  ).split(" ")
)

const leavesOf = (tree: SchemaTree, name: string): ReadonlyArray<string> => {
  switch (tree._tag) {
    case "Struct":
      return [...tree.fields].flatMap(([field, { node }]) => leavesOf(node, field))
    case "List":
      return leavesOf(tree.element, name)
    default:
      return [name]
  }
}

/** Every leaf of the value with the name of its field. A free object is one leaf. */
const leavesIn = (
  tree: SchemaTree,
  name: string,
  value: unknown
): ReadonlyArray<readonly [string, unknown]> => {
  if (tree._tag === "Struct") {
    return Object.entries(value as object).flatMap(([field, inner]) => {
      const node = tree.fields.get(field)?.node
      return node === undefined ? [] : leavesIn(node, field, inner)
    })
  }
  return tree._tag === "List"
    ? (value as ReadonlyArray<unknown>).flatMap((element) => leavesIn(tree.element, name, element))
    : [[name, value]]
}

const tree = schemaTreeOf(Account)

describe("masking", () => {
  it("knows of every field of the schema whether it is personal", () => {
    const names = new Set(leavesOf(tree, ""))
    expect([...personal].filter((name) => !names.has(name))).toEqual([])
  })

  it("shows every harmless leaf, and only the beginning of any other", () => {
    fc.assert(
      fc.property(accountPayload(), (payload) => {
        const before = leavesIn(tree, "", payload)
        const after = leavesIn(tree, "", maskedAccount(payload))
        expect(after.map(([name]) => name)).toEqual(before.map(([name]) => name))
        for (const [index, [name, value]] of before.entries()) {
          const shown = after[index]?.[1]
          if (!personal.has(name) || value === null) expect(shown, name).toEqual(value)
          else if (value === "") expect(shown, name).toBe("")
          else {
            expect(shown, name).not.toEqual(value)
            expect(String(shown), name).toMatch(/^.?… \(\d+ (?:characters|members|elements)\)$/su)
          }
        }
      })
    )
  })

  it("masks values that are unknown to the schema, or break it", () => {
    expect(
      maskedAccount({ account_type: "Mrs Example", unknown: { a: 1 }, date_of_sale: "x" })
    ).toEqual({
      account_type: "M… (11 characters)",
      "u… (7 characters)": "… (1 members)",
      date_of_sale: "x… (1 characters)"
    })
    expect(maskedAccount("Mrs Example")).toBe("M… (11 characters)")
    expect(maskedAccount([1, 2])).toBe("… (2 elements)")
    expect(maskedAccount({ customers: "Mrs Example", transfer_balance: "12 High St" })).toEqual({
      customers: "M… (11 characters)",
      transfer_balance: "1… (10 characters)"
    })
  })

  it("counts characters, not UTF-16 units", () => {
    expect(maskedText("")).toBe("")
    expect(maskedText("\u{1F600}\u{1F600}")).toBe("\u{1F600}… (2 characters)")
  })

  it("masks names in paths that the client chose", () => {
    expect(maskedPath("customers.0.mobile")).toBe("customers.0.mobile")
    expect(maskedPath("customers.*.mobile")).toBe("customers.*.mobile")
    expect(maskedPath("non_field_errors")).toBe("non_field_errors")
    expect(maskedPath("customers.0.Mrs Example")).toBe("customers.0.M… (11 characters)")
  })

  it.each([
    ["invalid", "Must have at most 255 characters.", true],
    ["invalid", "last_statement_balance: 12.50, calculated 12.00, difference 0.50.", true],
    ["invalid", "Is 'Mrs Example'.", false],
    ["invalid", "Must not be Example, as before.", false],
    ["invalid", "Must not be a@example.com.", false],
    ["duplicate_statement_ids", "Sent more than once: smith.", false],
    ["metadata_has_duplicate_keys", "Sent more than once: smith.", false]
  ] as const)("shows the detail of %s unless it has sent values: %s", (code, detail, isShown) => {
    expect(maskedDetail(code, detail)).toBe(isShown ? detail : registry[code].meaning)
  })
})
