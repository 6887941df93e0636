/**
 * Valid values of single fields, including odd ones; `arbitraries` is composed of them.
 */
import { DateTime } from "effect"
import fc from "fast-check"
import { dayOf } from "../src/schema/Field.ts"
import type { Wire } from "./wire.ts"

const storable = (characters: string): string => characters.toWellFormed().replaceAll("\0", "~")

/** One for each length, because fast-check prepares each for tens of milliseconds. */
const keeping = (make: (maxLength: number) => fc.Arbitrary<string>) => {
  const kept = new Map<number, fc.Arbitrary<string>>()
  return (length: number): fc.Arbitrary<string> => {
    const maxLength = Math.min(length, 24)
    const made = kept.get(maxLength) ?? make(maxLength)
    kept.set(maxLength, made)
    return made
  }
}

/** Code points of every plane. */
const unicode = keeping((maxLength) => fc.string({ unit: "binary", maxLength }).map(storable))

const character = fc.constantFrom(...Array.from("abc XYZ 019 .,-'éøß漢😀\u0301"))
const words = keeping((maxLength) => fc.string({ unit: character, maxLength }))

const oddities = [
  "__proto__",
  "constructor",
  "toString",
  "null",
  "0",
  "\ufeffx",
  "a\nb",
  "<b>",
  "%00"
]

/**
 * Text of up to `max` code points once it is trimmed, mostly short and sometimes at its limit.
 */
export const text = (max: number): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 6, arbitrary: words(max) },
    { weight: 3, arbitrary: unicode(max) },
    { weight: 1, arbitrary: fc.constantFrom(...oddities.filter(({ length }) => length <= max)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "x".repeat(max),
        "😀".repeat(max),
        ` ${"é".repeat(max)}\t`,
        "",
        "  "
      )
    }
  )

/** Text that is not blank. */
export const filled = (max: number): fc.Arbitrary<string> =>
  text(max).filter((characters) => characters.trim() !== "")

/** An object with all of the first fields, and any of the others. */
export const optionally = (
  always: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  sometimes: Readonly<Record<string, fc.Arbitrary<unknown>>>
): fc.Arbitrary<Wire> =>
  fc.record({ ...always, ...sometimes }, { requiredKeys: Object.keys(always) })

/** A day from `from` to `to` days after `now`. */
export const day = (now: DateTime.Utc, from: number, to: number): fc.Arbitrary<string> =>
  fc.integer({ min: from, max: to }).map((days) => dayOf(DateTime.add(now, { days })))

const segment = fc.stringMatching(/^[a-z0-9]([a-z0-9 ._é漢-]{0,12}[a-z0-9])?$/)

/** A clean relative path, with or without the optional slash in front. */
export const documentPath: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom("", "/"), fc.array(segment, { minLength: 1, maxLength: 4 }))
  .map(([slash, segments]) => `${slash}${segments.join("/")}`)

const key = fc.oneof(unicode(20), words(20), fc.constantFrom(...oddities))

const freeValue = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(null, true, false, "", 0, -1.5, 1e21, 123456789.012345),
    unicode(30),
    fc.array(tie("any"), { maxLength: 3 }),
    fc.dictionary(key, tie("any"), { maxKeys: 3 })
  )
}))

/** Free objects, and metadata with keys that differ. */
export const metadata = {
  value: fc.dictionary(key, freeValue.any, { maxKeys: 4 }),
  get list() {
    return fc.uniqueArray(fc.record({ key: filled(1_024), value: metadata.value }), {
      maxLength: 4,
      selector: (entry) => entry.key.trim()
    })
  }
}
