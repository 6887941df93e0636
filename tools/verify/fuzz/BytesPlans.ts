/**
 * Cases of bodies that may not be JSON: cut, altered, compressed, or in odd portions. The forms of
 * broken JSON are in the tests of the services.
 */
import { deflateRawSync, gzipSync } from "node:zlib"
import fc from "fast-check"
import type { Plan, Request } from "./Case.ts"
import type { Operation } from "./Document.ts"
import { answers, anything } from "./Expectation.ts"
import type { Expectation } from "./Case.ts"
import { bodied, validAnswers, validBody, withBody } from "./ValidRequests.ts"

const noJson = answers("400 parse_error")

const text = (source: string): Buffer => Buffer.from(source)

const requestOf = (asked: Operation, body: Uint8Array, more: Partial<Request> = {}): Request => ({
  ...withBody(asked, body),
  ...more
})

const plan = (asked: Operation, name: string, request: Request, expect: Expectation): Plan => ({
  operation: asked.id,
  kind: "bytes",
  name,
  steps: () => [{ request, expect }]
})

const validBytes = (asked: Operation): Buffer => text(JSON.stringify(validBody(asked.id)))

const cut = (asked: Operation): fc.Arbitrary<Plan> => {
  const whole = validBytes(asked)
  return fc
    .integer({ min: 0, max: whole.length - 1 })
    .map((length) => plan(asked, "cut", requestOf(asked, whole.subarray(0, length)), noJson))
}

type Alteration = readonly [at: number, removed: number, added: Uint8Array]

const altered = (asked: Operation): fc.Arbitrary<Plan> => {
  const whole = validBytes(asked)
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

/** The size of the chunks does not matter. */
const parted = (asked: Operation): fc.Arbitrary<Plan> =>
  fc
    .integer({ min: 1, max: 5_000 })
    .map((chunk) =>
      plan(
        asked,
        "in chunks",
        requestOf(asked, validBytes(asked), { framing: { chunk } }),
        answers(...validAnswers)
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
    const request = requestOf(asked, encode(validBytes(asked)))
    const headers = [...request.headers, ["content-encoding", name] as const]
    return plan(
      asked,
      `announced as ${name}`,
      { ...request, headers },
      answers("415 unsupported_media_type")
    )
  })

/** Hostile bytes, in every request that takes a body. */
export const bytesPlans: ReadonlyArray<fc.WeightedArbitrary<Plan>> = bodied.flatMap((asked) => [
  { weight: 2, arbitrary: cut(asked) },
  { weight: 3, arbitrary: altered(asked) },
  { weight: 1, arbitrary: parted(asked) },
  { weight: 1, arbitrary: encoded(asked) }
])
