/**
 * Lines for comparing answers: valid accounts, accounts with one error, hostile values at every
 * path, and bytes that are not JSON. The same seed makes the same lines.
 */
import { mutant } from "@data-import/domain/testing/mutants"
import { accountPayload } from "@data-import/domain/testing/arbitraries"
import { put, type Wire, withSource } from "@data-import/domain/testing/wire"
import { sources } from "@data-import/verify/fuzz/HostileTexts"
import { pathsIn } from "@data-import/verify/fuzz/Schema"
import type { DateTime } from "effect"
import fc from "fast-check"

export interface LinesOf {
  readonly supplier: string
  /** As of when the valid accounts are valid. */
  readonly now: DateTime.Utc
}

/** Of these, each takes as long as hundreds of others. */
const longSource = 8_000

const isLong = ([, source]: readonly [string, string]): boolean => source.length > longSource

const hostile = Object.entries(sources)
const shortSources = hostile.filter((entry) => !isLong(entry)).map(([, source]) => source)
const longSources = hostile.filter(isLong).map(([, source]) => source)

const source = fc.oneof(
  { weight: 60, arbitrary: fc.constantFrom(...shortSources) },
  { weight: 20, arbitrary: fc.json({ stringUnit: "binary", maxDepth: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom(...longSources) }
)

const withHostileValue = (account: Wire): fc.Arbitrary<string> =>
  fc
    .tuple(fc.constantFrom(...pathsIn(account)), source)
    .map(([path, source]) => withSource(account, path, source))

/** Adds a field with an unknown name, or a name that every object inherits. */
const withUnknownField = (account: Wire): fc.Arbitrary<string> =>
  fc
    .tuple(fc.oneof(fc.constantFrom("__proto__", "toString", "given_nam", ""), fc.string()), source)
    .map(
      ([name, source]) =>
        `${JSON.stringify(account).slice(0, -1)},${JSON.stringify(name)}:${source}}`
    )

const ofAnotherSupplier = (account: Wire): fc.Arbitrary<string> =>
  fc
    .constantFrom<unknown>("ANOTHER", "", " ", null, 7, undefined, [], "x".repeat(33))
    .map((named) => JSON.stringify(put(account, "import_supplier", named)))

/** Something before, in or behind the account. */
const damaged = (account: Wire): fc.Arbitrary<Uint8Array> => {
  const bytes = Buffer.from(JSON.stringify(account))
  const inserted = fc.constantFrom("\uFEFF", "\r", " ", "\t", "{", "}", '"', "\\", "0", ",", "null")
  const raw = fc.constantFrom([0xff], [0xc3], [0xed, 0xa0, 0x80], [0x00], [0xef, 0xbb, 0xbf])
  const piece = fc.oneof(
    inserted.map((text) => Buffer.from(text)),
    raw.map((octets) => Buffer.from(octets))
  )
  const at = fc.oneof(fc.constantFrom(0, bytes.length), fc.nat(bytes.length))
  return fc.oneof(
    fc
      .tuple(at, piece)
      .map(([at, piece]) => Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])),
    fc.nat(bytes.length).map((end) => bytes.subarray(0, end)),
    fc
      .constantFrom("", "\r", "[]", "null", "7", '"text"', "{}", "\uFEFF")
      .map((text) => Buffer.from(text))
  )
}

/** A line without its end. It has no line feed, so that the lines can be counted. */
const lineOf = ({ now, supplier }: LinesOf): fc.Arbitrary<Uint8Array> =>
  accountPayload({ now, supplier }).chain((account) => {
    const text = (arbitrary: fc.Arbitrary<string>) => arbitrary.map((line) => Buffer.from(line))
    const { import_supplier: _, ...unnamed } = account
    return fc.oneof(
      { weight: 3, arbitrary: text(fc.constant(JSON.stringify(account))) },
      { weight: 1, arbitrary: text(fc.constant(JSON.stringify(unnamed))) },
      { weight: 6, arbitrary: text(mutant(account, now).map(({ body }) => JSON.stringify(body))) },
      { weight: 5, arbitrary: text(withHostileValue(account)) },
      { weight: 1, arbitrary: text(withUnknownField(account)) },
      { weight: 1, arbitrary: text(ofAnotherSupplier(account)) },
      { weight: 2, arbitrary: damaged(account) }
    )
  })

const lineFeed = Buffer.from("\n")

/** This many lines as one book. */
export const bookOf = (of: LinesOf, count: number, seed: number): Uint8Array<ArrayBuffer> => {
  const lines = fc.sample(
    lineOf(of).filter((line) => !line.includes(0x0a)),
    { numRuns: count, seed }
  )
  return Buffer.concat(lines.flatMap((line) => [line, lineFeed]))
}
