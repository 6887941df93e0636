/** How the header is read, and that no endpoint can forget it. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { AccountImportGroup } from "@data-import/api/AccountImportApi"
import { keyIn } from "../src/routing/IdempotencyHeader.ts"
import * as Route from "../src/routing/Route.ts"

const printable = Array.from({ length: 0x7f - 0x20 }, (_, index) =>
  String.fromCodePoint(0x20 + index)
)
const key = fc
  .array(fc.constantFrom(...printable), { minLength: 1, maxLength: 255 })
  .map((characters) => characters.join(""))
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&")}"`

/** Keys as headers, and the key that each of them means. */
const spellings: ReadonlyArray<readonly [string, string]> = [
  ["a", "a"],
  [`"a b"`, "a b"],
  [`"a\\"b\\\\c"`, `a"b\\c`],
  [`"a,b"`, "a,b"],
  ["a;b=c!#$%&'*+/:<>?@[]^_`{|}~", "a;b=c!#$%&'*+/:<>?@[]^_`{|}~"],
  ["x".repeat(255), "x".repeat(255)],
  [`"${'\\"'.repeat(255)}"`, '"'.repeat(255)],
  [`a, a,"a"`, "a"]
]

const malformed: ReadonlyArray<readonly [what: string, value: string]> = [
  ["empty", ""],
  ["empty in quotes", `""`],
  ["too long", "x".repeat(256)],
  ["too long in quotes", `"${"x".repeat(256)}"`],
  ["two of them", "a, b"],
  ["with a space", "a b"],
  ["without its last quote", `"a`],
  ["with a quote inside", `a"b`],
  ["with a wrong escape", `"a\\b"`],
  ["with parameters", `"a";b=1`],
  ["beyond ASCII", `"\u00e6"`],
  ["with a tab", `"a\tb"`],
  ["followed by nothing", "a,"]
]

describe("an Idempotency-Key", () => {
  it.each(spellings)("%s names the key %s", (header, key) => {
    expect(keyIn(header)).toBe(key)
  })

  it.each(malformed)("%s names no key", (_, header) => {
    expect(keyIn(header)).toBe(undefined)
  })

  it("is read back from its quoted form", () => {
    fc.assert(fc.property(key, (text) => keyIn(quoted(text)) === text))
  })

  it("is the same bare, quoted and repeated, and two keys are refused", () => {
    fc.assert(
      fc.property(key, (text) => {
        const bare = /[ ",\\]/.test(text) ? quoted(text) : text
        expect(keyIn(bare)).toBe(text)
        expect(keyIn(` ${quoted(text)} ,\t${bare}`)).toBe(text)
        expect(keyIn(`${quoted(text)}, ${quoted(`${text}!`)}`)).toBe(undefined)
      }),
      { examples: [["a,b"], ["x".repeat(255)], ["a b"]] }
    )
  })

  it("of any text is a valid key or none", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        const found = keyIn(text) ?? "none"
        return found.length >= 1 && found.length <= 255
      })
    )
  })
})

describe("an endpoint that takes an Idempotency-Key", () => {
  it("needs a handler of `writing`", () => {
    const plain = () => Effect.die(new Error("never asked"))
    expect(() =>
      Route.handle(AccountImportGroup, {
        validateAccount: plain,
        stageAccount: plain,
        processAccount: plain,
        createDocumentUpload: plain,
        changeImport: plain,
        revertImport: plain,
        resetSandbox: plain
      })
    ).toThrow("stageAccount: an Idempotency-Key needs a handler of `writing`")
  })
})
