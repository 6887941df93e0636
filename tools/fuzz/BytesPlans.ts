/**
 * Cases of bodies that may be no JSON: broken, cut, altered, packed, in other encodings, too large,
 * or in odd portions.
 */
import { deflateRawSync, gzipSync } from "node:zlib"
import fc from "fast-check"
import { type Framing, type Plan, post, type Request } from "./Case.ts"
import type { Operation } from "./Document.ts"
import { answers, anything, unlessTooLarge } from "./Expectation.ts"
import type { Expectation } from "./Case.ts"
import { posts, soundAnswers, soundBody } from "./SoundBody.ts"

const noJson = answers("400 parse_error")

const bytes = (...values: ReadonlyArray<number>): Buffer => Buffer.from(values)
const text = (source: string): Buffer => Buffer.from(source)

const utf16be = (source: string): Buffer => Buffer.from(source, "utf16le").swap16()

const inQuotes = (...values: ReadonlyArray<number>): Buffer =>
  Buffer.concat([text('{"payload":"'), bytes(...values), text('"}')])

/** Bodies that are no JSON, or not as the contract wants it. */
const broken: Readonly<Record<string, Buffer>> = {
  nothing: text(""),
  "white space": text(" \t\r\n"),
  "an open object": text("{"),
  "an open list": text("["),
  "one brace too many": text("{}}"),
  "an open text": text('{"payload":"'),
  "a name alone": text('{"payload"'),
  "no value": text('{"payload":}'),
  "a comma at the end": text('{"payload":{},}'),
  "no comma": text('{"payload":{} "a":1}'),
  "single quotes": text("{'payload':{}}"),
  "no quotes": text("{payload:{}}"),
  "a comment": text('{"payload":{}/* */}'),
  NaN: text('{"payload":NaN}'),
  Infinity: text('{"payload":-Infinity}'),
  undefined: text('{"payload":undefined}'),
  hexadecimal: text('{"payload":0x10}'),
  "a zero in front": text('{"payload":01}'),
  "a point at the end": text('{"payload":1.}'),
  "a plus": text('{"payload":+1}'),
  "half an escape": text('{"payload":"\\u12"}'),
  "an unknown escape": text('{"payload":"\\x41"}'),
  "a bare control character": text('{"payload":"a\nb"}'),
  "a bare NUL": text('{"payload":"a\0b"}'),
  "a NUL after the end": text("{}\0"),
  "two values": text("{}{}"),
  "a form": text("payload=%7B%7D&a=1"),
  XML: text(
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'
  ),
  "a name twice": text('{"payload":{},"payload":{}}'),
  "a name twice, once escaped": text('{"payload":{},"p\\u0061yload":{}}'),
  "__proto__ twice": text('{"__proto__":{},"__proto__":{}}'),
  "33 levels": text(`${'{"a":'.repeat(33)}1${"}".repeat(33)}`),
  "a hundred thousand lists": text("[".repeat(100_000)),
  "a million closed lists": text(`${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}`),
  "a million open objects": text('{"a":'.repeat(1_000_000)),
  "a byte-order mark": Buffer.concat([bytes(0xef, 0xbb, 0xbf), text("{}")]),
  "UTF-16": Buffer.from("\ufeff{}", "utf16le"),
  "UTF-16, the other way round": utf16be("\ufeff{}"),
  "UTF-16 without a mark": Buffer.from("{}", "utf16le"),
  "Latin-1": inQuotes(0xe9),
  "an overlong NUL": inQuotes(0xc0, 0x80),
  "an overlong slash": inQuotes(0xe0, 0x80, 0xaf),
  "a surrogate in UTF-8": inQuotes(0xed, 0xa0, 0x80),
  "a character too high": inQuotes(0xf4, 0x90, 0x80, 0x80),
  "a byte that never is": inQuotes(0xff),
  "half a character": inQuotes(0xf0, 0x9f, 0x98),
  "half a character at the end": Buffer.concat([text('"'), bytes(0xe2, 0x82)]),
  "random bytes": bytes(...Array.from({ length: 256 }, (_, n) => n)),
  gzip: gzipSync(text("{}")),
  "a gzip bomb": gzipSync(Buffer.alloc(20_000_000, " ")),
  deflate: deflateRawSync(Buffer.alloc(1_000_000, " ")),
  PDF: text("%PDF-1.4\n%\u00e2\u00e3\u00cf\u00d3\n")
}

