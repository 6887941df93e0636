/** How the header is read, and that no endpoint can forget it. */
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { AccountImportGroup } from "@data-import/api/AccountImportApi"
import { keyIn } from "../src/routing/Idempotency.ts"
import * as Route from "../src/routing/Route.ts"

const printable = Array.from({ length: 0x7f - 0x20 }, (_, index) =>
  String.fromCodePoint(0x20 + index)
)
const key = fc
  .array(fc.constantFrom(...printable), { minLength: 1, maxLength: 255 })
  .map((characters) => characters.join(""))
const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, "\\$&")}"`

describe("an Idempotency-Key", () => {
  it("is read back from its quoted form, whatever it is", () => {
    fc.assert(fc.property(key, (text) => keyIn(quoted(text)) === text))
  })

  it("is the same bare and quoted, once and several times, and no two are one", () => {
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

  it("of any text at all is a key or none", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 600 }), (text) => {
        const found = keyIn(text) ?? "none"
        return found.length >= 1 && found.length <= 255
      })
    )
  })
})

describe("an endpoint that takes an Idempotency-Key", () => {
  it("cannot have a handler that does not, nor the other way round", () => {
    const plain = () => Effect.die(new Error("never asked"))
    expect(() =>
      Route.handle(AccountImportGroup, {
        validateAccount: plain,
        stageAccount: plain,
        processAccount: plain
      })
    ).toThrow("stageAccount: an Idempotency-Key needs a handler of `writing`")
  })
})
