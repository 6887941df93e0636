/** Parsing of JSON text. Source: docs/contract/http.md#json. */
import { describe, expect, it } from "@effect/vitest"
import { Result } from "effect"
import fc from "fast-check"
import {
  listElements,
  nestingDepth,
  type NotJson,
  parse,
  parseInSteps
} from "../src/schema/Json.ts"
import { isRawNumber } from "../src/schema/RawNumber.ts"

const refused = (text: string): string => {
  const result = parse(text)
  return Result.isFailure(result) ? `${result.failure.code}: ${result.failure.detail}` : "accepted"
}

const taken = (text: string): unknown => Result.getOrThrow(parse(text))

describe("malformed text", () => {
  it.each([
    "",
    "{",
    "[1,",
    "[1,]",
    "{}{}",
    "{} x",
    '{"a":1,}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '["a]',
    '["\\x"]',
    '["\\u12"]',
    '["a\nb"]',
    "[01]",
    "[+1]",
    "[0x10]",
    "[1234567890123456.7.8]",
    "[NaN]",
    "[True]",
    "[1]//",
    "\u00a0[1]",
    "\ufeff[1]",
    '\ufeff{"a":1}'
  ])("is rejected without quoting it: %j", (text) => {
    expect(refused(text)).toMatch(/^parse_error: Not a JSON document(\.|, at position \d+\.)$/)
  })
})

describe("an object key", () => {
  it.each([
    ['{"a":1,"a":2}', "a"],
    ['{"a":1,"b":{},"a":1}', "a"],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"\\u0061":1,"\\u0061":2}', "a"],
    ['{"/":1,"\\/":2}', "/"],
    ['{"\\n":1,"\\u000a":2}', "\\n"],
    ['{"😀":1,"\\ud83d\\ude00":2}', "😀"],
    ['{"":1,"":2}', ""],
    ['{"__proto__":1,"__proto__":2}', "__proto__"],
    ['[{"x":[{"a":1 , "a" :2}]}]', "a"],
    ['{"a":{"b":1},"c":[1,{"b":1,"b":2}]}', "b"]
  ])("is rejected as repeated with %s", (text, key) => {
    expect(refused(text)).toBe(`parse_error: The key "${key}" is repeated.`)
  })

  it.each([
    '{"a":"a","b":"a"}',
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":["a","a","a"]}',
    '{"a":1,"A":2}',
    '{"é":1,"e\u0301":2}',
    '{"a":"\\"a\\":1,","b":"{\\"a\\":1,\\"a\\":2}"}',
    '{"a\\\\":1,"a":2}',
    '{"constructor":1,"toString":2}'
  ])("is not mistaken for a repeated one with %s", (text) => {
    expect(taken(text)).toEqual(JSON.parse(text))
  })

  it("is shortened in the message if it is long", () => {
    const key = "k".repeat(100_000)
    expect(refused(`{"${key}":1,"${key}":2}`)).toBe(
      `parse_error: The key "${"k".repeat(64)}" is repeated.`
    )
  })

  it("may have the name of an inherited property", () => {
    const value = taken('{"__proto__":{"admin":true},"constructor":1}') as Record<string, unknown>
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"])
    expect(value["admin"]).toBeUndefined()
  })

  it.each([
    ['{"h":1,"\\"":2}', ["h", '"']],
    ['{"h":1,"\\n":2}', ["h", "\n"]],
    ['{"h":1,"\\u0061":2}', ["h", "a"]],
    ['{"h":1,"\\u0061" : "\\n"}', ["h", "a"]]
  ])("with an escape is not confused with a key that was parsed before: %s", (text, keys) => {
    expect(taken('{"h":[],"\\\\":0}')).toEqual({ h: [], "\\": 0 })
    expect(Object.keys(taken(text) as object)).toEqual(keys)
  })

  it("with an escape is found to be repeated whatever was parsed before", () => {
    expect(taken('{"h":[],"\\\\":0}')).toEqual({ h: [], "\\": 0 })
    expect(refused('{"h":[],"\\"":1,"\\"":2}')).toContain("is repeated.")
  })
})

