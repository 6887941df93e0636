/**
 * Cases of hostile values inside an otherwise valid body: of the wrong type, too long, too deep, or
 * made to be slow for the patterns of e-mail addresses, phone numbers, dates, decimals and paths.
 */
import { withSource } from "@data-import/domain/testing/wire"
import fc from "fast-check"
import { type Plan, post, type Step } from "./Case.ts"
import type { Operation } from "./Document.ts"
import { answers, unlessTooLarge } from "./Expectation.ts"
import { pathsIn } from "./Schema.ts"
import { answersToOneChange, posts, validBody } from "./ValidRequests.ts"

const nested = (depth: number, open: string, close: string): string =>
  `${open.repeat(depth)}${close.repeat(depth)}`

/** JSON, or almost, that stands where another value stood. */
const sources: Readonly<Record<string, string>> = {
  null: "null",
  true: "true",
  zero: "0",
  "minus zero": "-0",
  "an endless number": "1e400",
  "a vanishing number": "1e-400",
  "an endless exponent": "1e999999999999",
  "a number of many digits": "9".repeat(100_000),
  "a number of many decimals": `0.${"0".repeat(100_000)}1`,
  "an unsafe number": "9007199254740993",
  "an empty text": '""',
  "white space": '" \\t\\u00a0\\u2003 "',
  NUL: '"a\\u0000b"',
  "a lone surrogate": '"\\ud800"',
  "surrogates the wrong way round": '"\\udc00\\ud800"',
  "a byte-order mark": '"\\ufeff"',
  "text from right to left": '"\\u202etxet\\u202c"',
  "a line separator": '"\\u2028"',
  "every control character": JSON.stringify(String.fromCharCode(...Array(32).keys())),
  "a long text": JSON.stringify("x".repeat(1_000_000)),
  "long white space": JSON.stringify(" ".repeat(200_000)),
  "long white space inside": JSON.stringify(`a${" ".repeat(200_000)}b`),
  "many combining marks": JSON.stringify(`a${"\u0301".repeat(100_000)}`),
  "an empty list": "[]",
  "a list of lists": nested(20, "[", "]"),
  "too deep a list": nested(40, "[", "]"),
  "a very deep list": nested(100_000, "[", "]"),
  "a very deep object": `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`,
  "a long list": `[${"null,".repeat(10_000)}null]`,
  "a list of objects": `[${"{},".repeat(10_000)}{}]`,
  "an empty object": "{}",
  "an object of many names": `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":0`).join()}}`,
  __proto__: '{"__proto__":{"polluted":true}}',
  constructor: '{"constructor":{"prototype":{"polluted":true}}}',
  toString: '{"toString":null,"valueOf":1,"hasOwnProperty":0,"toJSON":{}}',
  "a name twice": '{"a":1,"a":2}',
  "a name twice, once escaped": '{"a":1,"\\u0061":2}',
  "an empty name": '{"":{"":[]}}',
  SQL: `"'); drop table import_process; --"`,
  "a template": '"${7*7}{{7*7}}<%= 7*7 %>"',
  "a format": '"%s%n%x%d"',
  markup: '"<script>alert(1)</script>"',
  "a command": '"$(touch /x) `id` ; | & \\n"',
  "a header": '"a\\r\\nX-Injected: 1\\r\\n\\r\\n"',
  "a log line": '"a\\n{\\"level\\":\\"error\\"}"',
  "an e-mail bomb": JSON.stringify(`${"a".repeat(50_000)}@`),
  "an e-mail of dots": JSON.stringify(`a@${"a.".repeat(50_000)}`),
  "an e-mail of quotes": JSON.stringify(`"${'\\"'.repeat(50_000)}@a.b`),
  "an e-mail of ats": JSON.stringify("@a".repeat(50_000)),
  "a phone bomb": JSON.stringify(`+${"1".repeat(100_000)}`),
  "a phone of brackets": JSON.stringify(`+${"(".repeat(50_000)}`),
  "a phone of extensions": JSON.stringify(`+4520${" ext. ;x#~".repeat(20_000)}1`),
  "a phone of blanks": JSON.stringify(`+45 ${" -./()".repeat(30_000)}x`),
  "a date bomb": JSON.stringify("1".repeat(100_000)),
  "a date of many digits": JSON.stringify(`${"9".repeat(50_000)}-01-01`),
  "a time bomb": JSON.stringify(`2025-01-01T00:00:00.${"0".repeat(100_000)}`),
  "a time zone bomb": JSON.stringify(`2025-01-01T00:00:00+${"0:".repeat(50_000)}`),
  "a decimal bomb": JSON.stringify(`${"1".repeat(100_000)}x`),
  "a decimal of zeros": JSON.stringify(`${"0".repeat(100_000)}.${"0".repeat(100_000)}`),
  "a path of dots": JSON.stringify("../".repeat(30_000)),
  "a path of slashes": JSON.stringify("/".repeat(100_000)),
  "a path of segments": JSON.stringify("a/".repeat(50_000))
}

const stepOf = ({ template }: Operation, body: string): Step => {
  const request = post(template, body)
  return { request, expect: unlessTooLarge(request, answers(...answersToOneChange)) }
}

const inside = (asked: Operation): fc.Arbitrary<Plan> => {
  const valid = validBody(asked.id)
  return fc
    .tuple(fc.constantFrom(...pathsIn(valid)), fc.constantFrom(...Object.entries(sources)))
    .map(([path, [name, source]]) => ({
      operation: asked.id,
      kind: "value",
      name: `${name} at ${path.join(".")}`,
      steps: () => [stepOf(asked, withSource(valid, path, source))]
    }))
}

const random = (asked: Operation): fc.Arbitrary<Plan> => {
  const valid = validBody(asked.id)
  return fc
    .tuple(fc.constantFrom(...pathsIn(valid)), fc.json({ stringUnit: "binary", maxDepth: 6 }))
    .map(([path, source]) => ({
      operation: asked.id,
      kind: "value",
      name: `any JSON at ${path.join(".")}`,
      steps: () => [stepOf(asked, withSource(valid, path, source))]
    }))
}

/** Hostile values, in every request that takes a body. */
export const valuePlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = posts.flatMap((asked) => [
  { weight: 2, arbitrary: inside(asked) },
  { weight: 1, arbitrary: random(asked) }
])