const requestOf = (asked: Operation, body: Uint8Array, more: Partial<Request> = {}): Request => ({
  ...post(asked.template, body, asked.id === "obtainServiceToken" ? "nobody" : "demo"),
  ...more
})

const plan = (asked: Operation, name: string, request: Request, expect: Expectation): Plan => ({
  operation: asked.id,
  kind: "bytes",
  name,
  steps: () => [{ request, expect }]
})

const framings: ReadonlyArray<Framing> = ["length", { chunk: 1_000 }, { chunk: 65_536 }]

const refused = (asked: Operation): fc.Arbitrary<Plan> =>
  fc
    .tuple(fc.constantFrom(...Object.entries(broken)), fc.constantFrom(...framings))
    .map(([[name, body], framing]) => {
      const request = requestOf(asked, body, { framing })
      return plan(asked, name, request, unlessTooLarge(request, noJson))
    })

const soundBytes = (asked: Operation): Buffer => text(JSON.stringify(soundBody(asked.id)))

const cut = (asked: Operation): fc.Arbitrary<Plan> => {
  const whole = soundBytes(asked)
  return fc
    .integer({ min: 0, max: whole.length - 1 })
    .map((length) => plan(asked, "cut", requestOf(asked, whole.subarray(0, length)), noJson))
}

type Alteration = readonly [at: number, removed: number, added: Uint8Array]

const altered = (asked: Operation): fc.Arbitrary<Plan> => {
  const whole = soundBytes(asked)
  const alteration: fc.Arbitrary<Alteration> = fc.tuple(
    fc.nat(whole.length),
    fc.nat(3),
    fc.uint8Array({ maxLength: 3 })
  )
  return fc.array(alteration, { minLength: 1, maxLength: 4 }).map((alterations) => {
    const body = alterations.reduce<Uint8Array>(
      (before, [at, removed, added]) =>
        Buffer.concat([before.subarray(0, at), added, before.subarray(at + removed)]),
      whole
    )
    return plan(asked, "bytes altered", requestOf(asked, body), anything)
  })
}

/** However it is parted, it is the same body. */
const parted = (asked: Operation): fc.Arbitrary<Plan> =>
  fc
    .integer({ min: 1, max: 5_000 })
    .map((chunk) =>
      plan(
        asked,
        "in chunks",
        requestOf(asked, soundBytes(asked), { framing: { chunk } }),
        answers(...soundAnswers)
      )
    )

const encodings: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gzipSync(body),
  "x-gzip": (body) => gzipSync(body),
  deflate: (body) => deflateRawSync(body),
  br: (body) => body,
  zstd: (body) => body,
  compress: (body) => body,
  "gzip, gzip": (body) => gzipSync(gzipSync(body)),
  "identity, gzip": (body) => gzipSync(body),
  bomb: () => gzipSync(Buffer.alloc(20_000_000, " "))
}

const encoded = (asked: Operation): fc.Arbitrary<Plan> =>
  fc.constantFrom(...Object.entries(encodings)).map(([name, encode]) => {
    const request = requestOf(asked, encode(soundBytes(asked)))
    const headers = [...request.headers, ["content-encoding", name] as const]
    return plan(
      asked,
      `announced as ${name}`,
      { ...request, headers },
      answers("415 unsupported_media_type")
    )
  })

/** Hostile bytes, in every request that takes a body. */
export const bytesPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = posts.flatMap((asked) => [
  { weight: 4, arbitrary: refused(asked) },
  { weight: 2, arbitrary: cut(asked) },
  { weight: 3, arbitrary: altered(asked) },
  { weight: 1, arbitrary: parted(asked) },
  { weight: 1, arbitrary: encoded(asked) }
])