describe("a long string", () => {
  const units = ["é", "\\n", "\\\\", '\\"', "\\u0041", "\\ud83d\\ude00", "\\ud800", "😀"]

  it.each(units)("is parsed in pieces with %s at any position", (unit) => {
    for (let before = 65_520; before < 65_545; before++) {
      const plain = "x".repeat(before)
      for (const text of [`"${plain}${unit}"`, `"${plain}${unit}${plain}${unit}x"`]) {
        expect(taken(`[${text}]`)).toEqual([JSON.parse(text)])
        expect(taken(`{${text}:${text}}`)).toEqual({ [JSON.parse(text)]: JSON.parse(text) })
      }
    }
  })

  it("of escapes is parsed in short steps", () => {
    const steps = parseInSteps(`["${"\\u0061".repeat(1_000_000)}"]`)
    let count = 0
    while (steps.next().done !== true) count++
    expect(count).toBeGreaterThan(90)
  })

  it.each(["\\u00", "\\x", "\n", "\\"])(
    "with %j is rejected at the position of the error",
    (unit) => {
      for (let before = 65_520; before < 65_545; before++) {
        expect(refused(`["${"x".repeat(before)}${unit}`)).toMatch(
          /^parse_error: Not a JSON document/
        )
        expect(refused(`["${"x".repeat(before)}${unit}"]`)).toMatch(/^parse_error: Not a JSON/)
      }
    }
  )
})

describe("nesting", () => {
  const lists = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`
  const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`

  it(`is accepted to depth ${nestingDepth} and rejected below`, () => {
    expect(nestingDepth).toBe(32)
    for (const text of [lists(32), objects(32), `[${lists(31)},${lists(31)},{}]`]) {
      expect(refused(text)).toBe("accepted")
    }
    for (const text of [lists(33), objects(33), `[${lists(31)},${lists(32)}]`]) {
      expect(refused(text)).toBe("parse_error: Nested deeper than 32 levels.")
    }
  })

  it("ignores brackets inside text", () => {
    expect(taken(JSON.stringify("[".repeat(100)))).toBe("[".repeat(100))
    expect(taken(JSON.stringify(['{"', "[[", '\\"{']))).toEqual(['{"', "[[", '\\"{'])
  })
})

describe("a number", () => {
  it.each([
    "0",
    "-0",
    "1.5",
    "1e3",
    "1E-3",
    "123456789012345",
    "0.1000000",
    "100000000000000000000"
  ])("is a plain number if a double holds it: %s", (spelling) => {
    expect(taken(spelling)).toBe(Number(spelling))
  })

  it.each([
    "12345678901234567890",
    "-0.1000000000000000055511151231257827",
    "9007199254740993",
    "1e400",
    "-1E-400",
    "1e99999999999999999999",
    "1.0000000000000000000000001e5",
    `1${"0".repeat(500)}`
  ])("keeps its spelling if a double does not hold it: %s", (spelling) => {
    const [number] = taken(`[${spelling}]`) as [unknown]
    expect(isRawNumber(number)).toBe(true)
    expect(JSON.stringify({ number })).toBe(`{"number":${spelling}}`)
  })

  it("keeps its spelling beside other values, at any position", () => {
    const text = '{"a":[1,{"b":12345678901234567890}],"c":"12345678901234567890","d":2.5}'
    expect(JSON.stringify(taken(text))).toBe(text)
    expect(taken('"1e400"')).toBe("1e400")
  })
})

describe("any JSON value", () => {
  it("is preserved if it contains numbers that a double rounds", () => {
    const digits = fc.stringMatching(/^-?[1-9]\d{0,30}(\.\d{0,30}[1-9])?([eE][+-]?\d{1,4})?$/)
    fc.assert(
      fc.property(digits, (spelling) => {
        const value = taken(`[${spelling}]`)
        const written = JSON.stringify(value)
        const kept = isRawNumber((value as ReadonlyArray<unknown>)[0])
        expect(kept ? written : Number(written.slice(1, -1))).toBe(
          kept ? `[${spelling}]` : Number(spelling)
        )
        const significant = spelling
          .replace(/[eE].*$/, "")
          .replace(/\D/g, "")
          .replace(/0+$/, "")
        if (significant.length > 15) expect(kept).toBe(true)
      }),
      { numRuns: 300 }
    )
  })

  it("is rejected exactly when the platform rejects it, apart from the limits", () => {
    const text = fc.stringMatching(/^[[\]{}",:0-9a\\ue.+-]{0,12}$/)
    fc.assert(
      fc.property(text, (candidate) => {
        let isJson = true
        try {
          JSON.parse(candidate)
        } catch {
          isJson = false
        }
        const answer = refused(candidate)
        if (isJson) expect(answer).toMatch(/^accepted|repeated/)
        else expect(answer).toMatch(/^parse_error/)
      }),
      { numRuns: 500 }
    )
  })
})

describe("a text that is too long for the platform's parser", () => {
  const blanks = " ".repeat(32 * 1024)

  /** The detail without the position, which may be after the blanks. */
  const whyNot = ({ detail }: NotJson): string => detail.replace(/, at position \d+/, "")

  /** The value with the spelling of its numbers, or the reason of the failure. */
  const answer = (text: string): string => {
    const parsed = parse(text)
    return Result.isSuccess(parsed) ? JSON.stringify(parsed.success) : whyNot(parsed.failure)
  }

  it("is parsed alike for any value, sound or damaged", () => {
    const value = fc.json({ maxDepth: 5, stringUnit: "binary" })
    fc.assert(
      fc.property(
        value,
        fc.nat(),
        fc.constantFrom("", "0", '"', "{", "]", ","),
        (text, at, put) => {
          const index = at % (text.length + 1)
          const damaged = `${text.slice(0, index)}${put}${text.slice(index)}`
          expect(answer(`${damaged}${blanks}`)).toBe(answer(damaged))
        }
      ),
      { numRuns: 500 }
    )
  })
})

describe("a document of any size", () => {
  const long = (length: number, of: string) => new Array<string>(length).fill(of).join(",")
  const members = (length: number) =>
    Array.from({ length }, (_, index) => `"k${index}":${index}`).join(",")

  it("stops collecting one element and one member over the limit, and checks the rest", () => {
    const lengths = (text: string) => Object.keys(taken(text) as object).length
    for (const length of [listElements, listElements + 1]) {
      expect(lengths(`[${long(length, "[1]")}]`)).toBe(length)
      expect(lengths(`{${members(length)}}`)).toBe(length)
    }
    expect(lengths(`[${long(3 * listElements, '{"a":1}')}]`)).toBe(listElements + 1)
    expect(lengths(`{${members(3 * listElements)}}`)).toBe(listElements + 1)
    const unbounded = { depth: Infinity, elements: Infinity }
    const deep = `${"[".repeat(nestingDepth)}${"]".repeat(nestingDepth)}`
    const whole = `[${long(3 * listElements, deep)}]`
    expect(parse(whole, unbounded)).toEqual(Result.succeed(JSON.parse(whole)))
    expect(refused(`[${long(3 * listElements, "[]")},{]`)).toMatch(/^parse_error/)
    expect(refused(`{${members(3 * listElements)},"a" 1}`)).toMatch(/^parse_error/)
    expect(refused(`{${members(3 * listElements)},"k1":1}`)).toMatch(/^parse_error: The key "k1"/)
  })

  it("is parsed in steps of a few thousand characters if it is whitespace", () => {
    const blanks = " \n\t\r".repeat(25_000)
    const text = ["", "{", '"a"', ":", "[", "1", ",", "2", "]", "}", ""].join(blanks)
    expect(taken(text)).toEqual({ a: [1, 2] })
    const steps = parseInSteps(text)
    let count = 0
    while (steps.next().done !== true) count++
    expect(count).toBeGreaterThanOrEqual(Math.floor(text.length / 4_096) - 1)
  })

  it("is parsed in steps of a few thousand characters for any content", () => {
    for (const unit of ["[]", "1", '""', '{"a":[1]}', "1e5", "12345678901234567890", "null"]) {
      const text = `[${long(20_000, unit)}]`
      const steps = parseInSteps(text)
      let count = 0
      while (steps.next().done !== true) count++
      expect(count).toBeGreaterThanOrEqual(Math.floor(text.length / 4_096) - 1)
    }
  })
})
